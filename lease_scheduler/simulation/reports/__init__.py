"""Reports of a run for people and scripts: CSV and JSON files, the summary table, Gantt charts and plots.

They are made from a ``RunResult`` and its metrics; this package measures nothing itself.
"""
