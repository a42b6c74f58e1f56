"""Adds the calendar of leases to the dashboard of projects. Copy this file to openstack_dashboard/local/enabled."""

PANEL = "lease_calendar"
PANEL_DASHBOARD = "project"
PANEL_GROUP = "default"
ADD_PANEL = "lease_scheduler.horizon.panel.LeaseCalendar"
ADD_INSTALLED_APPS = ["lease_scheduler.horizon"]
