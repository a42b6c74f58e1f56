"""Capacity: how many hosts the site needs."""

from lease_scheduler.api.access.base import ADMIN, rule

RULES = (rule("capacity:get", ADMIN, "Show how many hosts can go, or are missing.", "GET /v1/capacity"),)
