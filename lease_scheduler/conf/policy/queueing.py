"""Options of the queueing policies."""

from __future__ import annotations

from oslo_config import cfg

OPTIONS: list[cfg.Opt] = [
    cfg.IntOpt(
        "winks_window",
        default=0,
        min=0,
        help="winks: how many seconds ahead a lease of several nodes may get a place, and the length of the windows "
        "of which each flow has its share. With 0, a lease starts at once or waits without a place. Leases wait with a "
        "place only as far as [scheduling] backfilling lets them; conservative sets no limit.",
    ),
    cfg.StrOpt(
        "winks_limit",
        default="wide",
        choices=[
            ("wide", "a lease of several nodes must not exceed the share of its flow of a window"),
            ("none", "the windows are not limited; wide leases then displace the others"),
        ],
        help="winks: which leases may not exceed the share of their flow of a window.",
    ),
    cfg.StrOpt(
        "winks_debt",
        default="yes",
        choices=[
            ("yes", "a lease that costs more than the share of one window uses up that of the next ones too"),
            (
                "no",
                "such a lease waits for a larger share, and is refused if it can never have one: if it costs more than "
                "all of a window or, with winks_limit_when_idle = strict, more than the share of its flow",
            ),
        ],
        help="winks: whether a lease may cost more than the share of its flow of one window.",
    ),
    cfg.StrOpt(
        "winks_limit_when_idle",
        default="spare",
        choices=[
            (
                "spare",
                "projects that have leases divide each window, and a lease that exceeds its share may start where "
                "hosts would otherwise stay idle",
            ),
            (
                "strict",
                "the weights that are set divide each window, whether or not these projects have leases, and hosts may "
                "stay idle",
            ),
        ],
        help="winks: what becomes of the shares of a window that flows do not use.",
    ),
    cfg.IntOpt(
        "winks_preempt_after",
        default=0,
        min=0,
        help="winks: number of seconds for which a best-effort lease has to run before it may be suspended because its "
        "flow holds more than its share and another flow waits that holds less. With 0, none is suspended for that. "
        "Other values should be well above the time that suspending and resuming take.",
    ),
    cfg.FloatOpt(
        "winks_preempt_excess",
        default=0.25,
        min=0.0,
        help="winks: by which part of its share a flow must hold more than that before winks_preempt_after has an "
        "effect on its leases.",
    ),
    cfg.StrOpt(
        "winks_accounting",
        default="schedule",
        choices=[
            ("schedule", "a lease is charged when it gets its place"),
            ("dispatch", "a lease that is given a place ahead is charged when it starts"),
        ],
        help="winks: when flows are charged.",
    ),
    cfg.FloatOpt(
        "winks_overestimate_penalty",
        default=0.0,
        min=0.0,
        max=1.0,
        help="winks, budget: part of the time that a lease was to have and did not use which its flow pays for all the "
        "same, if its project ends or shortens it while it runs. With 0 the flow gets all of it back.",
    ),
    cfg.StrOpt(
        "winks_flows",
        default="project",
        choices=[
            ("project", "each project is a flow"),
            ("origin", "each peer is a flow, and all local leases are one"),
            ("both", "each project of each peer is a flow"),
            ("behalf", "each project for which a peer asks is a flow, and each project of this site"),
        ],
        help="winks, budget, priority: what a flow is.",
    ),
    cfg.FloatOpt(
        "winks_default_weight",
        default=1.0,
        min=0.000001,
        max=1000000,
        help="winks, budget, priority: weight of flows for which none is set.",
    ),
    cfg.FloatOpt(
        "budget_rate",
        default=1.0,
        min=0.0,
        help="budget: estimated price of a node-hour, for leases that have no price yet.",
    ),
]
