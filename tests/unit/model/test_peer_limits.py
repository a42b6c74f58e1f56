"""Limits of peers as values."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.peer_limits import PeerLimits, peer_limits_of


@pytest.mark.parametrize(
    "limits",
    [PeerLimits(), PeerLimits(frozenset(), 0, 0.0, 0.0, 0, 0.0), PeerLimits(frozenset(LeaseKind), 3, 0.5, 2.5, 1, 9.0)],
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
