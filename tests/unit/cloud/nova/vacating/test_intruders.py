"""Ordinary servers in the way of a lease."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lease_scheduler.cloud.driver import HostsOccupiedError
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.intruders import Intruders
from lease_scheduler.cloud.nova.vacating.options import IntruderAction, RoomOptions

PATIENCE = 60


def _server(server_id: str, task: str | None) -> SimpleNamespace:
    found = SimpleNamespace(id=server_id, status="ACTIVE")
    setattr(found, "OS-EXT-STS:task_state", task)
    return found


def _leased(server_id: str, lease_id: str) -> SimpleNamespace:
    found = _server(server_id, "deleting")
    found.flavor = {"extra_specs": {"lease:id": lease_id}}
    return found


def _intruders(*moving: SimpleNamespace, present: Sequence[SimpleNamespace] = ()) -> Intruders:
    """Return those against whom the operator allows nothing.

    :param moving: servers that have left the host, but still have room there
    :param present: servers on the host
    """
    options = RoomOptions(intruders=IntruderAction.REFUSE, escalate_after=20, intruder_patience=PATIENCE)
    departures = cast(Any, SimpleNamespace(unfinished=lambda host, own: moving))
    none = cast(Any, None)
    return Intruders(none, lambda **_: list(present), none, Throttle(1, 1), none, departures, options)


@pytest.mark.parametrize("task", ["deleting", "soft-deleting", "shelving", "shelving_offloading"])
def test_a_server_that_goes_by_itself_is_waited_for(task: str) -> None:
    """The host of a lease that ended a second ago may still have servers whose deletion goes on."""
    intruders = _intruders()
    going = _server("a", task)
    assert not intruders.clear("node1", [going], late=-5)
    assert not intruders.clear("node1", [going], late=PATIENCE)
    assert intruders.clear("node1", [], late=PATIENCE)


def test_not_for_ever() -> None:
    with pytest.raises(HostsOccupiedError) as caught:
        _intruders().clear("node1", [_server("a", "deleting")], late=PATIENCE + 1)
    assert caught.value.servers == {"node1": ("a",)}


@pytest.mark.parametrize("task", [None, "rebooting", "migrating", "resize_prep"])
def test_any_other_server_is_named_at_once(task: str | None) -> None:
    with pytest.raises(HostsOccupiedError) as caught:
        _intruders().clear("node1", [_server("a", "deleting"), _server("b", task)], late=0)
    assert caught.value.servers == {"node1": ("b",)}


def test_moves_are_not_waited_for_for_ever() -> None:
    intruders = _intruders(_server("a", "resize_finish"))
    assert not intruders.clear("node1", [], late=PATIENCE)
    with pytest.raises(HostsOccupiedError) as caught:
        intruders.clear("node1", [], late=PATIENCE + 1)
    assert caught.value.servers == {"node1": ("a",)}


def _missing() -> dict[str, int]:
    return {"MEMORY_MB": 1024}


def test_what_another_lease_has_is_not_waited_for_for_ever() -> None:
    """The servers of a lease that has ended may never be deleted, because a hypervisor hangs."""
    intruders = _intruders(present=[_leased("a", "the other one"), _leased("b", "mine")])
    intruders.make_room("node1", "node1", _missing, PATIENCE, "mine")
    with pytest.raises(HostsOccupiedError) as caught:
        intruders.make_room("node1", "node1", _missing, PATIENCE + 1, "mine")
    assert caught.value.servers == {"node1": ("a",)}


def test_a_lease_without_servers_is_not_waited_for_for_ever_either() -> None:
    with pytest.raises(HostsOccupiedError, match="none known on node1"):
        _intruders().make_room("node1", "node1", _missing, PATIENCE + 1, "mine")


def _commanded(action: IntruderAction) -> tuple[Intruders, list[str]]:
    """Return those against whom the operator allows an action, and what Nova is told, which it notes only."""
    told: list[str] = []
    names = ("reboot", "reset_state", "shelve", "migrate", "live_migrate")
    commands = {name: lambda *_, name=name: told.append(name) for name in names}
    nova = cast(Any, SimpleNamespace(servers=SimpleNamespace(**commands)))
    options = RoomOptions(intruders=action, intruder_patience=PATIENCE)
    departures = cast(Any, SimpleNamespace(unfinished=lambda host, own: []))
    guests = cast(Any, SimpleNamespace(mark=lambda servers: None))
    return Intruders(nova, lambda **_: [], guests, Throttle(1, 1), cast(Any, None), departures, options), told


def test_a_failed_server_is_rebooted_before_it_is_shelved() -> None:
    """Its hypervisor may not know it any more, after a rebuild that failed, and then does not shelve it."""
    intruders, told = _commanded(IntruderAction.SHELVE)
    server = _server("a", None)
    for server.status in ("ERROR", "ERROR", "ACTIVE"):
        assert not intruders.clear("node1", [server], late=0)
    assert told == ["reboot", "reset_state", "shelve"]


@pytest.mark.parametrize(
    ("status", "command"),
    [("ACTIVE", "live_migrate"), ("PAUSED", "live_migrate"), ("SHUTOFF", "migrate"), ("SUSPENDED", "shelve")],
)
def test_a_server_is_moved_as_nova_moves_it_in_its_state(status: str, command: str) -> None:
    intruders, told = _commanded(IntruderAction.MIGRATE)
    server = _server("a", None)
    server.status = status
    assert not intruders.clear("node1", [server], late=0)
    assert told == [command]
