"""What an operator sets about planning, as plain values (the options themselves are in ``conf``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Suspension(Enum):
    """Which leases may be suspended (haizea F51)."""

    NONE = "none"
    SERIAL_ONLY = "serial-only"
    ALL = "all"


class Exclusion(Enum):
    """Which suspensions and resumptions cannot happen at the same time (haizea F69, F70)."""

    LOCAL = "local"
    GLOBAL = "global"


class Estimate(Enum):
    """How long a suspension is thought to take before its hosts are known.

    ``MODEL`` is equation 7.2 of Sotomayor 2010; ``SUM`` adds up all VMs even where they would be saved side by side, as
    the author's programs of 2010 did.
    """

    MODEL = "model"
    SUM = "sum"


class ShelvedSize(Enum):
    """What a server that is shelved is thought to have to copy."""

    MEMORY = "memory"
    DISK = "disk"


class Migration(Enum):
    """Whether a suspended lease may resume on other hosts (haizea F54)."""

    NO = "no"
    YES = "yes"
    YES_NO_TRANSFER = "yes-notransfer"


class PreemptAt(Enum):
    """When a running lease that cannot be suspended loses its hosts: as soon as a reservation is granted, or when
    that reservation starts.
    """

    REQUEST = "request"
    START = "start"


class RoomLead(Enum):
    """What a start at short notice means for victims that could be suspended if there were time.

    ``STRICT`` lets the start wait for their suspension. ``CHARGE`` saves them in no time, and the seconds that this
    would have taken count as work that they have to do once more. ``LOSE`` has them start over, as Haizea did.
    """

    STRICT = "strict"
    CHARGE = "charge"
    LOSE = "lose"


@dataclass(frozen=True)
class PlanningOptions:
    """Options of the planner.

    :ivar backfilling_limit: best-effort leases that may hold a future place while others overtake them: 0 is no
        backfilling, 1 aggressive, n intermediate, none conservative (haizea F47)
    :ivar suspension: which leases may be suspended
    :ivar planned_suspension: which of them may be planned in parts, so that a gap that is too short for a whole lease
        is used and the lease is suspended at its end. None is the same as ``suspension``; with ``NONE`` leases are
        suspended only when they are preempted
    :ivar suspend_rate: MB/s at which memory is saved
    :ivar resume_rate: MB/s at which memory is loaded
    :ivar exclusion: which VMs of a lease are saved one after the other
    :ivar shelve_rate: MB/s at which a VM that leaves its host is saved; none for ``suspend_rate``
    :ivar unshelve_rate: MB/s at which it is loaded; none for ``resume_rate``
    :ivar shelve_exclusion: which VMs of a lease leave their hosts one after the other; none for ``exclusion``
    :ivar override_suspend_time: seconds per VM in place of memory / rate; none to compute it
    :ivar override_resume_time: the same for resuming
    :ivar stop_time: seconds to stop one VM of a lease that is stopped when it has to make room
    :ivar shelved_size: whether a shelved VM's disk or, as in Haizea, its memory is what has to be copied
    :ivar suspend_estimate: how long a suspension is thought to take before its hosts are known
    :ivar suspend_buffer: seconds by which a suspension finishes ahead of the reservation that it makes room for
    :ivar resume_buffer: seconds by which a resumption may take longer than computed
    :ivar enactment_overhead: seconds that each command to the cloud takes
    :ivar shutdown_time: seconds reserved after a run
    :ivar scheduling_threshold_factor: a run that will be suspended must last (1 + factor) times its suspension and
        resumption (haizea F55)
    :ivar force_scheduling_threshold: seconds in place of the computed threshold; none to compute it
    :ivar migration: whether memory that was saved by suspending may move
    :ivar migration_bandwidth: Mb/s between hosts
    :ivar migrate_disks: whether the disk images of suspended VMs move with their memory
    :ivar preempt_at: when a lease that cannot be suspended is stopped
    :ivar room_lead: what becomes of victims that could be suspended if there were time
    :ivar preemption_grace: seconds that a running lease is left at least when it is preempted
    :ivar slack_threshold: deadline leases with at most this slack are tried at their start first (haizea F56)
    :ivar least_slack_first: whether all planned deadline leases are planned again if a new one finds no place
        (haizea F58)
    """

    backfilling_limit: int | None = 1
    suspension: Suspension = Suspension.ALL
    planned_suspension: Suspension | None = None
    suspend_rate: float = 50.0
    resume_rate: float = 50.0
    exclusion: Exclusion = Exclusion.LOCAL
    shelve_rate: float | None = None
    unshelve_rate: float | None = None
    shelve_exclusion: Exclusion | None = None
    override_suspend_time: int | None = None
    override_resume_time: int | None = None
    stop_time: int = 60
    shelved_size: ShelvedSize = ShelvedSize.MEMORY
    suspend_estimate: Estimate = Estimate.MODEL
    suspend_buffer: int = 0
    resume_buffer: int = 0
    enactment_overhead: int = 0
    shutdown_time: int = 0
    scheduling_threshold_factor: float = 1.0
    force_scheduling_threshold: int | None = None
    migration: Migration = Migration.YES
    migration_bandwidth: float = 1000.0
    migrate_disks: bool = False
    preempt_at: PreemptAt = PreemptAt.START
    room_lead: RoomLead = RoomLead.LOSE
    preemption_grace: int = 0
    slack_threshold: float = 2.0
    least_slack_first: bool = True
