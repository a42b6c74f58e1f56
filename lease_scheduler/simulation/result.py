"""The result of a run, from which every metric, table and picture is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.simulation.accounting import Accounting


class Phase(Enum):
    """What a lease does with the hosts that it holds."""

    RUN = "run"
    RESUME = "resume"
    SUSPEND = "suspend"
    SHUTDOWN = "shutdown"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Occupation:
    """The hosts that a lease actually held in ``[start, end)``.

    :ivar lease_id: the lease
    :ivar phase: what the lease did on the hosts
    :ivar start: first second
    :ivar end: first second after the occupation
    :ivar assignment: host index of each node, in the order of the lease's nodes (node set by node set)
    """

    lease_id: str
    phase: Phase
    start: int
    end: int
    assignment: tuple[int, ...]


@dataclass(frozen=True)
class RunResult:
    """A completed run.

    :ivar workload_name: name of the workload
    :ivar site: the hosts
    :ivar leases: every lease in the order of submission, each in a final state unless the run was cut
    :ivar occupations: what actually happened on the hosts, in the order of their ends
    :ivar counters: named counts: ``suspensions``, ``resumptions``, ``migrations``, ``preemptions``, ``early_ends``,
        ``late_starts``, ``failed_boots``, ``host_failures``, ``replans``, ``preempted_leases``, ``preempted_nodes``,
        ``preemptions_with_loss``, ``preemptions_without_loss``; with image transfers also
        ``image_transfers``, ``transferred_images`` (hosts that got one), ``shared_images`` and ``reused_images`` (hosts
        where a lease needed no transfer of its own), ``evicted_images``, ``failed_transfers``
    :ivar start: the run's zero
    :ivar end: the instant at which it stopped
    :ivar last_submission: instant of the last request
    :ivar wall_s: seconds of real time
    :ivar peak_rss_bytes: largest resident memory of the process
    :ivar disk_usage: (instant, MB that the fullest host uses for images from then on), if the probe was enabled
    :ivar accounting: records of the probes; empty without probes
    :ivar breaches: all breaches, in the order in which they became certain
    """

    workload_name: str
    site: Site
    leases: tuple[Lease, ...]
    occupations: tuple[Occupation, ...]
    counters: Mapping[str, int]
    start: int
    end: int
    last_submission: int
    wall_s: float
    peak_rss_bytes: int
    disk_usage: tuple[tuple[int, int], ...] = ()
    accounting: Accounting = field(default_factory=Accounting)
    breaches: tuple[Breach, ...] = ()
