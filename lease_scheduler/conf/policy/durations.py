"""Options of the policies that estimate durations, and that promise lifetimes."""

from __future__ import annotations

from oslo_config import cfg

OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "duration_endless",
        default=86_400,
        min=1,
        deprecated_name="winks_estimate",
        help="winks, budget, pacp, racp, sesp, pemp: number of seconds for which a lease without an end counts. What "
        "it uses beyond that is charged when it ends.",
    ),
    cfg.IntOpt(
        "duration_longest",
        default=7 * 86_400,
        min=1,
        help="winks, budget, pacp, racp, sesp, pemp: most seconds for which any other lease counts, so that one of "
        "years does not outweigh all others. What it uses beyond that is charged when it ends.",
    ),
    cfg.IntOpt(
        "duration_recent",
        default=2,
        min=1,
        help="recent-of-user: how many of a project's last run times count.",
    ),
    cfg.FloatOpt(
        "duration_quantile",
        default=0.75,
        min=0.000001,
        max=0.999999,
        help="bmbp: share of a project's leases that are to end within the expected time.",
    ),
    cfg.FloatOpt(
        "duration_confidence",
        default=0.95,
        min=0.000001,
        max=0.999999,
        help="bmbp: probability that at least that share of them does.",
    ),
    cfg.IntOpt(
        "assurance_longest",
        default=7 * 86_400,
        min=1,
        help="planned, statistical, both: longest lifetime, in seconds, that a lease is promised. What rests on the "
        "plan keeps reservations out for so long.",
    ),
    cfg.FloatOpt(
        "assurance_confidence",
        default=0.95,
        min=0.000001,
        max=0.999999,
        help="statistical, both: confidence with which the past must show that a lifetime is reached with the "
        "probability that is asked for.",
    ),
    cfg.FloatOpt(
        "assurance_least",
        default=0.5,
        min=0.000001,
        max=0.999999,
        help="statistical, both: smallest probability that may be asked for. Leases with a promise are preempted after "
        "those without, so a promise of next to nothing would be worth a lot.",
    ),
]
