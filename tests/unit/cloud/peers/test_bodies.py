"""Terms of leases on their way to another site: what it plans is what was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.api.context import Caller
from lease_scheduler.api.microversions import MAXIMUM
from lease_scheduler.api.requests.lease import new_lease
from lease_scheduler.cloud.peers.bodies import body_of, changes_of, passing_of
from lease_scheduler.federation.asks import Ask, OnBehalfOf
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import Boot, DiskImage, NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.service.core.provider_terms import NestedClasses
from lease_scheduler.service.core.terms import Pool, build_terms

_NOW = 1_800_000_000
#: A site without hosts, which knows that GPUs are on nested providers.
_POOL = Pool((), (), {}, nested=NestedClasses({"VGPU": frozenset({"HW_NEW"})}))
_NODES = (NodeSet(2, Resources({VCPU: 4, MEMORY_MB: 1024})),)


@st.composite
def _node_sets(draw: st.DrawFn) -> NodeSet:
    amounts = draw(st.dictionaries(st.sampled_from([VCPU, MEMORY_MB, DISK_GB, "PGPU"]), st.integers(1, 64), min_size=1))
    share = draw(st.sampled_from([1, WHOLE_HOST]))
    least = draw(st.none() | st.just(dict.fromkeys(amounts, 1)))
    groups = draw(st.lists(st.just(ProviderGroup(Resources({"VGPU": 1}), frozenset({"HW_NEW"}))), max_size=2))
    return NodeSet(
        draw(st.integers(1, 9)),
        Resources({**amounts, HOST_SHARE: share}),
        draw(st.frozensets(st.sampled_from(["HW_FAST", "CUSTOM_RED"]))),
        per_host=draw(st.none() | st.integers(1, 3)),
        least_resources=None if least is None else Resources(least),
        groups=tuple(groups),
    )


@st.composite
def _requests(draw: st.DrawFn) -> LeaseRequest:
    kind, terms = draw(st.sampled_from(LeaseKind)), dict[str, Any]()
    duration = draw(st.integers(1, 10**6))
    if kind.has_start:
        terms["start"] = _NOW + draw(st.integers(0, 10**7))
    if kind is LeaseKind.DEADLINE:
        terms["deadline"] = terms["start"] + duration + draw(st.integers(0, 10**6))
    if kind is LeaseKind.BEST_EFFORT and draw(st.booleans()):
        duration = UNLIMITED
    nodes = tuple(draw(st.lists(_node_sets(), min_size=1, max_size=3)))
    preemptible = draw(st.booleans())
    modes = set(PreemptionMode)
    if any(each.groups for each in nodes):
        # Servers would keep devices that others need.
        modes -= {PreemptionMode.SUSPEND, PreemptionMode.STOP}
    mode = draw(st.sampled_from(sorted(modes, key=str))) if preemptible else PreemptionMode.NONE
    if preemptible and mode is not PreemptionMode.NONE and draw(st.booleans()):
        terms |= {"min_lifetime": draw(st.integers(1, 10**5)), "assurance": 0.9}
        terms["await_assurance"] = kind is LeaseKind.BEST_EFFORT and draw(st.booleans())
    return LeaseRequest(
        "6d2d9b1a-6c9d-4d1e-9d5b-0e7f3a5c8e42",
        kind,
        nodes,
        _NOW,
        duration,
        preemptible=preemptible,
        preemption_mode=mode,
        user="red",
        max_price=draw(st.none() | st.floats(0, 1e6)),
        extras=draw(st.dictionaries(st.sampled_from(["course", "year"]), st.text("abc", max_size=5))),
        pool=draw(st.none() | st.just("gpu")),
        **terms,
    )


def _planned(terms: LeaseRequest) -> LeaseRequest:
    """Return what a site plans for the body of a request with these terms."""
    caller = Caller("ada", "red", frozenset({"member"}), "1")
    lease = new_lease({**body_of(terms), "id": terms.lease_id}, (), caller, _NOW, MAXIMUM)
    return build_terms(lease, _POOL, _NOW).request


@given(_requests())
def test_a_site_plans_the_terms_that_were_asked_for(terms: LeaseRequest) -> None:
    assert _planned(terms) == terms


@given(st.integers(1, 64), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_fluid_nodes_need_as_much_cpu_and_hold_as_little_as_was_asked_for(vcpus: int, min_yield: float) -> None:
    nodes = (NodeSet(2, Resources({VCPU: vcpus, HOST_SHARE: 1})).made_fluid(min_yield),)
    terms = LeaseRequest("a", LeaseKind.BEST_EFFORT, nodes, _NOW, 60, preemptible=True, user="red", min_yield=min_yield)
    assert _planned(terms) == terms


def _terms(**terms: Any) -> LeaseRequest:
    values: dict[str, Any] = {"kind": LeaseKind.RESERVATION, "nodes": _NODES, "start": _NOW, "duration": 60}
    return LeaseRequest(lease_id="a", submitted=_NOW, **{**values, **terms})


_IMAGE = DiskImage("cirros", 100)


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"nodes": (replace(_NODES[0], hosts=frozenset({"compute-1"})),)}, r"nodes\[0\].hosts"),
        ({"nodes": (replace(_NODES[0], boots=(Boot(_IMAGE),)),)}, "software"),
        ({"software": _IMAGE}, "software"),
        ({"nodes": (replace(_NODES[0], hosts=frozenset({"x"})),), "moves_others": True}, "moves_others"),
        (
            {"kind": LeaseKind.BEST_EFFORT, "start": None, "nodes": (replace(_NODES[0], count_range=(1, 4)),)},
            r"nodes\[0\]",
        ),
    ],
)
def test_what_has_a_meaning_only_here_is_refused(terms: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}: "):
        body_of(_terms(**terms))


def test_a_peer_says_what_it_knows_of_where_an_ask_comes_from() -> None:
    ask = Ask(_terms(), _NOW)
    assert passing_of(ask) == {}
    assert passing_of(replace(ask, path=("east", "west"))) == {"path": ["east", "west"]}
    for party, shown in (
        (OnBehalfOf("physics"), {"project": "physics"}),
        (OnBehalfOf("physics", "ada"), {"project": "physics", "user": "ada"}),
        (OnBehalfOf("physics", None, "p"), {"project": "physics", "project_id": "p"}),
    ):
        assert passing_of(replace(ask, on_behalf_of=party)) == {"on_behalf_of": shown}


_PRESENT = {"id": "r", "amount": 2, "resources": {VCPU: 4, MEMORY_MB: 1024}}


@pytest.mark.parametrize(
    ("node_set", "present", "changed"),
    [
        (_NODES[0], _PRESENT, None),
        (replace(_NODES[0], count=3), _PRESENT, {"id": "r", "amount": 3}),
        (replace(_NODES[0], count=3), {**_PRESENT, "amount": None, "max": 2}, {"id": "r", "min": 3, "max": 3}),
        (replace(_NODES[0], resources=Resources({VCPU: 2})), _PRESENT, {"id": "r", "vcpus": 2, "memory_mb": 0}),
    ],
)
def test_a_change_has_only_what_differs(node_set: NodeSet, present: dict[str, Any], changed: Any) -> None:
    times = {"start_date": "2027-01-15T08:00:00Z", "end_date": "2027-01-15T08:01:00Z"}
    found = changes_of(_terms(nodes=(node_set,)), [present])
    assert found == ({**times, "reservations": [changed]} if changed else times)


@pytest.mark.parametrize(
    ("nodes", "field"),
    [((*_NODES, *_NODES), "nodes"), ((NodeSet(2, Resources({"PGPU": 1})),), r"nodes\[0\].resources.PGPU")],
)
def test_what_cannot_be_changed_is_refused(nodes: tuple[NodeSet, ...], field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}: "):
        changes_of(_terms(nodes=nodes), [_PRESENT])
