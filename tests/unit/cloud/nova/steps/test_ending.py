"""Steps that remove what a lease has."""

from __future__ import annotations

from typing import Any, cast

from lease_scheduler.cloud.nova.lease.aggregate_metadata import ACTIVE, NONE, Known
from lease_scheduler.cloud.nova.steps.ending import Release
from lease_scheduler.cloud.orders import Removal

_SERVICE = "compute-1"
_KNOWN = Known("a", "project", "user", None, 1, 1, False, ACTIVE, frozenset(), frozenset({_SERVICE}))


class Cloud:
    """The parts that the step uses: one host, on which servers may have slots of the lease.

    :ivar servers: number of servers of the lease
    :ivar are_released: whether Nova has released the slots of deleted servers
    """

    def __init__(self, servers: int) -> None:
        self.servers = servers
        self.are_released = False
        self.left: list[tuple[str, str, frozenset[str]]] = []

    def known(self, lease_id: str) -> Known:
        return _KNOWN

    def leave(self, *arguments: Any) -> frozenset[str]:
        if isinstance(arguments[0], Known):
            return frozenset() if self.are_released else frozenset({_SERVICE})
        self.left.append(arguments)
        return frozenset()

    def perform(self, order: Removal) -> bool:
        self.are_released = not self.servers
        self.servers = 0
        return self.are_released


def test_a_server_that_comes_after_the_others_were_deleted_is_deleted_too() -> None:
    """Otherwise it would keep the host, and the next lease would wait for ever."""
    cloud = Cloud(servers=1)
    part = cast(Any, cloud)
    step = Release(part, part, part, part)
    order = cast(Any, type("Order", (), {"lease_id": "a"})())

    assert [step.perform(order) for _ in range(3)] == [False, False, True]

    assert cloud.servers == 0
    assert cloud.left == [("a", NONE, frozenset())]
