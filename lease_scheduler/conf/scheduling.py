"""Group ``scheduling``: how leases are planned, and by which policies."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.policy.policy_set import FAMILIES

GROUP = cfg.OptGroup("scheduling", title="Planning of leases")

OPTIONS: list[cfg.Opt] = [
    *(
        cfg.StrOpt(
            family.option,
            default=family.default,
            mutable=True,
            help=f"{family.name.replace('_', ' ').capitalize()} policy: decides {family.decides}. Name of an entry "
            f"point in the namespace {family.namespace}.{' ' * bool(family.note)}{family.note}",
        )
        for family in FAMILIES.values()
    ),
    cfg.DictOpt(
        "flow_weights",
        default={},
        mutable=True,
        help="Weights of flows, such as 8ab4...:50,c1f2...:30, for the queueing policies winks, budget and priority. A "
        "weight that an administrator sets with PUT /v1/flows goes before it.",
    ),
    cfg.StrOpt(
        "flow_donor_property",
        default="",
        mutable=True,
        help="Property of hosts whose value is the id of the project that donated the host. A project for which no "
        "weight is set has the number of hosts that it donated as its weight.",
    ),
    cfg.IntOpt(
        "relocation_interval",
        default=3600,
        min=1,
        help="Seconds from one decision of the relocation policy to the next.",
    ),
    cfg.IntOpt(
        "relocation_budget",
        default=10,
        min=1,
        help="Largest number of servers that one decision of the relocation policy moves.",
    ),
    cfg.IntOpt(
        "relocation_rest",
        default=14_400,
        min=1,
        help="Seconds for which a lease runs undisturbed after its start, or after it has moved, before the relocation "
        "policy moves it. A lease that has less left to run is not moved either.",
    ),
    cfg.FloatOpt(
        "refund_share",
        default=1.0,
        min=0.0,
        max=1.0,
        help="Share of the price that is refunded for node-hours that a lease gives up when it is made smaller or "
        "shorter.",
    ),
    cfg.StrOpt(
        "deadline_placement",
        deprecated_name="mapper",
        default="deadline",
        choices=[
            ("greedy", "a deadline lease takes only free capacity"),
            ("deadline", "a deadline lease may also preempt leases that still meet their own deadlines"),
        ],
        help="Whether a deadline lease may preempt others when it is placed.",
    ),
    cfg.StrOpt(
        "backfilling",
        default="aggressive",
        choices=[
            ("off", "the queue is served strictly in order"),
            ("aggressive", "the first lease that has to wait gets a fixed place; later leases may overtake it"),
            ("intermediate", "the first backfilling_reservations leases that have to wait get a fixed place"),
            ("conservative", "every lease that has to wait gets a fixed place"),
        ],
        help="How many queued best-effort leases keep a fixed place that later leases must not delay.",
    ),
    cfg.IntOpt(
        "backfilling_reservations",
        min=1,
        help="Number of queued leases with a fixed place. Required with backfilling = intermediate, and not allowed "
        "otherwise.",
    ),
    cfg.StrOpt(
        "suspension",
        default="all",
        choices=[
            ("none", "leases are never suspended; a preempted lease starts over"),
            ("serial-only", "only leases of one node are suspended"),
            ("all", "every preemptible lease may be suspended"),
        ],
        help="Which leases are suspended when they are preempted.",
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
    cfg.FloatOpt("suspend_rate", default=50.0, min=0.001, help="Rate at which a host saves memory, in MB per second."),
    cfg.FloatOpt(
        "resume_rate", default=50.0, min=0.001, help="Rate at which a host loads saved memory, in MB per second."
    ),
    cfg.StrOpt(
        "shelved_size",
        default="memory",
        choices=[("memory", "the memory size of the VM"), ("disk", "the disk size of the VM")],
        help="How much data is copied when a VM is shelved.",
    ),
    cfg.IntOpt(
        "stop_time",
        default=60,
        min=0,
        help="Time to stop one VM of a lease whose preemption mode is stop, in seconds. Nova gives a guest 60 seconds "
        "to shut down.",
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
        help="Rate at which the data of a VM is saved when it is shelved, in MB per second. Defaults to suspend_rate.",
    ),
    cfg.FloatOpt(
        "unshelve_rate",
        min=0.001,
        help="Rate at which the data of a VM is loaded when it is unshelved, in MB per second. Defaults to "
        "resume_rate.",
    ),
    cfg.StrOpt(
        "shelve_exclusion",
        choices=[
            ("local", "VMs of one host take turns"),
            ("global", "all VMs of a lease take turns, as if the image store limits the rate"),
        ],
        help="Which VMs of a lease cannot be shelved or unshelved at the same time. Defaults to "
        "suspend_resume_exclusion.",
    ),
    cfg.StrOpt(
        "suspend_estimate",
        default="model",
        choices=[
            ("model", "by the time model, with as many VMs on a host as would fit there"),
            ("sum", "as the sum over all VMs, regardless of the exclusion, as in Haizea"),
        ],
        help="How the duration of a suspension is estimated before its hosts are known.",
    ),
    cfg.StrOpt(
        "operation_buffer",
        default="fixed",
        choices=[
            ("fixed", "suspend_buffer, shutdown_time and the preparation time of the cloud driver"),
            ("observed", "more than that, if operations took longer in the past"),
        ],
        help="How much time operations of the cloud are given beyond their computed duration. Observed durations are "
        "kept in the database.",
    ),
    cfg.FloatOpt(
        "operation_buffer_quantile",
        default=0.95,
        min=0.0,
        max=1.0,
        help="With operation_buffer = observed: share of operations that must finish in time, judged by the last 100 "
        "operations of the same kind.",
    ),
    cfg.IntOpt(
        "suspend_buffer",
        default=0,
        min=0,
        help="Seconds between the planned end of a suspension and the time when its hosts are needed.",
    ),
    cfg.IntOpt("override_suspend_time", min=0, help="Seconds to suspend one VM, instead of memory / suspend_rate."),
    cfg.IntOpt("override_resume_time", min=0, help="Seconds to resume one VM, instead of memory / resume_rate."),
    cfg.IntOpt("enactment_overhead", default=0, min=0, help="Seconds that each command to the cloud takes."),
    cfg.IntOpt("shutdown_time", default=0, min=0, help="Seconds reserved after a run for its shutdown."),
    cfg.FloatOpt(
        "scheduling_threshold_factor",
        default=1.0,
        min=0.0,
        help="Minimum length of a run that will be cut short by a suspension: (1 + factor) times the duration of "
        "suspending and resuming.",
    ),
    cfg.IntOpt(
        "force_scheduling_threshold",
        min=0,
        help="Minimum length of such a run in seconds, instead of the computed one.",
    ),
    cfg.StrOpt(
        "migration",
        default="yes",
        choices=[
            ("no", "a suspended lease resumes on the hosts on which it was suspended"),
            ("yes", "a suspended lease may resume elsewhere after its memory has been moved"),
            ("yes-notransfer", "a suspended lease may resume anywhere at once, as with shared storage"),
        ],
        help="Whether suspended leases may resume on other hosts. Nova does not move suspended servers. A shelved "
        "lease may always resume elsewhere, a stopped lease never.",
    ),
    cfg.FloatOpt(
        "migration_bandwidth",
        default=1000.0,
        min=0.001,
        help="Bandwidth at which saved memory moves between hosts, in Mb/s.",
    ),
    cfg.StrOpt(
        "preempt_at",
        default="start",
        choices=[
            ("start", "when the reservation that needs its hosts starts"),
            ("request", "as soon as that reservation is granted, as in Haizea"),
        ],
        help="When a running lease that cannot be suspended is stopped because it is preempted.",
    ),
    cfg.StrOpt(
        "room_lead",
        choices=[
            ("strict", "the start waits until they are suspended; the answer to the request has the later start"),
            (
                "charge",
                "they are suspended instantly, and run longer by the time that suspending takes; for simulations only",
            ),
            ("lose", "the preempted leases start over, as in Haizea"),
        ],
        help="What happens if a reservation or deadline lease preempts running leases at such short notice that there "
        "is no time to suspend them. Defaults to strict in the service, and to lose in simulations.",
    ),
    cfg.IntOpt(
        "preemption_grace",
        default=0,
        min=0,
        help="Minimum number of seconds between the time when a running lease is preempted and the time when its "
        "servers are put away or lost. A request that needs the hosts earlier does not get them.",
    ),
    cfg.FloatOpt(
        "slack_threshold",
        default=2.0,
        min=1.0,
        help="A deadline lease with little slack is tried at its earliest start first, where it may preempt others. "
        "Slack is little if (deadline - start) / duration is at most this value.",
    ),
    cfg.BoolOpt(
        "least_slack_first",
        default=True,
        help="If a new deadline lease does not fit otherwise, plan all planned deadline leases again, those with "
        "least slack first.",
    ),
]
