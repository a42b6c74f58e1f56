"""Group ``policy``: options of the policies in this package, and of policies from other packages."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.conf.policy import (
    admission,
    durations,
    fractional,
    penalties,
    placement,
    power,
    preemption,
    pricing,
    queueing,
)

GROUP = cfg.OptGroup("policy", title="Options of the policies")

OPTIONS: list[cfg.Opt] = [
    *admission.OPTIONS,
    *preemption.OPTIONS,
    *placement.OPTIONS,
    *queueing.OPTIONS,
    *pricing.OPTIONS,
    *durations.OPTIONS,
    *penalties.OPTIONS,
    *power.OPTIONS,
    *fractional.OPTIONS,
    cfg.DictOpt(
        "extra",
        default={},
        help="Options of policies from other packages, as name:value pairs separated by commas.",
    ),
]

# The engine recreates its policies when their options change, so every option may change at runtime.
for _option in OPTIONS:
    _option.mutable = True
