"""Options of the policies that select hosts."""

from __future__ import annotations

from oslo_config import cfg

OPTIONS: list[cfg.Opt] = [
    cfg.FloatOpt(
        "worst_fit_threshold",
        default=0.0,
        min=0.0,
        max=100.0,
        help="worst-fit: while at most this share of the site, in per cent, is allocated, the fullest hosts are filled "
        "first, so that others stay empty.",
    ),
    cfg.StrOpt(
        "worst_fit_classes",
        default="",
        help="worst-fit: resource classes by importance, separated by blanks. By default VCPU, MEMORY_MB and DISK_GB "
        "come first, then the other classes that a lease asks for.",
    ),
    cfg.FloatOpt(
        "energy_aware_threshold",
        default=50.0,
        min=0.0,
        max=100.0,
        help="energy-aware: hosts are emptied only while at most this share of the site, in per cent, is allocated.",
    ),
    cfg.BoolOpt(
        "energy_aware_consolidates",
        default=True,
        help="energy-aware: whether hosts are emptied, so that they can sleep. If not, only new nodes fill the fullest "
        "hosts in studies, and nothing moves in the service.",
    ),
]
