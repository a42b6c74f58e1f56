from __future__ import annotations

from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, VCPU, WHOLE_HOST, Resources
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.requests.enforcement.counting import HOUR, latest_end, node_seconds, nodes
from lease_scheduler.service.requests.enforcement.limits import (
    Limits,
    configured_limits,
    parse_project_limits,
    unified_limits,
)
from lease_scheduler.service.requests.enforcement.quota import check

_NOW = 1_000_000
_ONE = NodeSet(1, Resources({VCPU: 1, HOST_SHARE: 1}))


def _request(duration: int = HOUR, *node_sets: NodeSet, start: int = _NOW) -> LeaseRequest:
    return LeaseRequest("x", LeaseKind.RESERVATION, node_sets or (_ONE,), _NOW, duration, start=start)


def _others(*requests: LeaseRequest) -> list[tuple[Lease, LeaseDocument]]:
    document = LeaseDocument("y", "y", "project", "user", _NOW)
    return [(Lease(request, number), document) for number, request in enumerate(requests)]


def test_nodes_are_instances_and_whole_hosts_but_not_addresses() -> None:
    instances = NodeSet(3, Resources({VCPU: 1, HOST_SHARE: 1}))
    together = NodeSet(1, Resources({VCPU: 4, HOST_SHARE: 4}))
    hosts = NodeSet(2, Resources({HOST_SHARE: WHOLE_HOST}))
    addresses = NodeSet(5, Resources({FLOATING_IP: 1}))
    request = _request(HOUR, instances, together, hosts, addresses)
    assert nodes(request) == 3 + 4 + 2
    assert node_seconds(request) == 9 * HOUR


def test_the_latest_end_is_that_of_the_terms() -> None:
    assert latest_end(_request(start=_NOW + 10), _NOW) == _NOW + 10 + HOUR
    immediate = LeaseRequest("x", LeaseKind.IMMEDIATE, (_ONE,), _NOW, HOUR)
    assert latest_end(immediate, _NOW + 5) == _NOW + 5 + HOUR
    deadline = LeaseRequest("x", LeaseKind.DEADLINE, (_ONE,), _NOW, HOUR, start=_NOW, deadline=_NOW + 9 * HOUR)
    assert latest_end(deadline, _NOW) == _NOW + 9 * HOUR
    assert latest_end(LeaseRequest("x", LeaseKind.BEST_EFFORT, (_ONE,), _NOW), _NOW) is None


@pytest.mark.parametrize(
    ("limits", "fits", "does_not"),
    [
        (Limits(duration_hours=2), _request(2 * HOUR), _request(2 * HOUR + 1)),
        (Limits(horizon_hours=5), _request(HOUR, start=_NOW + 4 * HOUR), _request(HOUR, start=_NOW + 4 * HOUR + 1)),
        (Limits(lead_time_minutes=10), _request(start=_NOW + 600), _request(start=_NOW + 599)),
        (Limits(node_hours=2), _request(HOUR, replace(_ONE, count=2)), _request(HOUR + 1, replace(_ONE, count=2))),
    ],
)
def test_a_limit_may_be_used_to_the_second_and_not_beyond(
    limits: Limits, fits: LeaseRequest, does_not: LeaseRequest
) -> None:
    check(limits, fits, None, (), _NOW)
    with pytest.raises(RefusedError) as refused:
        check(limits, does_not, None, (), _NOW)
    assert refused.value.code == 403


def test_parts_of_hours_add_up() -> None:
    quarter = _request(HOUR // 4)
    limits = Limits(node_hours=1)
    check(limits, quarter, None, _others(quarter, quarter, quarter), _NOW)
    with pytest.raises(RefusedError, match="node_hours: limit 1, used 1, requested 1"):
        check(limits, quarter, None, _others(quarter, quarter, quarter, quarter), _NOW)


def test_zero_lets_nothing_pass_and_minus_one_everything() -> None:
    check(Limits(), _request(10**9), None, _others(*[_request()] * 9), _NOW)
    for name in ("leases", "node_hours", "duration_hours", "horizon_hours"):
        with pytest.raises(RefusedError, match=f"{name}: limit 0"):
            check(Limits(**{name: 0}), _request(), None, (), _NOW)


def test_what_is_beyond_a_limit_may_become_less_but_not_more() -> None:
    limits = Limits(leases=0, node_hours=1, duration_hours=1, horizon_hours=1, lead_time_minutes=60)
    before = _request(10 * HOUR)
    check(limits, _request(9 * HOUR), before, (), _NOW)
    check(limits, before, before, (), _NOW)
    with pytest.raises(RefusedError, match="node_hours"):
        check(limits, _request(11 * HOUR), before, (), _NOW)
    with pytest.raises(RefusedError, match="lead_time"):
        check(limits, _request(HOUR, start=_NOW + 60), before, (), _NOW)


def test_a_project_has_the_defaults_where_its_line_says_nothing() -> None:
    defaults = Limits(leases=3, node_hours=7)
    limits = configured_limits(defaults, parse_project_limits(["a leases=-1 duration_hours=2"], defaults))
    assert limits("a") == Limits(leases=-1, node_hours=7, duration_hours=2)
    assert limits("b") == defaults


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a"], "must be a project id and limits"),
        ([""], "must be a project id and limits"),
        (["a hosts=1"], "there is no limit 'hosts'; there are leases, node_hours"),
        (["a leases=-2"], "leases must be a whole number"),
        (["a leases"], "leases must be a whole number"),
        (["a leases=1 leases=2"], "leases is there twice"),
        (["a leases=1", "a node_hours=2"], "project a is there twice"),
    ],
)
def test_a_line_that_cannot_be_understood_is_refused(lines: list[str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        parse_project_limits(lines, Limits())


def test_unified_limits_have_a_prefix() -> None:
    def ask(project_id: str, names: object) -> dict[str, int]:
        assert project_id == "a"
        assert isinstance(names, list)
        return {name: number for number, name in enumerate(names)}

    assert unified_limits(ask)("a") == Limits(0, 1, 2, 3, 4)
