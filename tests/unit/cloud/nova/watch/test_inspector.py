"""When the inspector checks the cloud, what it reports, and that no error stops it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, cast

import pytest

from lease_scheduler.cloud.nova.api.edits import Edits
from lease_scheduler.cloud.nova.api.inventories import Inventories
from lease_scheduler.cloud.nova.repair.strangers import Strangers
from lease_scheduler.cloud.nova.watch.inspector import Inspector
from lease_scheduler.cloud.observations import AggregateChange, Stranger
from tests.servers.base import wait_until
from tests.unit.cloud.nova.fakes import FakeNova, FakePlacement, aggregate, server
from tests.unit.cloud.nova.sinks import RecordingSink

_LIMIT = 30.0
_NODES = {"service1": "node1"}
_SAID = {
    "lease__id": "lease",
    "lease__project_id": "physics",
    "lease__exclusive": "true",
    "lease__from": "0",
    "lease__until": str(2**33),
}


class Inspection:
    """An inspector of one host, which a lease has, and its reports.

    :param interval: real seconds between two inspections
    """

    def __init__(self, interval: float) -> None:
        self.nova, self.placement = FakeNova(), FakePlacement("node1")
        self.nova.made = [aggregate(1, "lease-lease", ["service1"], **_SAID)]
        placement = cast(Any, self.placement)
        self.inspector = Inspector(
            self.nova,
            Inventories(placement, placement, lambda: ["node1"]),
            Edits(self.nova, lambda: _NODES, "freepool"),
            Strangers(self.nova, lambda: _NODES),
            interval,
        )
        self.told: list[Any] = []
        self.refusals = 0

    def start(self) -> None:
        self.inspector.start(RecordingSink(on_hosts=self.note, on_aggregate=self.note, on_stranger=self.note))
        assert wait_until(lambda: self.nova.count("aggregates") > 0, _LIMIT)

    def note(self, what: Any) -> None:
        if self.refusals:
            self.refusals -= 1
            raise ValueError("not now")
        self.told.append(what)

    def is_told(self, what: Any) -> bool:
        return wait_until(lambda: what in self.told, _LIMIT)


@pytest.fixture
def inspection(request: pytest.FixtureRequest) -> Iterator[Inspection]:
    found = Inspection(request.param)
    yield found
    found.inspector.stop()


_often = pytest.mark.parametrize("inspection", [0.02], indirect=True)
_seldom = pytest.mark.parametrize("inspection", [3_600], indirect=True)

_FORCED = Stranger("forced", "lease", "node1", "biology")


@_often
def test_looks_now_and_then(inspection: Inspection, caplog: pytest.LogCaptureFixture) -> None:
    inspection.start()
    assert inspection.is_told(frozenset({"node1"}))
    inspection.nova.present = [server("forced", "service1", tags=["lease:other"])]
    # As if it had just been added.
    inspection.nova.made = [aggregate(2, "lease-lease", ["service1"], **_SAID)]
    assert inspection.is_told(_FORCED)
    assert "server forced of project biology is on host node1, which lease lease has for itself" in caplog.text
    inspection.nova.made = []
    assert inspection.is_told(AggregateChange("lease-lease", "lease", exists=False))
    inspection.told.clear()
    inspection.placement.totals["node1"] = 16
    inspection.placement.generations["node1"] += 1
    assert inspection.is_told(frozenset({"node1"}))


@_seldom
def test_looks_at_once_where_there_is_a_hint(inspection: Inspection) -> None:
    inspection.start()
    assert wait_until(lambda: inspection.nova.count("servers") == 1, _LIMIT)
    inspection.nova.present = [server("forced", "service1")]
    inspection.inspector.hint_at_host("service1")
    assert inspection.is_told(_FORCED)
    inspection.nova.made = [aggregate(1, "lease-lease", [], **_SAID)]
    inspection.inspector.hint_at_aggregate(1)
    assert wait_until(lambda: any(isinstance(what, AggregateChange) for what in inspection.told), _LIMIT)
    # Not everything is checked.
    assert inspection.nova.count("aggregates") == 1


class _Overdrafts:
    """Records when it is called, and fails at first."""

    def __init__(self) -> None:
        self.looks: list[str | None] = []

    def look(self, service: str | None) -> None:
        self.looks.append(service)
        if len(self.looks) == 1:
            raise ConnectionError("no Placement")


@_often
def test_what_was_given_away_twice_is_looked_for(inspection: Inspection) -> None:
    overdrafts = _Overdrafts()
    inspection.inspector.start(RecordingSink(on_inspection=overdrafts.look))
    assert wait_until(lambda: overdrafts.looks.count(None) > 1, _LIMIT)
    inspection.inspector.hint_at_host("service1")
    assert wait_until(lambda: "service1" in overdrafts.looks, _LIMIT)


@_seldom
def test_hints_that_lead_nowhere_stop_nothing(inspection: Inspection, caplog: pytest.LogCaptureFixture) -> None:
    inspection.start()
    assert wait_until(lambda: inspection.nova.count("servers") == 1, _LIMIT)
    inspection.nova.present = [server("forced", "service1")]
    with inspection.nova.failing("aggregate"):
        inspection.inspector.hint_at_host("service1")
        inspection.inspector.hint_at_aggregate(1)
        assert wait_until(lambda: caplog.text.count("could not be looked at") == 2, _LIMIT)
    inspection.inspector.hint_at_host("service1")
    assert inspection.is_told(_FORCED)


@_often
def test_services_that_do_not_answer(inspection: Inspection, caplog: pytest.LogCaptureFixture) -> None:
    """While Placement is away Nova is still checked, and the other way round."""
    inspection.start()
    assert inspection.is_told(frozenset({"node1"}))
    inspection.told.clear()
    inspection.placement.is_broken = True
    inspection.placement.generations["node1"] += 1
    inspection.nova.made = []
    assert inspection.is_told(AggregateChange("lease-lease", "lease", exists=False))
    with inspection.nova.failing("aggregates"):
        inspection.placement.is_broken = False
        assert inspection.is_told(frozenset({"node1"}))
        inspection.placement.generations["node1"] += 1
    assert "could not be looked at" in caplog.text


@_often
def test_who_cannot_be_told_hears_it_later(inspection: Inspection, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    inspection.refusals = 3
    inspection.start()
    assert inspection.is_told(frozenset({"node1"}))
    assert inspection.refusals == 0
