"""The load that a site publishes, and the same load as its peers read it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.federation.members import Arrivals, PublishedLoad, together
from lease_scheduler.federation.published_load import load_of, plain_load, published_load, sort_of
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.request_types import RequestType
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.policy.arrivals import KnownArrivals

_LOCAL = LeaseRequest("a", LeaseKind.BEST_EFFORT, (NodeSet(2, Resources({VCPU: 4})),), 100, 60, preemptible=True)
_SUSPENDABLE = replace(_LOCAL, origin="north", preemption_mode=PreemptionMode.SUSPEND)


def _arrivals() -> st.SearchStrategy[Arrivals]:
    figures = st.floats(0, 1e12)
    amounts = st.dictionaries(st.sampled_from(["VCPU", "MEMORY_MB"]), st.tuples(figures, figures))
    return st.builds(
        lambda rate, found: Arrivals(
            rate, {key: each[0] for key, each in found.items()}, {key: each[1] for key, each in found.items()}
        ),
        st.floats(0, 1e3),
        amounts,
    )


@given(_arrivals(), st.dictionaries(st.sampled_from([*RequestType, None]), _arrivals()))
def test_it_is_the_same_after_it_was_sent(local: Arrivals, external: dict[RequestType | None, Arrivals]) -> None:
    load = PublishedLoad(local, external)
    assert load_of(json.loads(json.dumps(plain_load(load)))) == load


def test_requests_of_types_that_are_not_known_yet_count_as_those_of_no_type() -> None:
    parts: list[dict[str, Any]] = [
        {"type": None, "rate": 1.0, "work": {VCPU: 2.0}, "squares": {VCPU: 4.0}},
        {"type": "elastic", "rate": 3.0, "work": {VCPU: 6.0}, "squares": {VCPU: 36.0}},
    ]
    nothing: dict[str, Any] = {"rate": 0.0, "work": {}, "squares": {}}
    load = load_of({"local": nothing, "external": parts})
    assert load.external == {
        None: together([Arrivals(1.0, {VCPU: 2.0}, {VCPU: 4.0}), Arrivals(3.0, {VCPU: 6.0}, {VCPU: 36.0})])
    }


def test_impossible_figures_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="rate"):
        load_of({"local": {"rate": -1, "work": {}, "squares": {}}, "external": []})


def test_local_requests_are_one_sort_and_those_of_peers_have_types() -> None:
    assert sort_of(_LOCAL) == "local"
    assert sort_of(_SUSPENDABLE) == "external suspendable"
    assert sort_of(replace(_SUSPENDABLE, kind=LeaseKind.IMMEDIATE)) == "external"


def test_it_has_the_rate_at_the_present_instant_and_the_means_that_were_learnt() -> None:
    known: dict[str, KnownArrivals] = {}
    for request in (_SUSPENDABLE, replace(_SUSPENDABLE, submitted=110, duration=120), replace(_LOCAL, origin=None)):
        sort = sort_of(request)
        known[sort] = known.get(sort, KnownArrivals()).after(request, request.duration, 200)
    load = published_load(known, 110)
    assert load.external == {RequestType.SUSPENDABLE: Arrivals(0.1, {VCPU: 720.0}, {VCPU: (480.0**2 + 960.0**2) / 2})}
    # One request has no rate.
    assert load.local == Arrivals(0.0, {VCPU: 480.0}, {VCPU: 480.0**2})
    assert published_load(known, 150).external[RequestType.SUSPENDABLE].rate == 1 / 40
    assert published_load({}, 0) == PublishedLoad()
