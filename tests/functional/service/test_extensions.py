"""Extensions as the service counts, refuses and quotes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg

from lease_scheduler.cmd.enforcement import filters
from lease_scheduler.conf import opts
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.records.extensions import Extensions
from tests.functional.lease_document import lease_document
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """``make(**options)``: a service of two hosts with the filter of extensions; the options lack their prefix."""
    made: list[Service] = []

    def one(**values: Any) -> Service:
        conf = cfg.ConfigOpts()
        opts.register(conf)
        conf([], project="lease-scheduler", default_config_files=[])
        conf.set_override("enabled_filters", ["ExtensionFilter"], group="enforcement")
        for name, value in values.items():
            conf.set_override(f"extension_{name}", value, group="enforcement")
        made.append(Service(tmp_path, "free", {}, filters=filters(conf)))
        return made[-1]

    yield one
    for service in made:
        service.close()


def _reservation(service: Service, ahead: int = HOUR, duration: int = 10 * HOUR, **terms: Any) -> tuple[str, int]:
    """Return the id and the end of a new lease of one host."""
    start = service.clock.now() + ahead
    document = lease_document("r", "reservation", terms.pop("count", 1), start=start, end=start + duration, **terms)
    return service.leases.create({}, document)["lease_id"], start + duration


def _refused(service: Service, lease_id: str, changes: dict[str, Any]) -> RefusedError:
    """Return the refusal of a change, which its quote has too, and which leaves the lease as it was."""
    before = service.site.work.documents[lease_id].extensions
    with pytest.raises(RefusedError) as quoted:
        service.quotes.quote_change({}, lease_id, changes)
    with pytest.raises(RefusedError) as caught:
        service.leases.update({}, lease_id, changes)
    assert (quoted.value.message, quoted.value.alternatives) == (caught.value.message, caught.value.alternatives)
    assert service.site.work.documents[lease_id].extensions == before
    return caught.value


def test_extensions_are_counted_and_the_count_survives_what_a_project_may_do(make: Make) -> None:
    service = make(max_count=2)
    lease_id, end = _reservation(service)
    service.leases.update({}, lease_id, {"end": end + HOUR})
    # Shortening, another name and the same end once more are no extensions, and take none back.
    service.leases.update({}, lease_id, {"end": end})
    service.leases.update({}, lease_id, {"name": "another name"})
    service.leases.update({}, lease_id, {"end": end})
    service.restart()
    assert service.site.work.documents[lease_id].extensions == Extensions(1, HOUR, 11 * HOUR)
    assert service.quotes.quote_change({}, lease_id, {"end": end + HOUR})["granted"]
    service.leases.update({}, lease_id, {"end": end + HOUR})
    error = _refused(service, lease_id, {"end": end + HOUR + 60})
    assert (error.code, error.field) == (403, "end_date")
    assert "extension_max_count" in error.message
    service.leases.update({"roles": ["admin"]}, lease_id, {"end": end + 2 * HOUR})
    assert service.site.work.documents[lease_id].extensions.count == 3


def test_a_change_that_is_refused_or_not_written_does_not_count(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    service = make(max_count=1)
    lease_id, end = _reservation(service, count=2)
    _reservation(service, 12 * HOUR, count=2)
    with pytest.raises(RefusedError) as caught:
        service.leases.update({}, lease_id, {"end": end + 5 * HOUR})
    assert caught.value.code == 409, "there is no place"
    monkeypatch.setattr(service.site.store, "commit", _fail)
    with pytest.raises(EngineUnavailableError):
        service.leases.update({}, lease_id, {"end": end + 1_800})
    monkeypatch.undo()
    service.restart()
    assert service.site.work.documents[lease_id].extensions == Extensions()
    service.leases.update({}, lease_id, {"end": end + 1_800})


def _fail(changes: object) -> int:
    raise OSError("the database is away")


def test_a_move_is_judged_by_what_it_adds(make: Make) -> None:
    service = make(max_total_time=HOUR)
    lease_id, end = _reservation(service)
    start = end - 10 * HOUR
    service.leases.update({}, lease_id, {"start": start + 20 * HOUR, "end": end + 20 * HOUR})
    assert service.site.work.documents[lease_id].extensions == Extensions()
    error = _refused(service, lease_id, {"start": start + 30 * HOUR, "end": end + 32 * HOUR})
    assert "1 h may be added now, not 2 h" in error.message
    service.leases.update({}, lease_id, {"start": start + 30 * HOUR, "end": end + 31 * HOUR})
    assert service.site.work.documents[lease_id].extensions.count == 1
    # An earlier start makes it longer as well.
    assert "not 1 h" in _refused(service, lease_id, {"start": start + 29 * HOUR}).message


def test_a_shorter_extension_is_an_alternative_only_if_it_would_be_granted(make: Make) -> None:
    service = make(max_time=2 * HOUR)
    lease_id, end = _reservation(service, count=2)
    error = _refused(service, lease_id, {"end": end + 3 * HOUR})
    (found,) = error.alternatives
    wanted = {"change": "duration", "start": end - 10 * HOUR, "end": end + 2 * HOUR, "count": 2, "preempted": {}}
    assert found == wanted
    _reservation(service, 12 * HOUR, project_id="other", count=2)
    assert _refused(service, lease_id, {"end": end + 3 * HOUR}).alternatives == ()
    best_effort = service.leases.create({}, lease_document("b", "best-effort", 1, duration=10))["lease_id"]
    error = _refused(service, best_effort, {"duration": 4 * HOUR})
    assert error.field == "duration"


def test_shortening_does_not_bring_the_window_nearer(make: Make) -> None:
    service = make(window=2 * HOUR)
    lease_id, end = _reservation(service)
    assert "begin in 9 h" in _refused(service, lease_id, {"end": end + HOUR}).message.replace("8 h 59", "9 h")
    service.leases.update({}, lease_id, {"end": end - 8 * HOUR})
    assert "latest end" in _refused(service, lease_id, {"end": end}).message
    second, end = _reservation(service, 60, 3 * HOUR)
    service.clock.jump(HOUR + 120)
    service.leases.update({}, second, {"end": end + HOUR})


def test_leases_of_other_projects_that_wait_are_not_made_to_wait_longer(make: Make) -> None:
    service = make(refused_for="waiting")
    lease_id, end = _reservation(service, 60, HOUR, count=2)
    own = service.leases.create({}, lease_document("b", "best-effort", 2, duration=2 * HOUR))
    service.leases.update({}, lease_id, {"end": end + 60})
    service.leases.delete({}, own["lease_id"], "")
    service.leases.create({}, lease_document("b", "best-effort", 2, duration=2 * HOUR, project_id="other"))
    # It fills the minute before the reservation, and waits for hosts for the rest.
    assert "and 1 of them wait" in _refused(service, lease_id, {"end": end + 2 * HOUR}).message


def test_leases_of_other_projects_do_not_lose_their_places(make: Make) -> None:
    service = make(refused_for="delayed", max_time=4 * HOUR)
    lease_id, end = _reservation(service, 2, HOUR, count=2)
    assert wait_until(lambda: service.site.work.leases[lease_id].active_since is not None, 30)
    waiting = lease_document("b", "best-effort", 2, duration=2 * HOUR, project_id="other")
    other = service.leases.create({}, waiting)["lease_id"]
    assert service.site.work.leases[other].holdings[0].start >= end
    assert "would delay 1" in _refused(service, lease_id, {"end": end + 2 * HOUR}).message
    # A shorter extension would delay it as well, and so is no alternative.
    assert _refused(service, lease_id, {"end": end + 5 * HOUR}).alternatives == ()
    service.leases.delete({}, other, "")
    service.leases.update({}, lease_id, {"end": end + 2 * HOUR})


def test_an_offer_that_is_countered_was_not_extended(make: Make) -> None:
    service = make(max_count=0)
    start = service.clock.now() + HOUR
    asked = lease_document("r", "reservation", 1, start=start, end=start + HOUR)
    lease_id = service.leases.offer({}, asked)["lease_id"]
    service.offers.counter({}, lease_id, {"end": start + 2 * HOUR})
    service.offers.accept({}, lease_id)
    assert wait_until(lambda: service.site.work.leases[lease_id].state.value == "ready", 30)
    assert service.site.work.documents[lease_id].extensions == Extensions()
    assert "leases may not be extended" in _refused(service, lease_id, {"end": start + 3 * HOUR}).message
