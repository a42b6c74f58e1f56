"""The options of the policy ``winks``."""

from __future__ import annotations

from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.queueing.winks.shares import Accounting, ShareLimit, WhenIdle, WinksOptions


def winks_options(options: PolicyOptions) -> WinksOptions:
    """Return how a site is shared.

    :raises InvalidValueError: an option has a wrong value
    """
    return WinksOptions(
        window=options.integer("winks_window", 0),
        limit=ShareLimit(options.choice("winks_limit", [each.value for each in ShareLimit], "wide")),
        debt=options.choice("winks_debt", ["yes", "no"], "yes") == "yes",
        accounting=Accounting(options.choice("winks_accounting", [each.value for each in Accounting], "schedule")),
        when_idle=WhenIdle(options.choice("winks_limit_when_idle", [each.value for each in WhenIdle], "spare")),
        overestimate_penalty=options.number("winks_overestimate_penalty", 0.0),
    )
