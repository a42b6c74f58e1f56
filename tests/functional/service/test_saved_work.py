"""Leases whose saved servers cannot be restored wait with them, and their projects are told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from tests.functional.lease_document import lease_document
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

_LIMIT = 30.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, "constant", {})
    yield made
    made.close()


@pytest.fixture
def waiting(service: Service) -> str:
    """A best-effort lease that made room for a reservation and cannot be resumed, however often it is tried."""
    document = service.document(2, "best-effort", duration=4 * HOUR) | {"preemptible": True}
    lease_id = str(service.leases.create({}, document)["lease_id"])
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    start = service.clock.now() + 1_800
    reserved = str(service.leases.create({}, service.document(2, start=start, end=start + HOUR))["lease_id"])
    service.clock.jump(1_800)
    assert wait_until(service.is_in(reserved, "active"), _LIMIT)
    service.cloud._behaviour = CloudBehaviour(resume_failure_probability=1.0)
    service.leases.delete({}, reserved, "asked for")
    assert wait_until(lambda: _has_given_up(service, lease_id), _LIMIT), service.view(lease_id)
    return lease_id


def _has_given_up(service: Service, lease_id: str) -> bool:
    if not service.view(lease_id)["degraded"]:
        # Each attempt takes some time by the clock of the plan.
        service.clock.jump(30)
    return bool(service.view(lease_id)["degraded"])


def _servers(service: Service, lease_id: str) -> str:
    (found,) = [each for each in service.cloud.footprints() if each.lease_id == lease_id]
    return found.servers


def _told(service: Service, lease_id: str) -> list[Mapping[str, Any]]:
    messages = [message for _, message in service.site.store.waiting_messages()]
    return [
        each.payload
        for each in messages
        if each.event_type == "lease.degraded" and each.payload["lease_id"] == lease_id
    ]


def test_the_owner_is_told_and_nothing_is_deleted(service: Service, waiting: str) -> None:
    assert service.view(waiting)["ended"] is None
    (told,) = _told(service, waiting)
    assert (told["degraded"], told["state"]) == (True, "suspended-pending")
    assert "could not be resumed 3 times; it is tried again in 30 s" in told["reason"]
    assert _servers(service, waiting) == "saved"
    history = [(entry["to"], entry["reason"]) for entry in service.reader.history(waiting)]
    assert ("suspended-pending", told["reason"]) in history
    assert "failed" not in [state for state, _ in history]


@pytest.mark.parametrize("restarted", [False, True])
def test_it_goes_on_when_it_can(service: Service, waiting: str, restarted: bool) -> None:
    done = service.view(waiting)["accumulated"]
    assert done >= 1_700
    if restarted:
        service.restart()
    service.cloud._behaviour = CloudBehaviour()
    assert wait_until(lambda: _goes_on(service, waiting), _LIMIT), service.view(waiting)
    assert service.view(waiting)["accumulated"] >= done
    assert not service.view(waiting)["degraded"]


def _goes_on(service: Service, lease_id: str) -> bool:
    service.clock.jump(30)
    return service.is_in(lease_id, "active")()


def test_its_owner_may_end_it(service: Service, waiting: str) -> None:
    service.leases.delete({}, waiting, "asked for")
    assert wait_until(lambda: waiting not in {each.lease_id for each in service.cloud.footprints()}, _LIMIT)


def test_a_deadline_that_is_missed_is_told_at_once(service: Service) -> None:
    """The lease is not over; it has a breach, and its project is notified with the reason."""
    deadline = service.clock.now() + 3 * HOUR
    times: dict[str, Any] = {"start": service.clock.now(), "duration": HOUR, "deadline": deadline}
    document = lease_document("a lease", "deadline", 2, **times) | {"preemptible": True}
    lease_id = str(service.leases.create({}, document)["lease_id"])
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    start = service.clock.now() + 1_800
    reserved = str(service.leases.create({}, service.document(2, start=start, end=start + 1_800))["lease_id"])
    service.clock.jump(1_800)
    assert wait_until(service.is_in(reserved, "active"), _LIMIT)
    service.cloud._behaviour = CloudBehaviour(resume_failure_probability=1.0)
    service.leases.delete({}, reserved, "asked for")
    assert wait_until(lambda: _is_missed(service, lease_id), 2 * _LIMIT), service.view(lease_id)
    view = service.view(lease_id)
    assert (view["ended"], view["state"]) == (None, "suspended-pending")
    assert [each["kind"] for each in view["breaches"]] == ["missed-deadline"]
    last = _told(service, lease_id)[-1]
    assert "cannot be done by its deadline any more" in last["reason"]
    assert last["reason"] in [entry["reason"] for entry in service.reader.history(lease_id)]
    assert _servers(service, lease_id) == "saved"


def _is_missed(service: Service, lease_id: str) -> bool:
    service.clock.jump(300)
    return bool(service.view(lease_id)["breaches"])


@pytest.mark.parametrize("restarted", [False, True])
def test_servers_that_cannot_be_suspended_stay(service: Service, restarted: bool) -> None:
    """The reservation that needs their host gets its other hosts in time, and this one when it is free."""
    document = service.document(1, "best-effort", duration=8 * HOUR) | {"preemptible": True}
    lease_id = str(service.leases.create({}, document)["lease_id"])
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    start = service.clock.now() + 1_800
    reserved = str(service.leases.create({}, service.document(2, start=start, end=start + 4 * HOUR))["lease_id"])
    service.cloud._behaviour = CloudBehaviour(suspend_failure_probability=1.0)
    service.clock.jump(1_800)
    assert wait_until(service.is_in(reserved, "active"), _LIMIT), service.view(reserved)
    assert wait_until(lambda: service.view(reserved)["degraded"], _LIMIT), service.view(reserved)
    assert service.view(lease_id)["state"] == "suspending"
    assert _servers(service, lease_id) != "none"
    assert "could not be suspended" in _told(service, lease_id)[-1]["reason"]
    if restarted:
        service.restart()
        service.clock.jump(300)
        assert service.view(reserved)["state"] == "active"
    service.cloud._behaviour = CloudBehaviour()
    assert wait_until(lambda: _is_saved(service, lease_id), _LIMIT), service.view(lease_id)
    assert _servers(service, lease_id) == "saved"
    assert wait_until(lambda: _is_whole(service, reserved), _LIMIT), service.view(reserved)


def _is_saved(service: Service, lease_id: str) -> bool:
    service.clock.jump(60)
    return str(service.view(lease_id)["state"]).startswith("suspended-")


def _is_whole(service: Service, lease_id: str) -> bool:
    service.clock.jump(60)
    return not service.view(lease_id)["degraded"]
