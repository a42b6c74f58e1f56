"""The history of a lease gives reasons that reveal nothing about other projects except that they exist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

_LIMIT = 60


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, "constant", {})
    yield made
    made.close()


@pytest.mark.parametrize(("project", "whose"), [("other", "another"), (None, "the same")])
def test_every_transition_has_a_reason_and_a_victim_is_told_for_what(
    service: Service, project: str | None, whose: str
) -> None:
    document = service.document(2, "best-effort", duration=4 * HOUR) | {"preemptible": True}
    lease_id = str(service.leases.create({}, document)["lease_id"])
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    start = service.clock.now() + 1_800
    asked = service.document(2, start=start, end=start + HOUR)
    if project is not None:
        asked |= {"project_id": project}
    reserved = str(service.leases.create({}, asked)["lease_id"])
    service.clock.jump(1_800)
    assert wait_until(service.is_in(reserved, "active"), _LIMIT)
    service.leases.delete({}, reserved, "asked for")
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    history = [*service.reader.history(lease_id), *service.reader.history(reserved)]
    assert all(row["reason"] for row in history), history
    (why,) = [row["reason"] for row in history if row["to"] == "suspending"]
    assert why == f"suspended for a reservation of {whose} project"
    assert not any(reserved in row["reason"] for row in service.reader.history(lease_id))


def test_a_move_is_in_the_history_with_its_cause(service: Service) -> None:
    """The lease is on one of two hosts, which then goes into maintenance."""
    later = service.clock.now() + HOUR
    document = service.document(1, start=later, end=later + HOUR)
    lease_id = str(service.leases.create({"sees_site": True}, document)["lease_id"])
    (old,) = service.view(lease_id)["reservations"][0]["hosts"]
    service.leases.move({"sees_site": True}, lease_id, [old])
    (new,) = service.view(lease_id)["reservations"][0]["hosts"]
    row = service.reader.history(lease_id)[-1]
    assert (row["from"], row["to"]) == (service.view(lease_id)["state"],) * 2
    assert row["reason"].startswith("moved: ")
    assert row["reason"].endswith(f"(from compute-{old} to compute-{new})")
