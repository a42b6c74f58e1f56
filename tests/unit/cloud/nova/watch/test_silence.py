"""Which compute services are dead, and which are silent because the message bus was away."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lease_scheduler.cloud.nova.watch.silence import Patience, Silence

_ALL = ("a", "b", "c", "d")


def _service(host: str, state: str = "up", status: str = "enabled", *, forced_down: bool = False) -> SimpleNamespace:
    return SimpleNamespace(host=host, state=state, status=status, forced_down=forced_down)


class _Nova:
    """Checks its services, second by second."""

    def __init__(self) -> None:
        self.silence = Silence(Patience(grace=15.0, reconnection=45.0))

    def dead(self, now: float, down: str, forced: str = "", disabled: str = "") -> list[str] | None:
        """Return the hosts considered dead, or None if that cannot be told."""
        services = [
            _service(
                host,
                "down" if host in down else "up",
                "disabled" if host in disabled else "enabled",
                forced_down=host in forced,
            )
            for host in _ALL
        ]
        if self.silence.is_general(services, now):
            return None
        return [each.host for each in services if each.state == "down" and self.silence.is_over(each, now)]


def test_one_that_died_counts_as_dead_soon() -> None:
    nova = _Nova()
    assert [nova.dead(now, "b") for now in (0, 14, 15)] == [[], [], ["b"]]


def test_one_that_was_heard_in_between_begins_anew() -> None:
    nova = _Nova()
    assert [nova.dead(now, down) for now, down in ((0, "b"), (10, ""), (15, "b"), (29, "b"), (30, "b"))] == [
        [],
        [],
        [],
        [],
        ["b"],
    ]


def test_after_an_outage_of_the_bus_services_are_heard_one_after_the_other() -> None:
    """They reconnect within half a minute, however long the bus was away."""
    nova = _Nova()
    assert [nova.dead(now, "abcd") for now in (0, 100, 1_000)] == [None, None, None]
    assert [nova.dead(1_010, "bcd"), nova.dead(1_020, "cd"), nova.dead(1_059, "d")] == [[], [], []]
    # This one has died meanwhile.
    assert nova.dead(1_060, "d") == ["d"]


def test_an_outage_that_was_over_before_all_were_called_down() -> None:
    nova = _Nova()
    assert [nova.dead(0, "abc"), nova.dead(59, "bc"), nova.dead(60, "bc")] == [[], [], ["b", "c"]]
    # Silence of only half of them is not an outage of the bus.
    assert [nova.dead(100, ""), nova.dead(101, "ab"), nova.dead(116, "ab")] == [[], [], ["a", "b"]]


def test_what_operators_say_counts_at_once() -> None:
    nova = _Nova()
    assert nova.dead(0, "b", forced="b") == ["b"]
    # Disabled and forced-down services do not count for an outage of the bus.
    assert nova.dead(1, "abc", forced="a", disabled="b") == ["a"]
    assert nova.dead(16, "abc", forced="a", disabled="b") == ["a", "b", "c"]


@pytest.mark.parametrize("state", ["down", "up"])
def test_of_a_single_service_nobody_can_tell(state: str) -> None:
    silence, service = Silence(Patience()), _service("a", state)
    assert not silence.is_general([service], 0)
    assert silence.is_over(service, 0)


def test_services_of_a_cell_that_does_not_answer() -> None:
    """Their state is unknown."""
    silence = Silence(Patience(15.0))
    away = SimpleNamespace(host="x", status="UNKNOWN")
    assert not silence.is_general([away, _service("a"), _service("b", "down")], 0)
    assert silence.is_general([away, _service("a", "down"), _service("b", "down")], 0)
