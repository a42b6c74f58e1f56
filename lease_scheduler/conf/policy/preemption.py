"""Options of the preemption policies, and of the time that preemption is estimated to take."""

from __future__ import annotations

from oslo_config import cfg

OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "preemption_safe_age",
        default=7 * 86_400,
        min=0,
        help="by-kind, ar-preempts-be, ar-preempts-everything: age in seconds from which a best-effort lease is no "
        "longer preempted.",
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
        choices=[("submission", "the time since the lease was submitted"), ("run", "the time that the lease has run")],
        help="by-kind, ar-preempts-be, ar-preempts-everything: how the age of a lease is measured.",
    ),
    cfg.StrOpt(
        "preemption_among",
        default="all",
        choices=[("all", "any request preempts any lease"), ("external", "local requests preempt leases of peers")],
        help="mov, mlip, moml, mov-ordered, mlip-ordered: whose leases may be preempted for whom, among the leases and "
        "requests that by-kind allows.",
    ),
    cfg.IntOpt(
        "preemption_set_limit",
        default=16,
        min=0,
        max=20,
        help="mov, mlip, moml: maximum number of leases of which all sets are compared. The time grows exponentially "
        "with it. Among more leases, greedy searches find the sets.",
    ),
    cfg.IntOpt(
        "preemption_random_orders",
        default=32,
        min=0,
        help="mov, mlip, moml: number of random orders in which greedy searches take more leases than "
        "preemption_set_limit.",
    ),
    cfg.FloatOpt(
        "overhead_suspend_rate",
        default=6.36,
        min=0.001,
        help="mov, moml, mov-ordered: MB/s at which the memory of a server is saved when its lease is preempted. This "
        "and the other overhead_* options are for comparing leases; [scheduling] has the rates that are planned with.",
    ),
    cfg.FloatOpt(
        "overhead_resume_rate",
        default=8.12,
        min=0.001,
        help="mov, moml, mov-ordered: MB/s at which saved memory is loaded.",
    ),
    cfg.FloatOpt(
        "overhead_copy_rate",
        default=6.392,
        min=0.001,
        help="mov, moml, mov-ordered: MB/s at which saved memory moves to another host.",
    ),
    cfg.FloatOpt(
        "overhead_pause_time",
        default=0.005,
        min=0.0,
        help="mov, moml, mov-ordered: seconds to pause or unpause a server.",
    ),
    cfg.FloatOpt(
        "overhead_reschedule_time",
        default=2.3,
        min=0.0,
        help="mov, moml, mov-ordered: seconds to plan a preempted lease again.",
    ),
]
