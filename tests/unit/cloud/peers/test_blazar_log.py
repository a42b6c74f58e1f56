"""Transitions that follow from looking at the leases of Blazar again and again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.cloud.peers import blazar_log
from lease_scheduler.cloud.peers.blazar_log import BlazarLog
from lease_scheduler.federation.members import Events
from lease_scheduler.model.states import TRANSITIONS, LeaseState


def _lease(name: str, status: str) -> dict[str, Any]:
    dates = {"start_date": "2027-01-15T08:00:00.000000", "end_date": "2027-01-15T09:00:00.000000"}
    return {"name": name, "status": status, "created_at": "2027-01-15 07:00:00", "updated_at": None, **dates}


_ORDER = ["PENDING", "STARTING", "ACTIVE", "TERMINATING", "TERMINATED"]


@given(st.lists(st.sampled_from(_ORDER), max_size=6), st.booleans(), st.booleans())
def test_whatever_is_missed_the_states_follow_each_other(statuses: list[str], is_ended: bool, is_deleted: bool) -> None:
    log = BlazarLog(lambda: 7)
    for status in sorted(statuses, key=_ORDER.index):
        log.follow([_lease("a", status)])
    if is_ended:
        log.end("a")
    if is_deleted:
        log.follow([])
    found = log.after(0)
    states = [each.state for each in found.transitions]
    assert all(after in TRANSITIONS[before] for before, after in pairwise(states))
    assert log.latest("a") == (found.transitions[-1] if states else None)
    assert log.after(found.latest) == Events(found.latest)


@pytest.mark.parametrize("status", ["CREATING", "UPDATING", "DELETING"])
def test_a_change_in_progress_is_no_state(status: str) -> None:
    log = BlazarLog(lambda: 7)
    log.follow([_lease("a", status)])
    assert log.latest("a") is None


def test_what_is_no_longer_remembered_is_reported_as_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blazar_log, "_MOST", 4)
    log = BlazarLog(lambda: 7)
    for number in range(6):
        log.follow([_lease(str(each), "PENDING") for each in range(number + 1)])
    assert log.after(1).since < 1
    assert log.after(1).transitions == ()
    kept = log.after(0)
    assert [each.lease_id for each in kept.transitions] == ["2", "3", "4", "5"]
    assert log.after(kept.latest - 1).transitions == kept.transitions[-1:]
    assert log.after(99) == Events(6)
    # The state of a lease that lives is known although its transition is not.
    found = log.latest("0")
    assert found is not None
    assert found.state is LeaseState.READY


def test_only_so_many_ends_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blazar_log, "_MOST", 2)
    log = BlazarLog(lambda: 7)
    for name in "abc":
        log.end(name)
    assert [log.has_ended(name) for name in "abc"] == [False, True, True]
