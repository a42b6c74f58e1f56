"""Availability."""

from lease_scheduler.api.access.base import READER, rule

RULES = (rule("availability:get", READER, "Ask when nodes are free.", "GET /v1/availability"),)
