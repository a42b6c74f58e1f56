"""Records of live leases: what the engine remembers of each of them beyond its value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lease_scheduler.engine.interfaces import Operation

_NO_HOSTS: frozenset[int] = frozenset()


@dataclass(slots=True)
class Run:
    """Record of a live lease. It is not stored.

    :ivar operation: operation that the cloud is carrying out, or None; ``Runs.begin`` and ``Runs.end`` set it
    :ivar is_counted: whether it is in a run that has not been accounted for yet
    :ivar failed_boots: number of failed operations and image transfers that count towards ``boot_attempts``
    :ivar without: hosts of its assignment that it runs without, because other servers are on them
    :ivar stuck: hosts that it blocks for other leases, because it cannot be suspended; ``Runs.stick`` sets it. These
        hosts are occupied, and the lease does not hold them in the plan
    """

    operation: Operation | None = None
    is_counted: bool = False
    failed_boots: int = 0
    without: frozenset[int] = _NO_HOSTS
    stuck: frozenset[int] = _NO_HOSTS


class Runs(dict[str, Run]):
    """Records of the live leases, by lease id, with indexes for what each step of the engine asks for.

    It is a ``dict`` and not a ``UserDict``, because every change of a lease looks its record up, and a ``dict`` is
    faster. For a lease that has ended, ``runs[lease_id]`` returns a new record, which is not kept.

    :ivar operating: ids of leases with an operation, in the order in which the operations began; the plan is changed in
        this order while late operations hold their hosts
    :ivar fluid: ids of fluid leases, in the order in which they were added
    :ivar preempted: ids of leases that were preempted and might continue on other hosts, in the order of preemption
    :ivar stuck: ids of leases that cannot be suspended
    """

    def __init__(self) -> None:
        super().__init__()
        self.operating: dict[str, None] = {}
        self.fluid: dict[str, None] = {}
        self.preempted: list[str] = []
        self.stuck: set[str] = set()

    def __missing__(self, lease_id: str) -> Run:
        return Run()

    def add(self, lease_id: str) -> Run:
        """Keep a record of a new lease, and return it."""
        run = self[lease_id] = Run()
        return run

    def drop(self, lease_id: str) -> None:
        """Forget a lease that has ended."""
        del self[lease_id]
        if lease_id in self.operating:
            del self.operating[lease_id]
        if lease_id in self.fluid:
            del self.fluid[lease_id]
        if lease_id in self.stuck:
            self.stuck.remove(lease_id)

    def begin(self, operation: Operation) -> None:
        """Record that the cloud begins an operation."""
        run = self.get(operation.lease_id) or self.add(operation.lease_id)
        run.operation = operation
        self.operating[operation.lease_id] = None

    def end(self, lease_id: str) -> Operation | None:
        """Record that the operation of a lease is over, and return it, or None if there was none."""
        if lease_id not in self.operating:
            return None
        del self.operating[lease_id]
        run = self[lease_id]
        operation, run.operation = run.operation, None
        return operation

    def operations(self) -> Iterator[Operation]:
        """Yield the operations that the cloud is carrying out, in the order in which they began."""
        for lease_id in self.operating:
            operation = self[lease_id].operation
            assert operation is not None
            yield operation

    def stick(self, lease_id: str, hosts: frozenset[int]) -> None:
        """Record that a lease cannot be suspended, and blocks these hosts for other leases."""
        self[lease_id].stuck = hosts
        self.stuck.add(lease_id)

    def loosen(self, lease_id: str) -> frozenset[int]:
        """Record that a lease blocks no hosts any more, and return those that it blocked."""
        self.stuck.discard(lease_id)
        run = self[lease_id]
        hosts, run.stuck = run.stuck, _NO_HOSTS
        return hosts

    def stuck_hosts(self) -> frozenset[int]:
        """Return the hosts that are occupied by leases that cannot be suspended."""
        return _NO_HOSTS.union(*(self[lease_id].stuck for lease_id in self.stuck))
