"""Options of the penalty policies."""

from __future__ import annotations

from oslo_config import cfg

OPTIONS: list[cfg.Opt] = [
    cfg.FloatOpt(
        "penalty_rate", default=1.0, min=0.0, help="proportional: penalty per node and hour that was not delivered."
    ),
    cfg.StrOpt(
        "penalty_tiers",
        default="60:0.1,600:0.3,3600:1",
        help="tiered: steps as seconds:share, separated by commas. A breach costs the share of the last step whose "
        "duration it has reached.",
    ),
]
