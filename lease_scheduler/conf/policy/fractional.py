"""Options of the fractional policies."""

from __future__ import annotations

from oslo_config import cfg

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "fractional_algorithm",
        default="GreedyPM*/per/OPT=MIN/MVT=600",
        help="dfrs: on-line algorithm that decides where fluid leases run, by its name in Stillwell 2010, section "
        "5.2.4. Those with OPT=MAX or /stretch-per are for simulations only.",
    ),
    cfg.IntOpt(
        "fractional_period",
        default=600,
        min=1,
        help="dfrs: seconds from one time at which all fluid leases are mapped anew to the next, for algorithms with "
        "/per.",
    ),
]
