"""Campaigns: many independent runs, on all cores or on several machines, each done once.

``case`` defines a case, and ``runner`` runs cases. All state of a campaign is in its directory. Nothing here depends on
the experiment that the cases belong to.
"""
