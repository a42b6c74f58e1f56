"""Options of the pricing policies."""

from __future__ import annotations

from oslo_config import cfg

_KINDS = ("immediate", "best_effort", "reservation", "deadline")
_MODES = ("shelve", "suspend", "stop", "delete", "migrate")

OPTIONS: list[cfg.Opt] = [
    cfg.FloatOpt(
        "pricing_rate",
        default=1.0,
        min=0.0,
        help="constant: the rate, in money per node and hour. adaptive: the initial rate. maximum: the rate for users "
        "whose own rate is not known.",
    ),
    cfg.FloatOpt("pricing_min_rate", default=0.1, min=0.0, help="random: lowest rate."),
    cfg.FloatOpt("pricing_max_rate", default=10.0, min=0.0, help="random: highest rate."),
    cfg.IntOpt("pricing_seed", default=0, min=0, help="random: seed of the random numbers."),
    cfg.FloatOpt(
        "pricing_up",
        default=1.5,
        min=0.0,
        help="adaptive: factor for users who have not rejected any rate. They are expected to pay this times the "
        "highest rate that they accepted.",
    ),
    cfg.FloatOpt(
        "pricing_down",
        default=0.5,
        min=0.0,
        help="adaptive: factor for users who have not accepted any rate. They are expected to pay this times the "
        "lowest rate that they rejected.",
    ),
    cfg.FloatOpt(
        "pricing_percentile",
        default=0.5,
        min=0.0,
        max=0.999999,
        help="adaptive: share of the users who are expected to pay less than the rate.",
    ),
    cfg.FloatOpt(
        "pricing_resolution",
        default=0.001,
        min=0.0,
        help="adaptive: the highest accepted and the lowest rejected rate of a user bracket what the user would pay. "
        "Once they are closer than this share of the rate, the user is expected to pay the former. With 0, which is "
        "the algorithm as published (Sotomayor 2010, algorithm 7), users who would all pay the same may be asked "
        "again and again for a tiny amount more.",
    ),
    cfg.FloatOpt(
        "pricing_surcharge",
        default=0.0,
        min=0.0,
        help="Factor by which a lease is charged for the node-hours in which other leases are suspended and resumed "
        "for it; 0 for no surcharge, 1 as in Haizea.",
    ),
    *(
        cfg.FloatOpt(
            f"pricing_factor_{kind}",
            default=1.0,
            min=0.0,
            help=f"Factor of the rate for leases of the kind {kind.replace('_', '-')}; more than 0.",
        )
        for kind in _KINDS
    ),
    *(
        cfg.FloatOpt(
            f"pricing_factor_{mode}",
            default=1.0,
            min=0.0,
            help=f"Factor of the rate for leases that may be preempted, with the preemption mode {mode}; more than 0. "
            "It multiplies the factor of the kind. Below 1, leases that give way to others are cheaper.",
        )
        for mode in _MODES
    ),
]
