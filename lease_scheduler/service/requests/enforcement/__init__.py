"""Limits and filters that are asked before a lease is made or changed (Blazar's usage enforcement).

A filter is a class that ``base.UsageFilter`` describes; operators select filters by name, from entry points of the
namespace ``lease_scheduler.usage_filter``.
"""

from __future__ import annotations

from lease_scheduler.service.requests.enforcement.asking import Enforcement
from lease_scheduler.service.requests.enforcement.base import ChangeProposal, FilterOptions, Proposal, UsageFilter

__all__ = ["ChangeProposal", "Enforcement", "FilterOptions", "Proposal", "UsageFilter"]
