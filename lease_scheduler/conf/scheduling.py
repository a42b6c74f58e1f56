"""Group ``scheduling``: how leases are planned, and by which policies."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("scheduling", title="Planning of leases")

OPTIONS: list[cfg.Opt] = [
    cfg.StrOpt(
        "policy_admission",
        default="accept-all",
        mutable=True,
        help="Which requests are considered at all: the name of an entry point of the namespace "
        "lease_scheduler.policy.admission.",
    ),
    cfg.StrOpt(
        "policy_preemption",
        default="by-kind",
        mutable=True,
        help="Who may have to make room for whom: the name of an entry point of the namespace "
        "lease_scheduler.policy.preemption.",
    ),
    cfg.StrOpt(
        "policy_host_selection",
        default="greedy",
        mutable=True,
        help="In which order hosts are filled: the name of an entry point of the namespace "
        "lease_scheduler.policy.host_selection.",
    ),
    cfg.StrOpt(
        "policy_mapper",
        default="greedy",
        mutable=True,
        help="How the VMs of a lease are distributed over hosts: the name of an entry point of the namespace "
        "lease_scheduler.policy.mapper.",
    ),
    cfg.StrOpt(
        "policy_pricing",
        default="free",
        mutable=True,
        help="What leases cost: the name of an entry point of the namespace lease_scheduler.policy.pricing. With free "
        "they have no prices.",
    ),
    cfg.StrOpt(
        "policy_penalty",
        default="none",
        mutable=True,
        help="What the provider owes for terms that were not kept: the name of an entry point of the namespace "
        "lease_scheduler.policy.penalty.",
    ),
    cfg.FloatOpt(
        "refund_share",
        default=1.0,
        min=0.0,
        max=1.0,
        help="How much of the price of node-hours is given back when a lease is made smaller or shorter.",
    ),
    cfg.StrOpt(
        "mapper",
        default="deadline",
        choices=[
            ("greedy", "a deadline lease takes only what is free"),
            ("deadline", "a deadline lease may preempt others that still meet their deadlines"),
        ],
        help="How deadline leases with little slack are mapped to hosts.",
    ),
    cfg.StrOpt(
        "backfilling",
        default="aggressive",
        choices=[
            ("off", "the queue is served strictly in order"),
            ("aggressive", "the first lease that has to wait gets a fixed place, later ones may overtake it"),
            ("intermediate", "the first backfilling_reservations leases that have to wait get a fixed place"),
            ("conservative", "every lease that has to wait gets a fixed place"),
        ],
        help="Which queued best-effort leases later ones must not delay.",
    ),
    cfg.IntOpt(
        "backfilling_reservations",
        min=1,
        help="Number of queued leases with a fixed place; needed with backfilling = intermediate, refused without.",
    ),
    cfg.StrOpt(
        "suspension",
        default="all",
        choices=[
            ("none", "leases are never suspended; a preempted one starts over"),
            ("serial-only", "only leases of one node are suspended"),
            ("all", "every preemptible lease may be suspended"),
        ],
        help="Which leases are suspended when they have to make room.",
    ),
    cfg.StrOpt(
        "planned_suspension",
        choices=[
            ("none", "leases are suspended only when they are preempted"),
            ("serial-only", "only leases of one node are planned in parts"),
            ("all", "every lease that may be suspended may be planned in parts"),
        ],
        help="Which leases, of those that suspension allows, may use a gap that is too short for them and be suspended "
        "at its end. The same as suspension if it is not set.",
    ),
    cfg.FloatOpt("suspend_rate", default=50.0, min=0.001, help="MB that a host saves in a second."),
    cfg.FloatOpt("resume_rate", default=50.0, min=0.001, help="MB that a host loads in a second."),
    cfg.StrOpt(
        "shelved_size",
        default="memory",
        choices=[("memory", "as much as the VM has memory"), ("disk", "as much as its disk holds at most")],
        help="How much is copied of a VM that is shelved.",
    ),
    cfg.IntOpt(
        "stop_time",
        default=60,
        min=0,
        help="Seconds to stop one VM of a lease whose preemption mode is stop; Nova gives a guest 60 to end.",
    ),
    cfg.StrOpt(
        "suspend_resume_exclusion",
        default="local",
        choices=[
            ("local", "VMs of one host take turns, as with local disks"),
            ("global", "all VMs of a lease take turns, as with one shared file system"),
        ],
        help="Which VMs of a lease cannot be suspended or resumed at the same time.",
    ),
    cfg.FloatOpt(
        "shelve_rate",
        min=0.001,
        help="MB that are saved in a second of a VM that is shelved; suspend_rate if it is not set.",
    ),
    cfg.FloatOpt(
        "unshelve_rate",
        min=0.001,
        help="MB that are loaded in a second of a VM that is unshelved; resume_rate if it is not set.",
    ),
    cfg.StrOpt(
        "shelve_exclusion",
        choices=[
            ("local", "VMs of one host take turns"),
            ("global", "all VMs of a lease take turns, as if the image store is what is slow"),
        ],
        help="Which VMs of a lease cannot be shelved or unshelved at the same time; if it is not set, as "
        "suspend_resume_exclusion says.",
    ),
    cfg.StrOpt(
        "suspend_estimate",
        default="model",
        choices=[
            ("model", "the time model with as many VMs on a host as would fit there"),
            ("sum", "all VMs one after the other, whatever the exclusion; as Haizea did"),
        ],
        help="How long a suspension is thought to take before its hosts are known.",
    ),
    cfg.StrOpt(
        "operation_buffer",
        default="fixed",
        choices=[
            ("fixed", "suspend_buffer and shutdown_time, and what the cloud driver says of preparations"),
            ("observed", "more than that, if operations have really taken longer"),
        ],
        help="How much time the cloud's operations are left beyond what is computed for them. What they took is kept "
        "in the database.",
    ),
    cfg.FloatOpt(
        "operation_buffer_quantile",
        default=0.95,
        min=0.0,
        max=1.0,
        help="With operation_buffer = observed, the share of operations that are to be over in time, by the last 100 "
        "of their kind.",
    ),
    cfg.IntOpt(
        "suspend_buffer",
        default=0,
        min=0,
        help="Seconds by which a suspension is over before its hosts are needed.",
    ),
    cfg.IntOpt("override_suspend_time", min=0, help="Seconds to suspend one VM, in place of memory / suspend_rate."),
    cfg.IntOpt("override_resume_time", min=0, help="Seconds to resume one VM, in place of memory / resume_rate."),
    cfg.IntOpt("enactment_overhead", default=0, min=0, help="Seconds that each command to the cloud takes."),
    cfg.IntOpt("shutdown_time", default=0, min=0, help="Seconds reserved behind a run for its shutdown."),
    cfg.FloatOpt(
        "scheduling_threshold_factor",
        default=1.0,
        min=0.0,
        help="A run that will be cut by a suspension must last (1 + factor) times what suspending and resuming take.",
    ),
    cfg.IntOpt(
        "force_scheduling_threshold",
        min=0,
        help="Seconds that such a run must last, in place of the computed threshold.",
    ),
    cfg.StrOpt(
        "migration",
        default="yes",
        choices=[
            ("no", "a suspended lease resumes on the hosts that it was suspended on"),
            ("yes", "it may resume elsewhere after its memory was moved"),
            ("yes-notransfer", "it may resume anywhere at once, as with a shared store"),
        ],
        help="Whether leases that were suspended may change hosts. Nova moves no suspended server. What was shelved "
        "may always, and what was stopped never.",
    ),
    cfg.FloatOpt(
        "migration_bandwidth", default=1000.0, min=0.001, help="Mb/s at which saved memory moves between hosts."
    ),
    cfg.StrOpt(
        "preempt_at",
        default="start",
        choices=[
            ("start", "when the reservation that needs its hosts starts"),
            ("request", "as soon as that reservation is granted, as Haizea did"),
        ],
        help="When a running lease that cannot be suspended is stopped to make room.",
    ),
    cfg.StrOpt(
        "room_lead",
        choices=[
            ("strict", "the start waits until they are suspended, and the requester is told when it is"),
            ("charge", "they are suspended in no time, and have to run for as many seconds longer; for simulations"),
            ("lose", "they start over, as in Haizea"),
        ],
        help="What happens to running leases that a reservation or deadline lease preempts at such short notice that "
        "there is no time to suspend them, although they can be suspended. If it is not set, strict in the service and "
        "lose in simulations.",
    ),
    cfg.IntOpt(
        "preemption_grace",
        default=0,
        min=0,
        help="Seconds that a running lease is left at least from when it is preempted until its servers are put away "
        "or lost. Who needs its hosts earlier does not get them.",
    ),
    cfg.FloatOpt(
        "slack_threshold",
        default=2.0,
        min=1.0,
        help="Deadline leases whose (deadline - start) / duration is at most this are tried at their start first, "
        "preempting others.",
    ),
    cfg.BoolOpt(
        "least_slack_first",
        default=True,
        help="Plan all planned deadline leases again, least slack first, if a new one finds no place otherwise.",
    ),
]
