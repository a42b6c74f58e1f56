from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.rehearsal.disturbances import Disturbance
from lease_scheduler.rehearsal.invariants import lateness
from lease_scheduler.rehearsal.invariants.facts import (
    CloudFacts,
    Facts,
    HoldingFact,
    HostFact,
    LeaseFact,
    StayFact,
    TransitionFact,
)
from lease_scheduler.rehearsal.story import ToldLease

_HOSTS = {"1": HostFact("1", "compute-1", {})}
_START, _END = 10_000, 20_000


def _lease(state: str = "active", started: int | None = None, **values: Any) -> LeaseFact:
    holding = HoldingFact(_START, _START, _END, _END, ["1"])
    said = {"kind": "reservation", "ended": None, **values}
    return LeaseFact("l", "p", "work", state=state, holdings=[holding], requested_start=_START, started=started, **said)


def _facts(lease: LeaseFact, now: float = _START + 500, *disturbances: Disturbance, **values: Any) -> Facts:
    said = {"cloud": CloudFacts(), **values}
    return Facts(now, None, {"l": lease}, hosts=_HOSTS, disturbances=disturbances, **said)


@pytest.mark.parametrize(("seconds", "is_late"), [(0, False), (3, False), (4, True)])
def test_a_reservation_starts_when_it_was_promised(seconds: int, is_late: bool) -> None:
    assert bool(list(lateness.late_starts(_facts(_lease(started=_START + seconds))))) is is_late
    assert bool(list(lateness.late_starts(_facts(_lease("ready"), _START + seconds)))) is is_late


def test_what_was_asked_for_late_starts_late() -> None:
    late = _lease(started=_START + 50)
    assert not list(lateness.late_starts(_facts(_lease(started=_START + 50, submitted=_START + 49))))
    assert not list(lateness.late_starts(_facts(late, told={"l": ToldLease("l", "p", "work", _START + 48.0)})))
    assert list(lateness.late_starts(_facts(late)))


def test_only_a_disturbance_before_the_start_explains_that_it_is_late() -> None:
    late = _lease(started=_START + 100)
    before = Disturbance("rain", _START - 50, _START + 30)
    assert not list(lateness.late_starts(_facts(late, _START + 500, before)))
    assert list(lateness.late_starts(_facts(late, _START + 500, Disturbance("rain", _START - 500, _START - 90))))
    assert list(lateness.late_starts(_facts(late, _START + 500, Disturbance("rain", _START + 101, _START + 200))))


@pytest.mark.parametrize(("what", "seconds"), [("rain", 123), ("database-away", 8), ("broker-away", 8)])
def test_what_became_due_during_a_fault_is_done_soon_after_it(what: str, seconds: int) -> None:
    fault = Disturbance(what, _START - 50, _START + 30)
    in_time, late = (_lease(started=_START + 30 + each) for each in (seconds, seconds + 1))
    assert not list(lateness.late_starts(_facts(in_time, _START + 500, fault)))
    assert list(lateness.late_starts(_facts(late, _START + 500, fault)))
    # Others that go on at the same time take their time.
    rain = Disturbance("rain", _START, _START + 30)
    assert not list(lateness.late_starts(_facts(in_time, _START + 500, fault, rain)))


def test_what_happens_on_another_host_explains_only_leases_that_moved() -> None:
    late, elsewhere = _lease(started=_START + 100), Disturbance("down", _START - 50, _START + 90, "compute-2")
    assert list(lateness.late_starts(_facts(late, _START + 500, elsewhere)))
    moved = [TransitionFact("l", _START - 10, "ready", "ready", "moved: planned anew")]
    assert not list(lateness.late_starts(_facts(late, _START + 500, elsewhere, history=moved)))


def test_a_lease_ends_when_it_was_promised() -> None:
    assert not list(lateness.late_ends(_facts(_lease(), _END + 60)))
    assert list(lateness.late_ends(_facts(_lease(), _END + 61)))
    assert not list(lateness.late_ends(_facts(_lease(), _END + 61, Disturbance("rain", _END, _END + 10))))
    assert not list(lateness.late_ends(_facts(_lease("done"), _END + 61)))


def test_a_promised_lease_fails_only_if_something_goes_wrong() -> None:
    history = [TransitionFact("l", _START, "ready", "failed", "no host")]
    assert list(lateness.failed(_facts(_lease("failed"), history=history)))
    rain = Disturbance("rain", _START - 3_000, _START - 2_900)
    assert not list(lateness.failed(_facts(_lease("failed"), _START + 500, rain, history=history)))
    assert not list(lateness.failed(_facts(_lease("failed", kind="best-effort"), history=history)))


def test_servers_that_had_to_leave_take_time() -> None:
    def found(seconds: int, seen: float, lease_id: str) -> list[Any]:
        cloud = CloudFacts(seen={("compute-1", lease_id): seen})
        return list(lateness.late_starts(_facts(_lease(started=_START + seconds), cloud=cloud)))

    assert not found(60, _START - 10.0, "")
    assert found(61, _START - 10.0, "")
    assert found(4, _START - 130.0, "")
    assert found(4, _START - 10.0, "l")


@pytest.mark.parametrize(
    ("seconds", "left_at", "before", "after", "is_late"),
    [
        (60, 30, "active", "done", False),
        (61, 30, "active", "done", True),
        (60, 30, "suspending", "suspended-pending", False),
        # It has left before, it has never been there, or it is still there.
        (4, -1, "active", "done", True),
        (60, 30, "pending", "rejected", True),
        (60, 30, "active", "suspending", True),
    ],
)
def test_one_that_follows_a_late_lease_starts_late(
    seconds: int, left_at: int, before: str, after: str, is_late: bool
) -> None:
    history = [TransitionFact("other", _START + left_at, before, after)]
    stay = StayFact("other", _START - 500, _START + left_at, ["1"])
    facts = _facts(_lease(started=_START + seconds), history=history, stays=[stay])
    assert bool(list(lateness.late_starts(facts))) is is_late


def test_a_late_lease_elsewhere_explains_only_leases_that_moved() -> None:
    history = [TransitionFact("other", _START + 30, "active", "done")]
    stay = StayFact("other", _START - 500, _START + 30, ["2"])
    assert list(lateness.late_starts(_facts(_lease(started=_START + 40), history=history, stays=[stay])))
    history.append(TransitionFact("l", _START - 10, "ready", "ready", "moved: planned anew"))
    assert not list(lateness.late_starts(_facts(_lease(started=_START + 40), history=history, stays=[stay])))


def test_the_simulated_cloud_takes_time_to_boot() -> None:
    assert not list(lateness.late_starts(_facts(_lease(started=_START + 120), cloud=None)))
    assert list(lateness.late_starts(_facts(_lease(started=_START + 121), cloud=None)))


def test_servers_anywhere_explain_it_once_the_hosts_of_then_are_not_known() -> None:
    cloud = CloudFacts(seen={("compute-2", "other"): float(_START)})
    here = _lease(started=_START + 50)
    assert list(lateness.late_starts(_facts(here, cloud=cloud)))
    over = replace(_lease("done", started=_START + 50), holdings=[])
    assert not list(lateness.late_starts(_facts(over, cloud=cloud)))
    moved = [TransitionFact("l", _START - 1, "ready", "ready", "moved: planned anew")]
    assert not list(lateness.late_starts(_facts(here, cloud=cloud, history=moved)))
