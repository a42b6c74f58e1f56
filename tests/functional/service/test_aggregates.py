"""Reservations of servers show the aggregate with their hosts from the start on, as in Blazar's API v1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.api.microversions import V1_0
from lease_scheduler.api.views.lease import show_lease
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

LIMIT = 20.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, "free", {})
    yield made
    made.close()


def _reservation(service: Service, lease_id: str) -> dict[str, Any]:
    view = service.reader.lease(lease_id, deleted=True)
    assert view is not None
    (shown,) = show_lease(dict(view), V1_0, with_hosts=False, now=0)["reservations"]
    return dict(shown)


def _is_in(service: Service, lease_id: str, state: str) -> bool:
    view = service.reader.lease(lease_id, deleted=True)
    return view is not None and view["state"] == state


def test_it_is_known_from_the_start_on(service: Service) -> None:
    now = service.clock.now()
    document = service.document(start=now + HOUR, end=now + 2 * HOUR)
    lease_id = str(service.leases.create({}, document)["lease_id"])
    assert _reservation(service, lease_id)["aggregate_id"] is None
    service.clock.jump(HOUR)
    assert wait_until(lambda: _is_in(service, lease_id, "active"), LIMIT)
    (reservation_id,) = (each["id"] for each in document["reservations"])
    made = service.cloud.aggregates.aggregate_ids(lease_id, [reservation_id])[reservation_id]
    assert _reservation(service, lease_id)["aggregate_id"] == made
    service.restart()
    # A change of the lease leaves it as it is.
    service.leases.update({}, lease_id, {"name": "another name", "end": now + 3 * HOUR})
    assert _reservation(service, lease_id)["aggregate_id"] == made
    service.clock.jump(3 * HOUR)
    assert wait_until(lambda: _is_in(service, lease_id, "done"), LIMIT)
    assert _reservation(service, lease_id)["aggregate_id"] == made


def test_hosts_have_none(service: Service) -> None:
    document = service.document(kind="immediate", start=None, end=None, duration=HOUR)
    (reservation,) = document["reservations"]
    hosts = {"id": reservation["id"], "resource_type": "physical:host", "min": 1, "max": 1}
    terms = {**hosts, "hypervisor_properties": "", "resource_properties": "", "before_end": "default"}
    lease_id = str(service.leases.create({}, {**document, "reservations": [terms]})["lease_id"])
    assert wait_until(lambda: _is_in(service, lease_id, "active"), LIMIT)
    assert "aggregate_id" not in _reservation(service, lease_id)
