"""How many operations on servers run at the same time (haizea F74)."""

from __future__ import annotations

from unittest import mock

from lease_scheduler.cloud.nova.api import throttle as module
from lease_scheduler.cloud.nova.api.throttle import Throttle


def test_on_each_host_and_in_all() -> None:
    throttle = Throttle(per_host=2, in_all=3)
    assert [throttle.begin(server, "one") for server in "abc"] == [True, True, False]
    assert throttle.begin("a", "one"), "it counts once"
    assert [throttle.begin(server, "two") for server in "de"] == [True, False]
    throttle.end("a")
    assert throttle.begin("c", "one")


def test_where_is_not_always_known() -> None:
    throttle = Throttle(per_host=1, in_all=2)
    assert [throttle.begin(server, None) for server in "abc"] == [True, True, False]


def test_what_nobody_looks_at_any_more_is_over() -> None:
    """Its server was deleted, perhaps by its project; an operation that is polled may take any time."""
    throttle = Throttle(per_host=2, in_all=2)
    with mock.patch.object(module, "monotonic", side_effect=[0.0, 0.0, 50.0, 61.0, 61.0]):
        assert throttle.begin("deleted", "one")
        assert throttle.begin("slow", "one")
        throttle.go_on("slow")
        assert throttle.begin("next", "one")
        assert not throttle.begin("another", "one")
