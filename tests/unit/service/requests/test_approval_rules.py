"""Which leases need approval, and which changes only shrink a lease."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, VCPU, WHOLE_HOST, Resources
from lease_scheduler.service.requests.approval_rules import NODES, ApprovalRules, only_shrinks

_HOUR = 3_600
_NOW = 1_000_000
_HOSTS = [{VCPU: 8, HOST_SHARE: WHOLE_HOST}, {VCPU: 32, HOST_SHARE: WHOLE_HOST}]
_KINDS = frozenset({LeaseKind.RESERVATION, LeaseKind.BEST_EFFORT})


def _request(hours: int = 1, count: int = 1, ahead: int = 1, **resources: int) -> LeaseRequest:
    nodes = (NodeSet(count, Resources({VCPU: 4, HOST_SHARE: 1, **resources})),)
    return LeaseRequest("a", LeaseKind.RESERVATION, nodes, _NOW, hours * _HOUR, _NOW + ahead * _HOUR)


def _reason(rules: ApprovalRules, request: LeaseRequest, *others: LeaseRequest) -> str | None:
    return rules.reason(request, others, _HOSTS, _NOW)


def test_without_kinds_nothing_needs_approval() -> None:
    assert not any(ApprovalRules().concern(kind, "p") for kind in LeaseKind)
    rules = ApprovalRules(_KINDS, exempt=frozenset({"exempt"}))
    assert [kind for kind in LeaseKind if rules.concern(kind, "p")] == [LeaseKind.RESERVATION, LeaseKind.BEST_EFFORT]
    assert not rules.concern(LeaseKind.RESERVATION, "exempt")
    assert _reason(rules, _request()) == "every reservation lease does"


def test_a_lease_of_exactly_the_threshold_needs_none() -> None:
    rules = ApprovalRules(_KINDS, {NODES: 6})
    assert _reason(rules, _request(2, 3)) is None
    assert _reason(rules, replace(_request(2, 3), duration=2 * _HOUR + 1)) == "it is for more than 6 node-hours"
    assert _reason(rules, _request(1, 3), _request(1, 3)) is None
    assert _reason(rules, _request(1, 3), _request(1, 4)) == (
        "it is for more than 6 node-hours, together with other leases of the project"
    )


def test_resource_classes_count_from_hosts_and_nested_providers_alike() -> None:
    rules = ApprovalRules(_KINDS, {VCPU: 30})
    assert _reason(rules, _request(7)) is None
    assert _reason(rules, _request(8)) == "it is for more than 30 VCPU times hours"
    whole = (NodeSet(1, Resources({HOST_SHARE: WHOLE_HOST})),)
    assert _reason(rules, replace(_request(1), nodes=whole)) == "it is for more than 30 VCPU times hours"
    assert _reason(ApprovalRules(_KINDS, {"VGPU": 1}), _request(9), _request(9, VGPU=1)) is None


def test_servers_that_share_a_host_count_one_by_one() -> None:
    assert _reason(ApprovalRules(_KINDS, {NODES: 6}), _request(1, 1, HOST_SHARE=7)) is not None


def test_addresses_are_no_nodes() -> None:
    address = replace(_request(9), nodes=(NodeSet(1, Resources({FLOATING_IP: 1})),))
    assert _reason(ApprovalRules(_KINDS, {NODES: 1}), address) is None
    assert _reason(ApprovalRules(_KINDS, {FLOATING_IP: 1}), address) is not None


def test_a_queued_lease_counts_with_the_most_nodes_and_without_an_end_as_large() -> None:
    nodes = (NodeSet(1, Resources({VCPU: 1}), count_range=(1, 7)),)
    lease = LeaseRequest("a", LeaseKind.BEST_EFFORT, nodes, _NOW, _HOUR)
    rules = ApprovalRules(_KINDS, {NODES: 6})
    assert _reason(rules, lease) is not None
    assert _reason(rules, replace(lease, nodes=(NodeSet(1, Resources({VCPU: 1})),))) is None
    assert _reason(rules, replace(lease, nodes=(NodeSet(1, Resources({VCPU: 1})),), duration=UNLIMITED)) is not None


def test_what_starts_later_than_the_lead_time_needs_approval() -> None:
    rules = ApprovalRules(_KINDS, lead_time=2 * _HOUR)
    assert _reason(rules, _request(99, 99, ahead=2)) is None
    assert _reason(rules, _request(1, 1, ahead=3)) == "it starts more than 2 h ahead"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"duration": _HOUR}, True),
        ({"start": _NOW + 2 * _HOUR, "duration": 3 * _HOUR}, True),
        ({"nodes": (NodeSet(1, Resources({VCPU: 4, HOST_SHARE: 1})),)}, True),
        ({"duration": 5 * _HOUR}, False),
        ({"start": _NOW + 2 * _HOUR}, False),
        ({"start": _NOW, "duration": _HOUR}, False),
        ({"nodes": (NodeSet(3, Resources({VCPU: 4, HOST_SHARE: 1})),)}, False),
        ({"nodes": (NodeSet(1, Resources({VCPU: 5, HOST_SHARE: 1})),)}, False),
        ({"nodes": (NodeSet(1, Resources({VCPU: 4, HOST_SHARE: 1}), hosts=frozenset({"gpu"})),)}, False),
        ({"nodes": (NodeSet(1, Resources({VCPU: 4, HOST_SHARE: 1})),) * 2}, False),
        ({"preemptible": True}, False),
        ({"max_price": 3.0}, True),
    ],
)
def test_what_only_shrinks(changes: dict[str, Any], expected: bool) -> None:
    before = _request(4, 2)
    assert only_shrinks(before, replace(before, **changes)) is expected


def test_a_later_deadline_is_more() -> None:
    before = LeaseRequest("a", LeaseKind.DEADLINE, _request().nodes, _NOW, _HOUR, _NOW, _NOW + 5 * _HOUR)
    assert only_shrinks(before, replace(before, deadline=_NOW + 4 * _HOUR))
    assert not only_shrinks(before, replace(before, deadline=_NOW + 6 * _HOUR))
