"""Whatever projects and operators request of live leases, the plan is consistent, and refusals change nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.plan.changing.changing import Change
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.plan.options import RoomLead
from lease_scheduler.simulation.invariants import check_plan
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, check_hosts, clouds, workloads

_COMMANDS = st.sampled_from(
    ["change"] * 6 + ["move", "move", "end", "cancel", "quote", "quote", "maintain", "out", "back", "site"]
)
_FIXED = (LeaseKind.RESERVATION, LeaseKind.IMMEDIATE)


def _snapshot(run: Run) -> tuple[Availability, tuple[Any, ...]]:
    plan = run.planner.plan
    seen = (
        dict(plan.leases),
        plan.queue.in_order(),
        plan.future_best_effort(-1),
        run.engine.operations,
        run.engine.hosts.outages,
        run.engine.next_due(),
        run.engine.next_sequence,
        tuple(run.store.load()),
        len(run.recorder.occupations),
        dict(run.recorder.counters),
    )
    return plan.availability, seen


def _assert_same(run: Run, before: tuple[Availability, tuple[Any, ...]]) -> None:
    availability, seen = before
    now = run.clock.now()
    assert run.planner.plan.availability.forgotten(now).equals(availability.forgotten(now))
    assert _snapshot(run)[1] == seen


def _new_terms(data: st.DataObject, lease: Lease, now: int) -> LeaseRequest | None:
    request = lease.request
    nodes: list[NodeSet] = list(request.nodes)
    has_new_nodes: bool = data.draw(st.booleans())
    if nodes and has_new_nodes:
        place: int = data.draw(st.integers(0, len(nodes) - 1))
        nodes[place] = nodes[place].with_count(data.draw(st.integers(1, 5)))
        if data.draw(st.integers(0, 4)) == 0:
            nodes.append(NodeSet(1, Resources({VCPU: 50, MEMORY_MB: 256})))
    duration = request.duration
    if data.draw(st.booleans()):
        duration = max(1, data.draw(st.sampled_from([duration // 2, duration + 60, duration + 900, now + 1])))
    start = request.start
    if start is not None and data.draw(st.integers(0, 2)) == 0:
        start = data.draw(st.sampled_from([start + 300, now, now + 60]))
    deadline = request.deadline
    if deadline is not None:
        deadline += data.draw(st.sampled_from([0, 0, 600, -600]))
    if data.draw(st.integers(0, 3)) == 0:
        request = replace(
            request,
            preemptible=data.draw(st.booleans()),
            preemption_mode=data.draw(st.sampled_from(PreemptionMode)),
            extras={**request.extras, "note": "changed"},
        )
        if data.draw(st.booleans()):
            return request
    try:
        return replace(request, nodes=tuple(nodes), duration=duration, start=start, deadline=deadline)
    except InvalidValueError:
        return None


def _command(data: st.DataObject, run: Run, number: int) -> None:
    """Give one command and check its immediate effects."""
    engine, now = run.engine, run.clock.now()
    live = engine.live_leases()
    what = data.draw(_COMMANDS)
    lease = live[data.draw(st.integers(0, len(live) - 1))] if live else None
    names = [host.name for host in engine.site.hosts]
    some = frozenset(data.draw(st.sets(st.sampled_from(names), min_size=1, max_size=2)))
    before = _snapshot(run)
    try:
        if what == "quote" or what == "maintain":
            _ask(data, run, f"new-{number}", some, maintain=what == "maintain")
        elif what == "out":
            engine.hosts.out(min(some), data.draw(st.sampled_from([None, now + 300])))
        elif what == "back":
            engine.hosts.back(min(some))
        elif what == "site":
            _change_site(data, run)
        elif lease is None:
            return
        elif what == "change":
            terms = _new_terms(data, lease, now)
            least = None
            if terms is not None and data.draw(st.integers(0, 3)) == 0:
                terms = replace(terms, nodes=tuple(each.with_count(each.count) for each in terms.nodes))
                least = tuple(data.draw(st.integers(1, node_set.count)) for node_set in terms.nodes)
            if terms is not None:
                give_up = data.draw(st.sets(st.integers(0, max(0, lease.request.node_count - 1)), max_size=2))
                evasions = run.recorder.counters["evasions"]
                change = engine.change(lease.lease_id, terms, least=least, give_up=give_up)
                evaded = run.recorder.counters["evasions"] > evasions
                _check_change(change, terms, least, evaded=evaded, now=now, lead=run.planner.options.room_lead)
        elif what == "move":
            change = engine.move(lease.lease_id, some)
            _check_moved(run, change, some)
        elif what == "end":
            engine.end(lease.lease_id)
        else:
            engine.cancel(lease.lease_id)
    except NoPlaceError as error:
        assert str(error) == error.refusal.message
        _assert_same(run, before)
    except InvalidValueError as error:
        assert error.field in ("start", "least"), error
        _assert_same(run, before)


def _check_change(
    change: Change, terms: LeaseRequest, least: tuple[int, ...] | None, *, evaded: bool, now: int, lead: RoomLead
) -> None:
    after = change.after
    if after.is_final or change.before.request == after.request:
        return
    request = after.request
    if terms.start is not None and request.start != terms.start:
        # The start waits until other leases are suspended, and its project is told so.
        assert lead is RoomLead.STRICT and terms.kind is LeaseKind.RESERVATION
        assert request.start is not None and request.start > max(terms.start, now)
        assert re.fullmatch(r"starts [\d dhmins]+ later than .* suspended first", after.reason), after.reason
        terms = replace(terms, start=request.start)
    if least is None:
        assert [each.with_count(1) for each in request.nodes] == [each.with_count(1) for each in terms.nodes]
        # How many of a range it has is decided when it gets its place.
        assert all(
            got.count == asked.count if asked.count_range is None else asked.fewest <= got.count <= asked.most
            for got, asked in zip(request.nodes, terms.nodes, strict=True)
        )
        assert request == replace(terms, nodes=request.nodes)
    else:
        assert request == replace(terms, nodes=request.nodes)
        assert all(
            fewest <= got.count <= asked.count
            for fewest, got, asked in zip(least, request.nodes, terms.nodes, strict=True)
        )
    if after.active_since is not None and change.before.active_since is not None and after.holdings:
        # Running nodes stay where they are, with one exception: if their hosts are promised to others at the lease's
        # former end and live migration is allowed, the nodes move at once and run there to the end.
        if change.moved:
            run = after.holdings[0]
            assert evaded
            assert request.preemption_mode is PreemptionMode.MIGRATE
            assert (run.start, run.closing) == (now, Closing.SHUTDOWN)
        assert len(change.stays) == request.node_count
        assert len(change.removed) + len([old for old in change.stays if old is not None]) == (
            change.before.request.node_count
        )
        if after.kind is LeaseKind.RESERVATION and request.start is not None:
            assert after.holdings[0].run_end == request.start + request.duration
    elif after.kind is LeaseKind.RESERVATION and after.state is LeaseState.READY:
        assert request.start is not None
        assert after.holdings[0].run_end == request.start + request.duration


def _check_moved(run: Run, change: Change, away: frozenset[str]) -> None:
    if change.after is change.before or change.after.state in (LeaseState.QUEUED, LeaseState.SUSPENDED_QUEUED):
        return
    numbers = {run.engine.site.index[name] for name in away}
    for reservation in change.after.holdings:
        assert not numbers & reservation.hosts, (change, numbers)
    if change.before.active_since is not None and change.before.holdings:
        old, new = change.before.holdings[0], change.after.holdings[0]
        for index, host in enumerate(old.assignment):
            assert (index in change.moved) == (host in numbers)
            assert host in numbers or new.assignment[index] == host


def _ask(data: st.DataObject, run: Run, lease_id: str, hosts: frozenset[str], *, maintain: bool) -> None:
    """Check that a quote changes nothing and predicts the outcome of the request."""
    now = run.clock.now()
    least = None
    if maintain:
        nodes = tuple(
            NodeSet(1, host.capacity, hosts=frozenset({name}))
            for name in sorted(hosts)
            if (host := run.engine.site.hosts[run.engine.site.index[name]]).capacity
        )
        if not nodes:
            return
        start = now + data.draw(st.sampled_from([0, 60, 600]))
        request = LeaseRequest(lease_id, LeaseKind.RESERVATION, nodes, now, 600, start, moves_others=True)
    else:
        kind = data.draw(st.sampled_from(list(LeaseKind)))
        node_set = NodeSet(data.draw(st.integers(1, 6)), Resources({VCPU: 50, MEMORY_MB: 256}))
        start_or_none = now + 60 if kind in (LeaseKind.RESERVATION, LeaseKind.DEADLINE) else None
        deadline = now + 60 + 1200 if kind is LeaseKind.DEADLINE else None
        request = LeaseRequest(lease_id, kind, (node_set,), now, 600, start_or_none, deadline, preemptible=True)
        if data.draw(st.booleans()):
            least = (data.draw(st.integers(1, node_set.count)),)
    before = _snapshot(run)
    quote = run.engine.quote(request, least)
    _assert_same(run, before)
    assert quote.granted == (quote.lease is not None)

    run.engine.submit(request, least)
    run.engine.step()

    lease = {lease.lease_id: lease for lease in run.store.load()}[lease_id]
    if not quote.granted:
        assert lease.state is LeaseState.REJECTED, (quote, lease)
        assert quote.refusal is not None
        return
    assert quote.lease is not None
    assert lease.state is not LeaseState.REJECTED
    assert lease.request == quote.lease.request
    if request.start is not None and request.start > now and request.kind is LeaseKind.RESERVATION:
        assert lease.holdings == quote.lease.holdings


def _change_site(data: st.DataObject, run: Run) -> None:
    engine = run.engine
    hosts = list(engine.site.hosts)
    action = data.draw(st.sampled_from(["remove", "shrink", "add", "return"]))
    place = data.draw(st.integers(0, len(hosts) - 1))
    if action == "remove" and len(hosts) > 1:
        hosts.pop(place)
    elif action == "add":
        hosts.append(replace(hosts[0], name=f"added-{len(hosts)}", capacity=Resources({VCPU: 100, MEMORY_MB: 1024})))
    else:
        amount = 100 if action == "shrink" else 400
        hosts[place] = replace(hosts[place], capacity=Resources({VCPU: amount, MEMORY_MB: 1024}))
    old = engine.site
    new = engine.hosts.change_site(Site.of(hosts))
    assert [host.name for host in new.hosts][: len(old)] == [host.name for host in old.hosts]
    assert {host.name for host in hosts} <= set(new.index)
    assert engine.site is new


def _check(run: Run) -> None:
    """Check the invariants; while a late operation keeps a host that became smaller, only the leases' holdings."""
    plan, now = run.planner.plan, run.clock.now()
    check_plan(plan, now)
    for lease in plan.leases.values():
        for reservation in lease.holdings:
            if reservation.end > now:
                check_hosts(lease.request, run.engine.site, reservation.assignment)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(workloads(), RUN_SETTINGS, st.data())
def test_commands_keep_the_plan_consistent(workload: Workload, run_settings: RunSettings, data: st.DataObject) -> None:
    assert workload.site is not None
    cloud = run_settings.cloud
    if data.draw(st.booleans()):
        cloud = data.draw(clouds(len(workload.site)))
    run = Run(workload, replace(run_settings, cloud=cloud))
    number = steps = 0
    while (instant := run.next_instant()) is not None:
        steps += 1
        assert steps < 2000, "leases keep each other from coming to an end"
        if steps == 1000:
            # A lease waits for as long as the operator keeps the only suitable host out of service.
            for name in run.engine.hosts.outages:
                run.engine.hosts.back(name)
        run.clock.set(max(run.clock.now(), instant))
        run.step()
        _check(run)
        if number < 12 and data.draw(st.integers(0, 2)) == 0:
            number += 1
            _command(data, run, number)
            _check(run)
            run.engine.step()
            _check(run)
    run.end()

    assert not run.planner.plan.leases
    for lease in run.store.load():
        assert lease.is_final
        assert not lease.holdings
        assert lease.state is LeaseState.DONE or lease.reason, lease
