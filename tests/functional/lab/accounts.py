"""What leases have used according to Nova's notifications and the leases' own terms, without our accounting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.functional.lab.service import Document, in_epoch
from tests.servers.openstack.notifications import Notification

#: Seconds by which the engine may notice an end later than Nova, or start earlier, on a busy machine.
NOTICE = 8.0

CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB")

#: Events after which a server occupies its host, and events after which it does not.
_ON = frozenset({"instance.create.end", "instance.unshelve.start"})
_OFF = frozenset({"instance.shelve_offload.end", "instance.delete.end"})


@dataclass(frozen=True)
class Booked:
    """A lease of the test.

    :ivar lease: as the API shows it when it is over
    :ivar project_id: project that holds it
    :ivar nodes: number of nodes, and of servers if it has any
    :ivar needs: resources promised to one node
    :ivar duration: requested seconds, extensions included
    :ivar has_servers: whether Nova knows what was used; otherwise what was promised counts
    """

    lease: Document
    project_id: str
    nodes: int
    needs: Mapping[str, int]
    duration: int
    has_servers: bool

    @property
    def kind(self) -> str:
        """The kind of the lease."""
        return str(self.lease["kind"])


@dataclass
class Account:
    """What a lease has used.

    :ivar intervals: starts and ends of use, in seconds since the epoch
    :ivar per_node: resources of each node
    """

    booked: Booked
    intervals: list[tuple[float, float]]
    per_node: Mapping[str, int]

    def seconds(self, start: float, end: float) -> float:
        """Return for how many seconds of a window the lease had its nodes."""
        return sum(_overlap(start, end, *interval) for interval in self.intervals)

    def uncertain(self, start: float, end: float) -> float:
        """Return for how many seconds of a window it is uncertain what the engine knew."""
        edges = [edge for interval in self.intervals for edge in interval]
        return sum(_overlap(start, end, edge - NOTICE, edge + NOTICE) for edge in edges)


@dataclass
class Use:
    """Usage of one project's leases of one kind in a window, in node-seconds and resource-seconds.

    :ivar tolerance: allowed difference in node-seconds
    """

    node_seconds: float = 0.0
    tolerance: float = 0.0
    resource_seconds: Counter[str] = field(default_factory=Counter)
    resource_tolerance: Counter[str] = field(default_factory=Counter)


def account(booked: Booked, heard: Iterable[Notification]) -> Account:
    """Return what one lease has used.

    :param heard: all of Nova's notifications, in the order in which Nova sent them
    """
    if not booked.has_servers:
        return Account(booked, _promised(booked.lease), booked.needs)
    mine = [each for each in heard if _lease_of(each) == booked.lease["id"]]
    flavors = [each.payload["flavor"]["nova_object.data"] for each in mine]
    sizes = {(each["vcpus"], each["memory_mb"], each["root_gb"]) for each in flavors}
    assert len(sizes) <= 1, sizes
    per_node = dict(zip(CLASSES, sizes.pop(), strict=True)) if sizes else {}
    return Account(booked, _used(booked, mine), per_node)


def used(accounts: Iterable[Account], start: float, end: float) -> dict[tuple[str, str], Use]:
    """Return what was used in a window, by project and kind."""
    found: dict[tuple[str, str], Use] = {}
    for each in accounts:
        use = found.setdefault((each.booked.project_id, each.booked.kind), Use())
        nodes = each.booked.nodes
        seconds, uncertain = each.seconds(start, end), each.uncertain(start, end)
        use.node_seconds += nodes * seconds
        use.tolerance += nodes * uncertain
        for name, amount in each.per_node.items():
            use.resource_seconds[name] += nodes * amount * seconds  # type: ignore[assignment]
            use.resource_tolerance[name] += nodes * amount * uncertain  # type: ignore[assignment]
    return found


def _promised(lease: Document) -> list[tuple[float, float]]:
    if lease["started_at"] is None:
        return []
    return [(in_epoch(lease["start_date"]), in_epoch(lease["end_date"]))]


def _used(booked: Booked, mine: Sequence[Notification]) -> list[tuple[float, float]]:
    """Return the intervals of use.

    Each starts when all servers are there, or when the first of them is being unshelved, and ends when the last one is
    gone.
    """
    found: list[tuple[float, float]] = []
    there: set[str] = set()
    since: float | None = None
    not_before = in_epoch(booked.lease["start_date"]) if booked.kind in ("reservation", "deadline") else 0.0
    for each in mine:
        assert each.server_id is not None
        if each.event_type in _ON:
            there.add(each.server_id)
            if since is None and (len(there) == booked.nodes or each.event_type == "instance.unshelve.start"):
                # Servers that are booted ahead of the start do not count as used before it.
                since = max(each.at, not_before)
        elif each.event_type in _OFF:
            there.discard(each.server_id)
            if not there and since is not None:
                found.append((since, each.at))
                since = None
    assert since is None, "a server of a lease that is over is still there"
    return found


def _lease_of(notification: Notification) -> str | None:
    if notification.event_type not in _ON | _OFF:
        return None
    specs = notification.payload["flavor"]["nova_object.data"]["extra_specs"] or {}
    found: str | None = specs.get("lease:id")
    return found


def _overlap(start: float, end: float, other_start: float, other_end: float) -> float:
    return max(0.0, min(end, other_end) - max(start, other_start))
