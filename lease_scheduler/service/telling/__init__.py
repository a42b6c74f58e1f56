"""Notifications: what they contain, and how they reach the message bus and subscribers."""
