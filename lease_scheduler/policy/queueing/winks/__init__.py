"""Winks: fair shares over a calendar (Grit 2007, chapter 5)."""
