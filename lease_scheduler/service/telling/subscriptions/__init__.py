"""Subscriptions of projects to notifications about their leases, and the drivers that send these.

Deliveries are written in the transaction of the change that they report, one for each subscription that wants it. The
engine that leads sends them from separate threads, in order for each subscription, until the receiver confirms.
"""
