"""The clock is set, or the machine sleeps, while the planner waits for what is due."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

#: Seconds within which the planner must have noticed. It checks every 2 s; the rest is for a busy machine.
_NOTICED = 5.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """The engine of two hosts; only the clock wakes it."""
    made = Service(tmp_path, "constant", {})
    yield made
    made.close()


def test_what_is_due_after_a_jump_forward_begins_and_ends(service: Service) -> None:
    """A reservation in an hour; the clock jumps to its start, and then to its end."""
    lease_id = str(service.leases.create({}, service.document())["lease_id"])
    for state in ("active", "done"):
        # Everything has settled, so that the planner waits.
        time.sleep(1.0)
        service.clock.jump(HOUR + 1)
        assert wait_until(service.is_in(lease_id, state), _NOTICED), service.view(lease_id)


def test_after_a_jump_back_what_was_promised_lasts_as_long_as_the_clock_says(service: Service) -> None:
    """Nothing ends early or twice; a new lease starts at once, and the others continue."""
    running = service.document(start=service.clock.now(), end=service.clock.now() + 2 * HOUR)
    first = str(service.leases.create({}, running)["lease_id"])
    assert wait_until(service.is_in(first, "active"), _NOTICED)
    end = service.view(first)["end"]
    service.clock.jump(-HOUR)
    time.sleep(3.0)
    assert (service.view(first)["state"], service.view(first)["end"]) == ("active", end)
    now = service.clock.now()
    second = str(service.leases.create({}, service.document(start=now, end=now + 2 * HOUR))["lease_id"])
    assert wait_until(service.is_in(second, "active"), _NOTICED)
    service.clock.jump(4 * HOUR)
    for lease_id in (first, second):
        assert wait_until(service.is_in(lease_id, "done"), _NOTICED), service.view(lease_id)


def test_a_duration_from_now_counts_from_when_the_engine_gets_it(service: Service) -> None:
    """The API determines the present instant shortly before that."""
    said = service.clock.now()
    document = service.document(start=said - 7, end=said - 7 + HOUR, duration=HOUR)
    view = service.view(str(service.leases.create({}, document)["lease_id"]))
    assert view["end"] - view["start"] == HOUR
    assert view["start"] >= said


def test_a_change_to_now_delivers_all_of_the_duration(service: Service) -> None:
    """As at the request: the engine gets it a little later than the present instant that it names."""
    lease_id = str(service.leases.create({}, service.document())["lease_id"])
    said = service.clock.now()
    service.leases.update({}, lease_id, {"start": said - 7, "end": said - 7 + HOUR, "duration": HOUR})
    view = service.view(lease_id)
    assert view["end"] - view["start"] == HOUR
    assert view["start"] >= said
    # A running lease keeps the end that the change sets.
    assert wait_until(service.is_in(lease_id, "active"), _NOTICED)
    service.leases.update({}, lease_id, {"end": view["end"] + 60})
    assert service.view(lease_id)["end"] == view["end"] + 60
