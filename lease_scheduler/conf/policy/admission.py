"""Options of the admission policies."""

from __future__ import annotations

from oslo_config import cfg

OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "admission_minimum_notice",
        default=86_400,
        min=0,
        help="minimum-notice: minimum number of seconds between the request of a reservation and its start.",
    ),
    cfg.IntOpt(
        "admission_maximum_duration",
        default=30 * 86_400,
        min=1,
        help="maximum-duration: maximum duration of a lease in seconds.",
    ),
    cfg.IntOpt(
        "admission_maximum_nodes", default=1000, min=1, help="maximum-nodes: maximum number of nodes of a lease."
    ),
    cfg.FloatOpt(
        "admission_threshold",
        default=0.0,
        min=0.0,
        help="pacp: seconds from the request of a peer to the end of its lease that are acceptable on average. With 0 "
        "they follow from the mean work of these requests and the admission_*_urgency_* options.",
    ),
    cfg.FloatOpt(
        "admission_low_urgency_share",
        default=0.5,
        min=0.0,
        max=1.0,
        help="pacp: share of the requests of peers that are not urgent.",
    ),
    cfg.FloatOpt(
        "admission_low_urgency_ratio",
        default=4.0,
        min=0.0,
        help="pacp: how many times as long as its work a request that is not urgent may take.",
    ),
    cfg.FloatOpt(
        "admission_high_urgency_ratio",
        default=2.0,
        min=0.0,
        help="pacp: how many times as long as its work an urgent request may take.",
    ),
    cfg.IntOpt(
        "admission_least_places",
        default=1,
        min=1,
        help="pacp: number of leases of peers that may wait even if that takes longer than the threshold. While local "
        "requests take all of the site, none may.",
    ),
    cfg.IntOpt(
        "admission_window",
        default=200,
        min=1,
        help="pacp, racp: number of latest requests from which the load of the site is estimated.",
    ),
]
