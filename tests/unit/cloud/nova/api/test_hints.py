"""Messages of a real Nova are understood, and malformed ones do no harm."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.cloud.nova.api.hints import AggregateHint, CacheHint, Hint, ServerHint, ServiceHint, read
from tests.unit.cloud.nova.recorded import AGGREGATE, LEASE, RECORDED, SERVER, UNPLACED, USER, Document, field

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def _read(message: Document) -> Hint | None:
    return read(message["publisher"], message["event_type"], message["payload"], message["context"])


@pytest.mark.parametrize(
    ("event_type", "hint"),
    [
        ("service.update", ServiceHint("node1")),
        ("service.delete", ServiceHint("node4")),
        ("instance.create.end", ServerHint("instance.create.end", SERVER, LEASE, "node2", USER)),
        ("instance.unshelve.end", ServerHint("instance.unshelve.end", SERVER, LEASE, "node2", USER)),
        ("instance.delete.end", ServerHint("instance.delete.end", SERVER, LEASE, "node2", USER)),
        # The server has no host any more, but the message names its former one.
        ("instance.shelve_offload.end", ServerHint("instance.shelve_offload.end", SERVER, LEASE, "node2", USER)),
        (
            "compute_task.build_instances.error",
            ServerHint("compute_task.build_instances.error", UNPLACED, None, None, USER),
        ),
        ("aggregate.add_host.end", AggregateHint(AGGREGATE, USER)),
        ("aggregate.update_metadata.end", AggregateHint(AGGREGATE, USER)),
        ("aggregate.delete.end", AggregateHint(AGGREGATE, USER)),
        # Starts of actions, and messages that are no actions.
        ("instance.create.start", None),
        ("instance.update", None),
        ("instance.exists", None),
        ("aggregate.add_host.start", None),
        ("flavor.create", None),
        ("scheduler.select_destinations.end", None),
    ],
)
def test_what_nova_says(event_type: str, hint: Hint | None) -> None:
    assert _read(RECORDED[event_type]) == hint


def test_every_recorded_message_was_looked_at() -> None:
    assert len(RECORDED) == 16
    assert field("instance.shelve_offload.end", "host") is None


def test_server_that_found_no_host_has_the_lease_of_its_flavor() -> None:
    message = copy.deepcopy(RECORDED["compute_task.build_instances.error"])
    spec = message["payload"]["nova_object.data"]["request_spec"]["nova_object.data"]
    spec["flavor"]["nova_object.data"]["extra_specs"] = {"lease:id": LEASE}
    found = _read(message)
    assert isinstance(found, ServerHint) and found.lease_id == LEASE


def test_part_of_a_deletion_is_not_its_end() -> None:
    """The server still exists, so checking what waits for its end would be in vain."""
    message = copy.deepcopy(RECORDED["instance.delete.end"])
    assert isinstance(_read(message), ServerHint)
    assert _read(message | {"event_type": "instance.shutdown.end"}) is None


def test_services_that_are_no_compute_services_are_left_out() -> None:
    message = copy.deepcopy(RECORDED["service.update"])
    message["payload"]["nova_object.data"]["binary"] = "nova-conductor"
    assert _read(message) is None


@given(st.data())
def test_whatever_is_sent(data: st.DataObject) -> None:
    """Any part of a message may be missing or of another type."""
    message = copy.deepcopy(data.draw(st.sampled_from(list(RECORDED.values()))))
    place = data.draw(st.sampled_from([message, message["payload"], message["payload"]["nova_object.data"]]))
    key = data.draw(st.sampled_from(sorted(place)))
    place[key] = data.draw(_JSON)
    found = read(str(message["publisher"]), str(message["event_type"]), message["payload"], message["context"])
    if isinstance(found, ServiceHint):
        assert found.host and isinstance(found.host, str)
    elif isinstance(found, ServerHint):
        assert found.server_id and isinstance(found.server_id, str)
        assert isinstance(found.lease_id, str | None) and isinstance(found.host, str | None)
    elif isinstance(found, CacheHint):
        assert isinstance(found.aggregate, str) and all(isinstance(each, str) for each in found.cached)
        assert isinstance(found.host, str | None) and isinstance(found.request_id, str | None)
    elif found is not None:
        assert isinstance(found.number, int)
