"""The addresses of the panel, below ``/project/lease_calendar/``."""

from __future__ import annotations

from django.urls import path

from lease_scheduler.horizon import views

urlpatterns = [
    path("", views.IndexView.as_view(), name="index"),
    path("session/", views.SessionView.as_view(), name="session"),
]
