"""Pools of hosts."""

from lease_scheduler.api.access.base import READER, rule

RULES = (rule("pools:get", READER, "List the pools that the project may use.", "GET /v1/pools"),)
