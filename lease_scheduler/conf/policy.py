"""Group ``policy``: options of the policies in this package, and of policies from other packages."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("policy", title="Options of the policies")

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
    cfg.StrOpt(
        "winks_flows",
        default="project",
        choices=[
            ("project", "each project is a flow"),
            ("origin", "each peer is a flow, and all local leases are one"),
            ("both", "each project of each peer is a flow"),
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
    cfg.FloatOpt(
        "penalty_rate", default=1.0, min=0.0, help="proportional: penalty per node and hour that was not delivered."
    ),
    cfg.StrOpt(
        "penalty_tiers",
        default="60:0.1,600:0.3,3600:1",
        help="tiered: steps as seconds:share, separated by commas. A breach costs the share of the last step whose "
        "duration it has reached.",
    ),
    cfg.FloatOpt(
        "power_waiting_factor",
        default=5.0,
        min=0.0,
        help="sesp, pemp: longest acceptable waiting time of best-effort leases, as a multiple of their mean duration; "
        "more than 0.",
    ),
    cfg.FloatOpt(
        "power_quantile",
        default=0.95,
        min=0.000001,
        max=0.999999,
        help="predictive: share of the bursts of requests that are to find enough hosts awake, and of the wake times "
        "for which hosts are woken early enough.",
    ),
    cfg.IntOpt(
        "power_epoch",
        default=1_000,
        min=1,
        help="predictive: length of an epoch in seconds. What is requested in one is a burst.",
    ),
    cfg.IntOpt(
        "power_least_epochs",
        default=60,
        min=1,
        max=1_000,
        help="predictive: epochs that must have passed before any host sleeps.",
    ),
    cfg.StrOpt(
        "power_risk_peaks",
        default="0.25,0.5,0.75,1",
        help="pemp: peaks of the 4 fuzzy sets of the waiting time over the longest acceptable one: ascending numbers "
        "of at least 0.",
    ),
    cfg.StrOpt(
        "power_load_peaks",
        default="0,0.25,0.5,0.75,1",
        help="pemp: peaks of the 5 fuzzy sets of the load of the hosts that are awake: ascending numbers from 0 to 1.",
    ),
    cfg.StrOpt(
        "power_centres",
        default="0,0.25,0.5,0.75,1,1.25,1.5,2",
        help="pemp: centres of the 8 outputs: ascending numbers of at least -1. Up to 1, the share of the missing "
        "hosts that is gained by preemption; above 1, hosts are emptied.",
    ),
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
    cfg.DictOpt(
        "extra",
        default={},
        help="Options of policies from other packages, as name:value pairs separated by commas.",
    ),
]

# The engine makes its policies again when their options change, so each option may change at runtime.
for _option in OPTIONS:
    _option.mutable = True
