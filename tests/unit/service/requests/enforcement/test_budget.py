"""Budgets: what leases use within a calendar period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.conf import enforcement
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.records.extensions import Extensions
from lease_scheduler.service.requests.enforcement.base import (
    Account,
    ChangeProposal,
    Extension,
    FilterOptions,
    Proposal,
    ShorterExtensionError,
)
from lease_scheduler.service.requests.enforcement.budget import BudgetFilter
from lease_scheduler.service.requests.enforcement.consumption import (
    HORIZON,
    NODES,
    Claim,
    by_period,
    claims,
    shortened,
)
from lease_scheduler.service.requests.enforcement.periods import Period, period_at, split

_HOUR, _DAY = 3_600, 86_400
_HOSTS = ({VCPU: 8, MEMORY_MB: 16_384, HOST_SHARE: WHOLE_HOST}, {VCPU: 4, "VGPU": 2, HOST_SHARE: WHOLE_HOST})
_TWO = NodeSet(2, Resources({VCPU: 2, MEMORY_MB: 2_048, HOST_SHARE: 1}))
#: Noon of the last day of a month.
_NOW = int(datetime(2030, 1, 31, 12, tzinfo=UTC).timestamp())
_FEBRUARY = _NOW + 12 * _HOUR

periods = st.sampled_from(Period)
instants = st.integers(0, 4_000_000_000)


def _request(duration: int = _HOUR, node_set: NodeSet = _TWO, **said: Any) -> LeaseRequest:
    return LeaseRequest("x", LeaseKind.IMMEDIATE, (node_set,), _NOW, duration, **said)


def _held(request: LeaseRequest, start: int = _NOW, hosts: tuple[int, ...] = (0, 1)) -> Lease:
    """Return a lease with one holding of its whole duration."""
    end = start + request.duration
    return Lease(request, 0, holdings=(Holding(hosts, start, start, end, end + 20),))


def _filter(ask: Any = None, **values: Any) -> BudgetFilter:
    defaults = {option.dest: option.default for option in enforcement.OPTIONS}
    return BudgetFilter(FilterOptions({**defaults, **values}, lambda: None, ask))


def _account(live: Sequence[Lease] = (), used: Mapping[str, int] | None = None) -> Account:
    return Account("red", _NOW, live, _HOSTS, lambda since: used or {})


def _create(budget: BudgetFilter, lease: Lease, account: Account) -> None:
    document = {"id": "x", "project_id": "red"}
    budget.check_create({}, Proposal(document, lease.request, _NOW, planned=lease, account=account))


def _update(budget: BudgetFilter, before: Lease, after: Lease | None, account: Account) -> None:
    document = {"id": "x", "project_id": "red"}
    current = Proposal(document, before.request, _NOW, planned=before, account=account)
    request = before.request if after is None else after.request
    added = request.duration - before.request.duration
    extension = Extension(added, Extensions(), None) if added > 0 else None
    budget.check_update({}, ChangeProposal(current, {}, request, extension, after))


@pytest.mark.parametrize(
    ("period", "start", "end"),
    [
        (Period.DAY, (2024, 2, 29), (2024, 3, 1)),
        (Period.WEEK, (2024, 2, 26), (2024, 3, 4)),
        (Period.MONTH, (2024, 2, 1), (2024, 3, 1)),
        (Period.QUARTER, (2024, 1, 1), (2024, 4, 1)),
        (Period.YEAR, (2024, 1, 1), (2025, 1, 1)),
    ],
)
def test_periods_are_those_of_the_calendar(
    period: Period, start: tuple[int, int, int], end: tuple[int, int, int]
) -> None:
    noon = int(datetime(2024, 2, 29, 12, tzinfo=UTC).timestamp())
    assert period_at(period, noon) == tuple(int(datetime(*each, tzinfo=UTC).timestamp()) for each in (start, end))


@given(periods, instants)
def test_periods_follow_each_other_without_gaps(period: Period, instant: int) -> None:
    start, end = period_at(period, instant)
    assert start <= instant < end
    assert period_at(period, start) == period_at(period, end - 1) == (start, end)
    assert period_at(period, end)[0] == end


@given(periods, instants, st.integers(0, 300 * _DAY))
def test_the_parts_of_an_interval_are_the_whole(period: Period, start: int, length: int) -> None:
    parts = list(split(period, start, start + length))
    assert sum(seconds for _, seconds in parts) == length
    assert all(0 < seconds <= period_at(period, begin)[1] - begin for begin, seconds in parts)
    assert len({begin for begin, _ in parts}) == len(parts)


_claims = st.lists(
    st.builds(
        lambda start, length, amounts: Claim(start, start + length, amounts),
        instants,
        st.integers(0, 90 * _DAY),
        st.dictionaries(st.sampled_from([NODES, VCPU, MEMORY_MB]), st.integers(0, 10**6)),
    ),
    max_size=5,
)


@given(periods, _claims)
def test_the_sums_of_periods_are_what_the_leases_use(period: Period, found: list[Claim]) -> None:
    sums = by_period(period, found)
    for name in (NODES, VCPU, MEMORY_MB):
        whole = sum((each.end - each.start) * each.amounts.get(name, 0) for each in found)
        assert sum(amount for (_, key), amount in sums.items() if key == name) == whole
    assert all(amount >= 0 for amount in sums.values())
    assert by_period(period, reversed(found)) == sums


@given(
    st.lists(st.tuples(st.integers(0, 3 * _DAY), st.integers(1, 2 * _DAY)), max_size=4),
    st.integers(0, 6 * _DAY),
    st.integers(1, 12 * _DAY),
)
def test_a_lease_uses_no_more_than_what_is_left_of_its_time(
    pieces: list[tuple[int, int]], passed: int, duration: int
) -> None:
    now, instant, holdings = _NOW + passed, _NOW, []
    for pause, run in pieces:
        start = instant + pause
        instant = start + run
        holdings.append(Holding((0, 1), start, start, instant, instant, Closing.SUSPEND))
    lease = Lease(_request(duration), 0, holdings=tuple(holdings))
    found = claims(lease, _HOSTS, now)
    assert all(now <= each.start < each.end for each in found)
    assert sum(each.end - each.start for each in found) <= max(duration, sum(run for _, run in pieces))
    # What is over is in the usage, and is not claimed again.
    later = sum(each.end - each.start for each in claims(lease, _HOSTS, now + _HOUR))
    assert not holdings or later <= sum(each.end - each.start for each in found)


def test_a_running_lease_counts_with_what_is_left_of_it() -> None:
    lease = replace(_held(_request(3 * _HOUR), _NOW - _HOUR), active_since=_NOW - _HOUR)
    (claim,) = claims(lease, _HOSTS, _NOW)
    assert (claim.start, claim.end) == (_NOW, _NOW + 2 * _HOUR)
    assert claim.amounts == {NODES: 2, VCPU: 4, MEMORY_MB: 4_096}


def test_booting_counts_nothing_and_resuming_counts() -> None:
    first = Holding((0, 1), _NOW, _NOW + 60, _NOW + 660, _NOW + 700, Closing.SUSPEND)
    second = Holding((0, 1), _NOW + 900, _NOW + 930, _NOW + 1_530, _NOW + 1_550)
    found = claims(Lease(_request(1_200), 0, holdings=(first, second)), _HOSTS, _NOW)
    assert [(each.start - _NOW, each.end - _NOW) for each in found] == [(60, 700), (900, 1_530)]


def test_work_without_a_place_counts_after_the_rest() -> None:
    part = Holding((0, 1), _NOW, _NOW, _NOW + 600, _NOW + 620, Closing.SUSPEND)
    found = claims(Lease(_request(1_000), 0, holdings=(part,)), _HOSTS, _NOW)
    assert [(each.start - _NOW, each.end - _NOW) for each in found] == [(0, 620), (620, 1_020)]


def test_a_lease_that_waits_counts_from_now_with_the_most_that_it_may_get() -> None:
    node_set = replace(_TWO, count=1, count_range=(1, 3))
    request = LeaseRequest("x", LeaseKind.BEST_EFFORT, (node_set,), _NOW - _DAY, _HOUR)
    (claim,) = claims(Lease(request, 0), _HOSTS, _NOW)
    assert (claim.start, claim.end, claim.amounts[NODES], claim.amounts[VCPU]) == (_NOW, _NOW + _HOUR, 3, 6)


def test_whole_hosts_count_with_all_that_they_have() -> None:
    whole = NodeSet(1, Resources({HOST_SHARE: WHOLE_HOST}))
    (claim,) = claims(_held(_request(_HOUR, whole), hosts=(1,)), _HOSTS, _NOW)
    assert claim.amounts == {NODES: 1, VCPU: 4, "VGPU": 2}
    request = LeaseRequest("x", LeaseKind.BEST_EFFORT, (whole,), _NOW, _HOUR)
    (claim,) = claims(Lease(request, 0), _HOSTS, _NOW)
    assert claim.amounts == {NODES: 1, VCPU: 8, MEMORY_MB: 16_384, "VGPU": 2}


def test_addresses_are_no_nodes_and_leases_without_end_stop_at_the_horizon() -> None:
    address = NodeSet(1, Resources({FLOATING_IP: 1}))
    request = LeaseRequest("x", LeaseKind.BEST_EFFORT, (address,), _NOW)
    (claim,) = claims(Lease(request, 0), _HOSTS, _NOW)
    assert (claim.end, claim.amounts) == (_NOW + HORIZON, {FLOATING_IP: 1, NODES: 0})


def test_a_budget_may_be_used_to_the_second_and_not_beyond() -> None:
    budget, account = _filter(budget_node_hours=10), _account(used={NODES: 4 * _HOUR})
    _create(budget, _held(_request(3 * _HOUR)), account)
    with pytest.raises(RefusedError) as refused:
        _create(budget, _held(_request(3 * _HOUR + 1)), account)
    assert (refused.value.code, refused.value.field) == (403, "duration")
    assert refused.value.message == (
        "duration: the project has 6 of 10 node_hours left until 2030-02-01 00:00:00 UTC (budget_node_hours), and the "
        "lease would use 6.01 in this time; make it shorter or smaller, move it to another time, or end other leases "
        "of the project"
    )


def test_a_lease_counts_in_each_period_with_its_part() -> None:
    """Twelve hours are in January and two in February: that of two nodes."""
    lease = _held(_request(14 * _HOUR))
    _create(_filter(budget_node_hours=24), lease, _account())
    with pytest.raises(RefusedError, match="left until 2030-02-01"):
        _create(_filter(budget_node_hours=23), lease, _account())
    # What was used in January does not count in February, what is reserved there does.
    other = _held(_request(11 * _HOUR), _FEBRUARY)
    _create(_filter(budget_node_hours=26), lease, _account([other], {NODES: 2 * _HOUR}))
    with pytest.raises(RefusedError, match="has 3 of 25 .* from 2030-02-01 00:00:00 UTC to 2030-03-01"):
        _create(_filter(budget_node_hours=25), lease, _account([other]))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"budget_vcpu_hours": 3}, "vcpu_hours"),
        ({"budget_memory_gb_hours": 3}, "memory_gb_hours"),
        ({"budget_resource_hours": {"VGPU": 1}}, "VGPU_hours"),
    ],
)
def test_every_measure_limits(options: dict[str, Any], name: str) -> None:
    gpus = NodeSet(2, Resources({VCPU: 2, MEMORY_MB: 2_048, "VGPU": 1, HOST_SHARE: 1}))
    with pytest.raises(RefusedError, match=f"{name} left until"):
        _create(_filter(**options), _held(_request(_HOUR, gpus)), _account())


def test_a_change_is_refused_only_if_it_uses_more() -> None:
    """The budget was lowered: the lease may be shortened and may lose nodes, but not be extended."""
    budget, account = _filter(budget_node_hours=1), _account()
    before = _held(_request(4 * _HOUR))
    one = replace(_TWO, count=1)
    _update(budget, before, _held(_request(3 * _HOUR)), account)
    _update(budget, before, _held(_request(4 * _HOUR, one), hosts=(0,)), account)
    _update(budget, before, before, account)
    # The plan refuses the change, and says why.
    _update(budget, before, None, account)
    with pytest.raises(RefusedError, match="the changed lease would still use 10"):
        _update(budget, before, _held(_request(5 * _HOUR)), account)


@given(st.integers(1, 40 * _HOUR), st.integers(0, 60), st.integers(0, 30))
def test_a_refused_extension_is_told_the_longest_one_that_is_possible(added: int, used: int, others: int) -> None:
    """A lease of this month is extended into the next: either month may be what ends the extension."""
    budget = _filter(budget_node_hours=60)
    others_next = [_held(_request(others * _HOUR), _FEBRUARY)] if others else []
    account = _account(others_next, {NODES: used * _HOUR})
    before = _held(_request(6 * _HOUR))

    def refusal(seconds: int) -> ShorterExtensionError | None:
        try:
            _update(budget, before, _held(_request(6 * _HOUR + seconds)), account)
        except ShorterExtensionError as error:
            return error
        return None

    refused = refusal(added)
    if refused is not None:
        assert refused.added % 60 == 0
        assert refused.added == 0 or refusal(refused.added) is None
        assert refused.added + 60 > added or refusal(refused.added + 60) is not None


def test_an_extension_is_cut_where_the_budget_ends() -> None:
    """Two nodes for an hour have 90 minutes left, and half a minute that is no whole one."""
    budget = _filter(budget_node_hours=6)
    account = _account(used={NODES: _HOUR - 60})
    before = _held(_request())
    with pytest.raises(ShorterExtensionError, match="has 5.01 of 6 node_hours left until .* still use 8") as refused:
        _update(budget, before, _held(_request(4 * _HOUR)), account)
    assert refused.value.added == 90 * 60
    assert refused.value.field == "duration"


def test_claims_lose_their_last_seconds() -> None:
    one, two = Claim(0, 10, {VCPU: 1}), Claim(20, 30, {VCPU: 2})
    assert shortened([one, two], 0) == [two, one]
    assert shortened([one, two], 4) == [replace(two, end=26), one]
    assert shortened([one, two], 10) == [one]
    assert shortened([one, two], 13) == [replace(one, end=7)]
    assert shortened([one, two], 40) == []


def test_zero_lets_nothing_pass_and_exempt_projects_have_no_budget() -> None:
    lease = _held(_request())
    _create(_filter(), lease, _account())
    with pytest.raises(RefusedError, match="has 0 of 0 node_hours left"):
        _create(_filter(budget_node_hours=0), lease, _account())
    _create(_filter(budget_node_hours=0, budget_exempt_project_ids=["red"]), lease, _account())
    _create(_filter(budget_node_hours=0, project_budgets=["red node_hours=-1"]), lease, _account())
    _create(_filter(budget_node_hours=0, project_budgets=["red node_hours=2"]), lease, _account())


def test_budgets_in_keystone_replace_those_of_the_options() -> None:
    asked: list[tuple[str, Sequence[str]]] = []

    def ask(project_id: str, names: Sequence[str]) -> dict[str, int]:
        asked.append((project_id, names))
        return dict.fromkeys(names, -1) | {"reservation:budget_vcpu_hours": 3}

    with pytest.raises(RefusedError, match="has 3 of 3 vcpu_hours"):
        _create(_filter(ask, budget_node_hours=0, budget_resource_hours={"VGPU": 5}), _held(_request()), _account())
    names = [f"reservation:budget_{name}_hours" for name in ("node", "vcpu", "memory_gb", "VGPU")]
    assert asked == [("red", names)]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"project_budgets": ["red cpu_hours=1"]}, "project_budgets: .*there is no limit 'cpu_hours'"),
        ({"project_budgets": ["red"]}, "project_budgets: .*e.g. 5f0c node_hours=5 vcpu_hours=100"),
        ({"budget_resource_hours": {VCPU: 1}}, "budget_resource_hours: VCPU: set budget_vcpu_hours instead"),
    ],
)
def test_a_wrong_option_is_named(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        _filter(**values)


def test_a_statement_is_about_the_periods_of_the_lease() -> None:
    budget = _filter(budget_node_hours=100)
    account = _account([_held(_request(13 * _HOUR))], {NODES: 10 * _HOUR})
    lease = _held(_request(2 * _HOUR), _FEBRUARY)
    (line,) = budget.statement(account, lease)
    amounts = {"limit": 100, "used": 0, "reserved": 2, "requested": 4, "left": 94}
    assert line == {"measure": "node_hours", "start": _FEBRUARY, "end": _FEBRUARY + 28 * _DAY, **amounts}
    present, later = budget.statement(account, None)
    assert [present[key] for key in amounts] == [100, 10, 24, 0, 66]
    assert [later[key] for key in amounts] == [100, 0, 2, 0, 98]
    assert _filter().statement(account, lease) == []


def test_a_statement_has_the_earliest_twelve_periods() -> None:
    lease = _held(_request(30 * _DAY))
    lines = _filter(budget_node_hours=1, budget_period="day").statement(_account(), lease)
    assert len(lines) == 12
    assert lines[0]["start"] == _NOW - 12 * _HOUR
    assert lines[1]["left"] == 1 - 48


@given(st.permutations(range(4)))
def test_the_order_of_leases_does_not_matter(order: list[int]) -> None:
    live = [_held(_request((number + 1) * _HOUR), _NOW + number * _DAY) for number in range(4)]
    budget = _filter(budget_node_hours=100, budget_vcpu_hours=50, budget_period="day")
    mixed = [live[number] for number in order]
    assert budget.statement(_account(mixed), None) == budget.statement(_account(live), None)
