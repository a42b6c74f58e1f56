from __future__ import annotations

from lease_scheduler.guest.controllers.static import Static
from lease_scheduler.guest.values import Ask, Extend, Holding, Job, Limits

_LIMITS = Limits(nodes=4, term=600, lookahead=60)


def test_all_nodes_are_asked_for_at_once_whatever_waits() -> None:
    """Shirako A42: one lease of all nodes."""
    assert Static(_LIMITS).decide([], [], 0) == [Ask(4, 600)]
    assert Static(_LIMITS).decide([Job("1", 9)], [Holding("a", 4, 4, 0, 600, 600)], 0) == []


def test_what_was_lost_is_asked_for_again_and_idle_leases_are_renewed() -> None:
    assert Static(_LIMITS).decide([], [Holding("a", 3, 3, 0, 600, 600, end=50)], 0) == [Extend("a", 1_200), Ask(1, 600)]
