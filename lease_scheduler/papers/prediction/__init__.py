"""Experiments of Pucher 2016 on one site, and what its predictors do for the planner."""
