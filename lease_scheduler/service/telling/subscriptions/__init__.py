"""Telling projects about their leases: subscriptions, and the drivers that send notifications to them.

Deliveries are written in the transaction of the change that they report, one for each subscription that wants it. The
engine that leads sends them from its own threads, in order for each subscription, until the receiver confirms.
"""
