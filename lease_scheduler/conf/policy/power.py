"""Options of the power policies."""

from __future__ import annotations

from oslo_config import cfg

OPTIONS: list[cfg.Opt] = [
    cfg.FloatOpt(
        "power_waiting_factor",
        default=5.0,
        min=0.0,
        help="sesp, pemp: longest acceptable waiting time of best-effort leases, as a multiple of their mean duration; "
        "more than 0.",
    ),
    cfg.FloatOpt(
        "power_quantile",
        default=0.95,
        min=0.000001,
        max=0.999999,
        help="predictive: share of the bursts of requests that are to find enough hosts awake, and of the wake times "
        "for which hosts are woken early enough.",
    ),
    cfg.IntOpt(
        "power_epoch",
        default=1_000,
        min=1,
        help="predictive: length of an epoch in seconds. What is requested in one is a burst.",
    ),
    cfg.IntOpt(
        "power_least_epochs",
        default=60,
        min=1,
        max=1_000,
        help="predictive: epochs that must have passed before any host sleeps.",
    ),
    cfg.StrOpt(
        "power_risk_peaks",
        default="0.25,0.5,0.75,1",
        help="pemp: peaks of the 4 fuzzy sets of the waiting time over the longest acceptable one: ascending numbers "
        "of at least 0.",
    ),
    cfg.StrOpt(
        "power_load_peaks",
        default="0,0.25,0.5,0.75,1",
        help="pemp: peaks of the 5 fuzzy sets of the load of the hosts that are awake: ascending numbers from 0 to 1.",
    ),
    cfg.StrOpt(
        "power_centres",
        default="0,0.25,0.5,0.75,1,1.25,1.5,2",
        help="pemp: centres of the 8 outputs: ascending numbers of at least -1. Up to 1, the share of the missing "
        "hosts that is gained by preemption; above 1, hosts are emptied.",
    ),
]
