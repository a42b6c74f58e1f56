"""Options of the planner as plain values; ``conf`` defines the options that operators set."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Suspension(Enum):
    """Which leases may be suspended (haizea F51)."""

    NONE = "none"
    SERIAL_ONLY = "serial-only"
    ALL = "all"


class Exclusion(Enum):
    """Which suspensions and resumptions exclude each other (haizea F69, F70).

    ``LOCAL``: those of nodes on the same host. ``GLOBAL``: those of all nodes of a lease.
    """

    LOCAL = "local"
    GLOBAL = "global"


class Estimate(Enum):
    """How the duration of a suspension is estimated before its hosts are known.

    ``MODEL`` is equation 7.2 of Sotomayor 2010. ``SUM`` adds up all nodes, even those that would be saved at the same
    time, as the author's programs of 2010 did.
    """

    MODEL = "model"
    SUM = "sum"


class ShelvedSize(Enum):
    """What is assumed to be copied when a server is shelved."""

    MEMORY = "memory"
    DISK = "disk"


class Migration(Enum):
    """Whether a suspended lease may resume on other hosts (haizea F54).

    With ``YES_NO_TRANSFER`` it may, and nothing has to be transferred for it.
    """

    NO = "no"
    YES = "yes"
    YES_NO_TRANSFER = "yes-notransfer"


class PreemptAt(Enum):
    """When a preempted lease that runs and cannot be suspended loses its hosts.

    ``REQUEST``: as soon as the reservation is granted. ``START``: when the reservation starts.
    """

    REQUEST = "request"
    START = "start"


class RoomLead(Enum):
    """What happens to victims that could be suspended, if a reservation starts too soon for that.

    * ``STRICT``: the start waits for their suspension.
    * ``CHARGE``: they are saved in no time, but lose as many seconds of work as the suspension would have taken.
    * ``LOSE``: they start over, as in Haizea.
    """

    STRICT = "strict"
    CHARGE = "charge"
    LOSE = "lose"


@dataclass(frozen=True)
class PlanningOptions:
    """Options of the planner.

    :ivar backfilling_limit: number of best-effort leases that may hold a future place while others overtake them: 0 is
        no backfilling, 1 aggressive, n intermediate, None conservative (haizea F47)
    :ivar suspension: which leases may be suspended
    :ivar planned_suspension: which of them may be planned in parts, so that a gap that is too short for a whole lease
        is used and the lease is suspended at its end. None is the same as ``suspension``; with ``NONE`` leases are
        suspended only when they are preempted
    :ivar suspend_rate: MB/s at which memory is saved
    :ivar resume_rate: MB/s at which memory is loaded
    :ivar exclusion: which nodes of a lease are saved one after the other
    :ivar shelve_rate: MB/s at which a node that leaves its host is saved; None means ``suspend_rate``
    :ivar unshelve_rate: MB/s at which it is loaded; None means ``resume_rate``
    :ivar shelve_exclusion: which nodes of a lease leave their hosts one after the other; None means ``exclusion``
    :ivar override_suspend_time: seconds per node in place of memory / rate; None to compute it
    :ivar override_resume_time: the same for resuming
    :ivar stop_time: seconds to stop one server of a lease whose preemption mode is to stop them
    :ivar shelved_size: whether the disk of a shelved server is copied or, as in Haizea, its memory
    :ivar suspend_estimate: how the duration of a suspension is estimated before its hosts are known
    :ivar suspend_buffer: seconds by which a suspension ends before the holding that it makes room for starts
    :ivar resume_buffer: seconds by which a resumption may take longer than computed
    :ivar enactment_overhead: seconds that each command to the cloud takes
    :ivar shutdown_time: seconds reserved after a run
    :ivar scheduling_threshold_factor: a run that will be suspended must last (1 + factor) times its suspension and
        resumption (haizea F55)
    :ivar force_scheduling_threshold: seconds in place of the computed threshold; None to compute it
    :ivar migration: whether memory that was saved by suspending may move to other hosts
    :ivar migration_bandwidth: Mb/s between hosts
    :ivar migrate_disks: whether the disk images of suspended servers move with their memory
    :ivar preempt_at: when a preempted lease that cannot be suspended loses its hosts
    :ivar room_lead: what happens to victims that could be suspended if there were enough time
    :ivar preemption_grace: minimum seconds that a running lease keeps its hosts after it is preempted
    :ivar slack_threshold: deadline leases with at most this slack are first tried at their start (haizea F56)
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
