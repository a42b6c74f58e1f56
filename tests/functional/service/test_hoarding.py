"""Bounds on what a project can withhold from others without paying for it or accepting it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.options.service import service_options
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.service.requests.enforcement.bounds import Bounds
from tests.functional.lease_document import lease_document
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

_DAY = 24 * HOUR
_YEAR = 366 * _DAY
Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """``make(bounds)``: a service of two hosts, with the default bounds unless others are given."""
    made: list[Service] = []

    def one(bounds: Bounds | None = None, **options: Any) -> Service:
        given = (
            service_options(configuration.load([], {("service", "cloud"): "simulated"}, find_files=False)).bounds
            if bounds is None
            else bounds
        )
        made.append(Service(tmp_path, "free", {}, bounds=given, **options))
        return made[-1]

    yield one
    for service in made:
        service.close()


def _reservation(service: Service, ahead: int, duration: int, count: int = 2, **terms: Any) -> dict[str, Any]:
    start = service.clock.now() + ahead
    return lease_document("r", "reservation", count, start=start, end=start + duration, **terms)


def _shown(service: Service, lease_id: str) -> dict[str, Any]:
    view = service.reader.lease(lease_id)
    assert view is not None
    return dict(view)


def _refused(service: Service, make: Callable[..., Any], *arguments: Any) -> str:
    with pytest.raises(RefusedError) as caught:
        make({}, *arguments)
    assert caught.value.code == 403
    return caught.value.message


def test_a_project_does_not_hold_the_cloud_for_years_by_offers(make: Make) -> None:
    """Twelve offers of a year each, one after the other, renewed whenever they expire."""
    service = make()
    held = []
    for year in range(12):
        try:
            held.append(service.leases.offer({}, _reservation(service, _DAY + year * _YEAR, _YEAR))["lease_id"])
        except RefusedError as error:
            assert error.code == 403
    assert len(held) == 1, "what starts more than a year ahead is not held"

    # It is requested again whenever it expires.
    seconds = 0
    for _ in range(2 * _DAY // 300):
        service.clock.jump(300)
        seconds += 300
        with service.site.transaction():
            pass
        try:
            service.leases.offer({}, _reservation(service, _DAY, _YEAR))
        except RefusedError as error:
            assert "max_unaccepted_time" in error.message
            break
    assert seconds <= 7_200, "after two hours it is over for the day"
    other = _reservation(service, _DAY, HOUR, project_id="other")
    service.site.engine.step()
    assert wait_until(lambda: not [v for v in service.reader.leases({}) if v["offered_until"] is not None], 30)
    assert service.leases.offer({}, other)["granted"], "others may hold offers, and the cloud is theirs again"


def test_what_was_held_in_vain_is_remembered_over_restarts_and_for_a_day(make: Make) -> None:
    service = make(Bounds(max_unaccepted_time=100))
    for _ in range(2):
        lease_id = service.leases.offer({}, _reservation(service, _DAY, HOUR))["lease_id"]
        service.clock.jump(60)
        service.leases.delete({}, lease_id, "")
    service.restart()
    assert "max_unaccepted_time" in _refused(service, service.leases.offer, _reservation(service, _DAY, HOUR))
    # A quote that holds nothing, and the lease itself, are granted.
    assert service.quotes.quote({}, _reservation(service, _DAY, HOUR))["granted"]
    service.leases.create({}, _reservation(service, _DAY, HOUR, 1))
    service.clock.jump(_DAY)
    assert service.leases.offer({}, _reservation(service, 2 * _DAY, HOUR))["granted"]


def test_accepted_offers_are_not_held_against_anybody(make: Make) -> None:
    service = make(Bounds(max_unaccepted_time=100))
    for number in range(3):
        ahead = _DAY + number * 2 * HOUR
        lease_id = service.leases.offer({}, _reservation(service, ahead, HOUR))["lease_id"]
        service.clock.jump(60)
        service.offers.accept({}, lease_id)
        assert _shown(service, lease_id)["state"] == "ready"


def test_offers_at_the_same_time(make: Make) -> None:
    """Counter-offers are held too, and count; another project has bounds of its own."""
    service = make(Bounds(max_held_offers=3))
    service.leases.create({}, _reservation(service, _DAY, HOUR, project_id="other"))
    wanted = {**_reservation(service, _DAY, HOUR), "counter_offers": 3, "flexibility": {"latest_start": 2**40}}
    found = len(service.negotiations.offer({}, wanted)["counter_offers"])
    assert 0 < found <= 3
    for number in range(3 - found):
        service.leases.offer({}, _reservation(service, (3 + number) * _DAY, HOUR))
    assert "max_held_offers" in _refused(service, service.leases.offer, _reservation(service, 9 * _DAY, HOUR))
    service.leases.offer({}, _reservation(service, 9 * _DAY, HOUR, project_id="other"))


def test_a_lease_without_a_duration_has_an_end(make: Make) -> None:
    """The longest allowed time, and the project can see it."""
    service = make()
    lease_id = service.leases.create({}, lease_document("b", "best-effort"))["lease_id"]
    assert _shown(service, lease_id)["duration"] == _YEAR
    explicit = lease_document("i", "immediate", duration=UNLIMITED)
    assert _shown(service, service.leases.create({}, explicit)["lease_id"])["duration"] == _YEAR


def test_bounds_of_time(make: Make) -> None:
    service = make(Bounds(max_duration=10 * HOUR, max_lead_time=_DAY, exempt=frozenset({"vip"})))
    create = service.leases.create
    assert "max_duration" in _refused(service, create, _reservation(service, HOUR, 11 * HOUR))
    assert "max_lead_time" in _refused(service, create, _reservation(service, _DAY + HOUR, HOUR))
    late = lease_document("d", "deadline", duration=HOUR, deadline=service.clock.now() + _DAY + 11 * HOUR)
    assert "deadline" in _refused(service, create, late)
    assert "max_duration" in _refused(service, service.quotes.quote, _reservation(service, HOUR, 11 * HOUR))
    create({}, _reservation(service, 30 * _DAY, 11 * HOUR, project_id="vip"))
    maintenance = _reservation(service, 60 * _DAY, 90 * HOUR, maintenance=True)
    nodes = [{"count": 1, "resources": {}, "exclusive": True, "hosts": ["compute-1"]}]
    maintenance["reservations"] = [{"id": str(uuid4()), "resource_type": "nodes", "nodes": nodes}]
    create({}, maintenance)
    lease_id = create({}, _reservation(service, 2 * HOUR, 9 * HOUR))["lease_id"]
    end = _shown(service, lease_id)["end"]
    assert "max_duration" in _refused(service, service.leases.update, lease_id, {"end": end + 2 * HOUR})
    service.leases.update({}, lease_id, {"end": end + HOUR})
    moved = {"start": service.clock.now() + 2 * _DAY, "end": service.clock.now() + 2 * _DAY + HOUR}
    assert "max_lead_time" in _refused(service, service.leases.update, lease_id, moved)


def test_a_bound_that_was_lowered_lets_leases_become_less(make: Make) -> None:
    service = make(Bounds())
    lease_id = service.leases.create({}, _reservation(service, 3 * _DAY, 9 * HOUR))["lease_id"]
    end = _shown(service, lease_id)["end"]
    lower = replace(service.site.options, bounds=Bounds(max_duration=HOUR, max_lead_time=HOUR))
    service.site.take_over(lower)
    service.leases.update({}, lease_id, {"end": end - HOUR})
    assert _shown(service, lease_id)["end"] == end - HOUR
