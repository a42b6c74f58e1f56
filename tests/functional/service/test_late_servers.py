"""Leases whose servers come up later than planned, and whose terms are changed all the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lease_scheduler.model.errors import RefusedError
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

#: Seconds that a boot takes, which is the lateness of a lease that starts at once.
_BOOT_TIME = 3

_LIMIT = 30.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """The engine of two hosts that take a while to boot."""
    made = Service(tmp_path, "constant", {}, boot_time=_BOOT_TIME)
    yield made
    made.close()


def _begun(service: Service, kind: str) -> tuple[str, int]:
    """Create a lease that starts at once; return its id and its end."""
    now = service.clock.now()
    times = {"start": now, "end": now + HOUR} if kind == "reservation" else {"duration": HOUR}
    document = service.document(kind=kind) | {"start": None, "end": None} | times
    lease_id = str(service.leases.create({}, document)["lease_id"])
    return lease_id, int(service.view(lease_id)["end"])


@pytest.mark.parametrize("kind", ["reservation", "immediate"])
@pytest.mark.parametrize("by", [600, -600])
def test_they_leave_at_the_end_that_is_asked_for(service: Service, kind: str, by: int) -> None:
    """Requested while its servers boot, and again when they run."""
    lease_id, end = _begun(service, kind)
    service.leases.update({}, lease_id, {"end": end + by})
    assert service.view(lease_id)["end"] == end + by
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    assert service.view(lease_id)["started"] >= end - HOUR + _BOOT_TIME
    service.leases.update({}, lease_id, {"end": end + 2 * by})
    assert service.view(lease_id)["end"] == end + 2 * by
    lease = service.site.engine.lease(lease_id)
    assert lease is not None
    assert lease.holdings[0].run_end == end + 2 * by


@pytest.mark.parametrize("kind", ["reservation", "immediate"])
def test_one_more_of_them_does_not_move_the_end(service: Service, kind: str) -> None:
    lease_id, end = _begun(service, kind)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    (reservation,) = service.view(lease_id)["reservations"]
    service.leases.update({}, lease_id, {"reservations": [{"id": reservation["id"], "amount": 2}]})
    assert service.view(lease_id)["end"] == end
    lease = service.site.engine.lease(lease_id)
    assert lease is not None
    assert (len(lease.holdings[0].assignment), lease.holdings[0].run_end) == (2, end)


def test_start_and_deadline_of_a_lease_may_move(service: Service) -> None:
    """Its start may move until it has started, and its deadline also while servers boot."""
    now = service.clock.now()

    def ask(start: int) -> str:
        document = service.document(kind="deadline", start=start, end=None, duration=600, deadline=now + HOUR)
        return str(service.leases.create({}, document)["lease_id"])

    waiting = ask(now + 1_800)
    service.leases.update({}, waiting, {"start": now + 2_400})
    view = service.view(waiting)
    assert (view["requested_start"], view["start"], view["duration"]) == (now + 2_400, now + 2_400, 600)
    lease_id = ask(now)
    service.clock.jump(1)
    service.leases.update({}, lease_id, {"deadline": now + 2 * HOUR})
    assert service.view(lease_id)["deadline"] == now + 2 * HOUR
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    with pytest.raises(RefusedError, match="the lease has started; its start cannot be changed"):
        service.leases.update({}, lease_id, {"start": now + HOUR})
