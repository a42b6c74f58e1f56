"""What people and scripts see of a run: CSV and JSON files, the summary table, pictures and plots.

Everything is made from a ``RunResult`` and its metrics; nothing here measures anything itself.
"""
