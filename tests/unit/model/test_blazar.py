"""Blazar's names of what a lease has."""

from __future__ import annotations

from uuid import UUID, uuid5

from hypothesis import given
from hypothesis.strategies import text

from lease_scheduler.model.blazar import events

_NAMESPACE = UUID("7c1d7a7e-6f38-4f0b-9a55-0f3b7f6e0a11")


@given(text(max_size=40))
def test_ids_of_events_are_those_that_clients_have_stored(lease_id: str) -> None:
    lease = dict.fromkeys(("started", "ended", "created_at", "updated_at")) | {"id": lease_id, "state": "active"}
    for event in events({**lease, "before_end": 5, "before_end_done": False}, 1, 10):
        assert event["id"] == str(uuid5(_NAMESPACE, f"{lease_id} {event['event_type']}"))
