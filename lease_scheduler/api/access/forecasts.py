"""Forecasts: how well they held."""

from lease_scheduler.api.access.base import ADMIN, rule

RULES = (rule("forecasts:get", ADMIN, "Show how well forecasts held.", "GET /v1/forecasts"),)
