"""The application of Django."""

from __future__ import annotations

from django.apps import AppConfig


class LeaseCalendarConfig(AppConfig):
    """The application. Its default label would be ``horizon``, which Horizon itself has."""

    name = "lease_scheduler.horizon"
    label = "lease_calendar"
    verbose_name = "Lease Calendar"
