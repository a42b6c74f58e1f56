"""A panel of Horizon, OpenStack's dashboard, that shows the calendar page as the user of Horizon.

It runs in Horizon's process and environment. It imports nothing else of this project, and nothing else of this project
imports it, so the service needs neither Horizon nor Django, and Horizon needs nothing that the service needs.
"""
