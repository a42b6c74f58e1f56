"""Limits of peers as values."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.peer_limits import PeerLimits, peer_limits_of


@pytest.mark.parametrize(
    "limits",
    [
        PeerLimits(),
        PeerLimits(frozenset(), 0, 0.0, 0.0, 0, 0.0, frozenset({"red", "blue"})),
        PeerLimits(frozenset(LeaseKind), 3, 0.5, 2.5, 1, 9.0, None),
    ],
)
def test_they_are_the_same_after_they_were_stored(limits: PeerLimits) -> None:
    assert peer_limits_of(limits.plain()) == limits


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"kinds": ["rent"]}, "kinds"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"max_share": 1.1}, "max_share"),
        ({"max_node_hours": float("nan")}, "max_node_hours"),
        ({"max_cost": float("inf")}, "max_cost"),
    ],
)
def test_wrong_ones_are_refused_with_their_name(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        peer_limits_of(values)
    assert error.value.field == field


def test_a_peer_leases_for_the_named_projects_only() -> None:
    assert not peer_limits_of({"max_nodes": 3}).may_lease_for("red")
    some = peer_limits_of({"projects": ["red"]})
    assert some.may_lease_for("red")
    assert not some.may_lease_for("blue")
    assert not some.may_lease_for("")
    assert peer_limits_of({"projects": "all"}).may_lease_for("blue")
