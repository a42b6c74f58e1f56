from __future__ import annotations

from lease_scheduler.guest.controllers.base import renewals, unused
from lease_scheduler.guest.values import End, Extend, Holding, Limits

_LIMITS = Limits(nodes=8, term=600, lookahead=60)


def _holding(name: str, **values: object) -> Holding:
    return Holding(name, **{"units": 2, "free": 0, "busy": 1, "term": 600, "seconds": 600, "end": 1_000, **values})  # type: ignore[arg-type]


def test_a_lease_is_renewed_by_its_term_when_its_end_is_near() -> None:
    """Shirako A5 and F36: length of the previous term, nothing else changes."""
    near, extended = _holding("near"), _holding("extended", seconds=1_200)
    needed = frozenset({"near", "extended"})
    assert list(renewals([near, extended], needed, _LIMITS, 939)) == []
    assert list(renewals([near, extended], needed, _LIMITS, 940)) == [Extend("near", 1_200), Extend("extended", 1_800)]


def test_leases_that_are_not_needed_leave_or_have_not_started_are_not_renewed() -> None:
    others = [_holding("free"), _holding("leaving", is_leaving=True), _holding("waiting", end=None)]
    assert list(renewals(others, frozenset({"leaving", "waiting"}), _LIMITS, 990)) == []


def test_nothing_is_renewed_if_leases_are_not_renewable() -> None:
    limits = Limits(nodes=8, term=600, lookahead=60, is_renewable=False)
    assert list(renewals([_holding("near")], frozenset({"near"}), limits, 990)) == []


def test_only_a_lease_without_nodes_in_use_is_ended() -> None:
    holdings = [_holding("idle", free=2, busy=0), _holding("half", free=1), _holding("kept", free=2, busy=0)]
    assert list(unused(holdings, frozenset({"kept"}))) == [End("idle")]
