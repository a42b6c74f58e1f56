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
    cfg.FloatOpt(
        "pricing_rate",
        default=1.0,
        min=0.0,
        help="constant: money per node and hour. adaptive: the rate to begin with. maximum: the rate of users of whom "
        "no own one is known.",
    ),
    cfg.FloatOpt("pricing_min_rate", default=0.1, min=0.0, help="random: lowest rate."),
    cfg.FloatOpt("pricing_max_rate", default=10.0, min=0.0, help="random: highest rate."),
    cfg.IntOpt("pricing_seed", default=0, min=0, help="random: what its draws depend on."),
    cfg.FloatOpt(
        "pricing_up",
        default=1.5,
        min=0.0,
        help="adaptive: users who have turned no rate down are thought to pay this times the highest that they took.",
    ),
    cfg.FloatOpt(
        "pricing_down",
        default=0.5,
        min=0.0,
        help="adaptive: users who have taken no rate are thought to pay this times the lowest that they turned down.",
    ),
    cfg.FloatOpt(
        "pricing_percentile",
        default=0.5,
        min=0.0,
        max=0.999999,
        help="adaptive: share of the users who are thought to pay less than the rate.",
    ),
    cfg.FloatOpt(
        "pricing_resolution",
        default=0.001,
        min=0.0,
        help="adaptive: users whose highest rate taken and lowest rate turned down are closer than this share of the "
        "rate are thought to pay the former. With 0, the algorithm as it was published, many users who would all pay "
        "the same may keep being asked for a hair more.",
    ),
    cfg.FloatOpt(
        "pricing_surcharge",
        default=0.0,
        min=0.0,
        help="How often a lease is charged for the node-hours in which others are suspended and resumed for it; 0 for "
        "not at all, 1 as in Haizea.",
    ),
    cfg.FloatOpt(
        "penalty_rate", default=1.0, min=0.0, help="proportional: money per node and hour that was not delivered."
    ),
    cfg.StrOpt(
        "penalty_tiers",
        default="60:0.1,600:0.3,3600:1",
        help="tiered: steps as seconds:share parted by commas. A breach that lasts for so many seconds costs that "
        "share of the price.",
    ),
    cfg.DictOpt(
        "extra",
        default={},
        help="Options of policies from other packages, as name:value pairs parted by commas.",
    ),
]

# Policies are made anew when they change, so each of them may change while the service runs.
for _option in OPTIONS:
    _option.mutable = True
