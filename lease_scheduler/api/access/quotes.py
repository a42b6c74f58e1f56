"""Quotes."""

from lease_scheduler.api.access.base import MEMBER, rule

RULES = (rule("quotes:post", MEMBER, "Ask what a lease would come to.", "POST /v1/quotes"),)
