"""Campaigns: many independent runs, over all cores or several machines, each run once.

``runner`` runs cases and ``case`` says what one is. What is known of a campaign lives in its directory and nowhere
else; nothing here knows which experiment the cases belong to.
"""
