"""Experiments of publications, one folder for each: the runs, the published figures, and the bands for ours.

``registry`` lists the papers. Each folder has modules for its families of runs and for the checks of their figures. The
modules that papers share are beside the folders: ``paper``, ``checks``, ``extent`` and ``report``.
"""
