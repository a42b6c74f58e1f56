"""Group ``policy``: options of the policies that come with the package, and of others."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("policy", title="Options of the policies")

OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "admission_minimum_notice",
        default=86_400,
        min=0,
        help="minimum-notice: seconds between the request of a reservation and its start.",
    ),
    cfg.IntOpt(
        "admission_maximum_duration",
        default=30 * 86_400,
        min=1,
        help="maximum-duration: seconds that a lease may last.",
    ),
    cfg.IntOpt("admission_maximum_nodes", default=1000, min=1, help="maximum-nodes: nodes that a lease may have."),
    cfg.IntOpt(
        "preemption_safe_age",
        default=7 * 86_400,
        min=0,
        help="by-kind, ar-preempts-be, ar-preempts-everything: age in seconds from which a best-effort lease is not "
        "preempted any more.",
    ),
    cfg.IntOpt(
        "preemption_age_scale",
        default=31 * 86_400,
        min=1,
        help="by-kind, ar-preempts-be, ar-preempts-everything: age in seconds at which a victim's score is 0.",
    ),
    cfg.StrOpt(
        "preemption_age_basis",
        default="submission",
        choices=[("submission", "the age since the lease was submitted"), ("run", "the time that it has run")],
        help="by-kind, ar-preempts-be, ar-preempts-everything: what makes a victim young.",
    ),
    cfg.DictOpt(
        "extra",
        default={},
        help="Options of policies from other packages, as name:value pairs parted by commas.",
    ),
]
