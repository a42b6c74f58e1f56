"""Servers on the hosts of an exclusive lease that do not belong to it."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from lease_scheduler.cloud.nova.repair.strangers import Strangers
from lease_scheduler.cloud.observations import Stranger
from tests.unit.cloud.nova.fakes import FakeNova, aggregate, server

_NODES = {"service1": "node1", "service2": "node2"}
_FAR = str(2**33)


def _lease(number: int, *hosts: str, lease_id: str = "lease", **said: str) -> SimpleNamespace:
    usual = {
        "lease__id": lease_id,
        "lease__project_id": "physics",
        "lease__exclusive": "true",
        "lease__from": "0",
        "lease__until": _FAR,
    }
    return aggregate(number, f"lease-{lease_id}", hosts, **{**usual, **said})


def _stranger(server_id: str, host: str = "node1", lease_id: str = "lease") -> Stranger:
    return Stranger(server_id, lease_id, host, "biology")


@pytest.fixture
def nova() -> FakeNova:
    return FakeNova()


@pytest.fixture
def strangers(nova: FakeNova) -> Strangers:
    return Strangers(nova, lambda: _NODES)


def test_who_belongs(nova: FakeNova, strangers: Strangers) -> None:
    nova.made = [_lease(1, "service1")]
    nova.present = [
        server("of the project", "service1", "physics"),
        server("of the flavor", "service1", lease_id="lease"),
        server("of the tag", "service1", tags=["lease:lease"]),
        server("elsewhere", "service2"),
        server("put aside", "service1", lease_id="other", status="SUSPENDED"),
        server("put aside by tag", "service1", tags=["web", "lease:other"], status="SHUTOFF"),
        server("without a host", None),
        server("shelved", "service1", status="SHELVED_OFFLOADED"),
        server("forced", "service1"),
        server("of another lease", "service1", lease_id="other", tags=["lease:other"]),
        server("switched off", "service1", tags=["web"], status="SHUTOFF"),
    ]
    # Users may give their servers any tag.
    told = [
        _stranger("of the tag"),
        _stranger("put aside by tag"),
        _stranger("forced"),
        _stranger("of another lease"),
        _stranger("switched off"),
    ]
    assert strangers.look(nova.made) == told
    # Each is new once, for as long as the lease exists.
    known = {replace(each, is_known=True) for each in told}
    assert set(strangers.look(nova.made)) == set(strangers.look_at("service1")) == known
    assert strangers.look([]) == []
    assert strangers.look(nova.made) == told


def test_a_server_that_was_being_booted_is_returned_when_it_can_be_sent_away(
    nova: FakeNova, strangers: Strangers
) -> None:
    """Nova refuses to shelve it before, and it may not have changed since the last look."""
    nova.made = [_lease(1, "service1")]
    guest = server("guest", "service1", status="BUILD")
    setattr(guest, "OS-EXT-STS:task_state", "spawning")
    nova.present = [guest]
    assert strangers.look(nova.made) == [_stranger("guest")]
    assert strangers.look(nova.made) == strangers.look_at("service1") == []
    guest.status = "ACTIVE"
    setattr(guest, "OS-EXT-STS:task_state", None)
    assert strangers.look(nova.made) == [replace(_stranger("guest"), is_known=True)]
    nova.present = [server("guest", None, status="SHELVED_OFFLOADED")]
    assert strangers.look(nova.made) == []
    nova.asked.clear()
    strangers.look(nova.made)
    assert nova.count("servers") == 1


@pytest.mark.parametrize(
    "said",
    [
        {"lease__exclusive": "false"},
        {"lease__from": str(2**40)},
        {"lease__from": ""},
        {"lease__until": "1000"},
    ],
)
def test_when_nobody_is_a_stranger(nova: FakeNova, strangers: Strangers, said: dict[str, str]) -> None:
    """On shared hosts, before a lease starts, and after its end."""
    nova.made = [_lease(1, "service1", **said), aggregate(2, "freepool", ["service1"], lease__pool="true")]
    nova.present = [server("other", "service1")]
    assert strangers.look(nova.made) == []
    assert nova.count("servers") == 0


def test_a_lease_that_begins(nova: FakeNova, strangers: Strangers) -> None:
    """A server that came to the host while it was being vacated is found, however long ago it changed."""
    nova.present = [server("forced", "service1")]
    assert strangers.look([_lease(1, "service1", lease__from=str(2**40))]) == []
    assert strangers.look([_lease(1, "service1", lease__from=str(int(time.time()) - 1))]) == [_stranger("forced")]


def test_who_comes_later_costs_one_question(nova: FakeNova, strangers: Strangers) -> None:
    nova.made = [_lease(1, "service1"), _lease(2, "service2", lease_id="second")]
    strangers.look(nova.made)
    nova.asked.clear()
    nova.present = [server("forced", "service1"), server("also", "service2"), server("old", "service2")]
    nova.updated = dict.fromkeys(["forced", "also"], datetime.now(UTC))
    nova.updated["old"] = datetime.now(UTC) - timedelta(minutes=10)
    assert strangers.look(nova.made) == [_stranger("forced"), _stranger("also", "node2", "second")]
    assert nova.count("servers") == 1


def test_a_host_that_goes_from_one_lease_to_another(nova: FakeNova, strangers: Strangers) -> None:
    nova.present = [server("forced", "service1")]
    assert strangers.look([_lease(1, "service1")]) == [_stranger("forced")]
    assert strangers.look([_lease(2, "service1", lease_id="next")]) == [_stranger("forced", lease_id="next")]


def test_one_host(nova: FakeNova, strangers: Strangers) -> None:
    """Nova is asked again which lease holds the host."""
    nova.made = [_lease(1, "service1")]
    assert strangers.look_at("service1") == []
    strangers.look(nova.made)
    nova.present = [server("forced", "service1")]
    assert strangers.look_at("service2") == []
    assert strangers.look_at("service1") == [_stranger("forced")]
    nova.present = [server("second", "service1")]
    nova.made = [_lease(1, "service2")]
    assert strangers.look_at("service1") == []
    nova.made = []
    assert strangers.look_at("service1") == []
