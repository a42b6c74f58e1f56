"""Experiments of publications, one folder for each: what is run, what came out there, and what has to come out here.

``registry`` lists the papers. Each folder has modules for its families of runs and for the checks of their figures.
What papers share is beside them: ``paper``, ``checks``, ``extent`` and ``report``.
"""
