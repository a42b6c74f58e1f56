"""Random requests, changes, failures and moves of hosts in two pools of one engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.cloud.orders import AnyOrder, Removal
from lease_scheduler.engine.interfaces import UNAWAITED, CloudEvent, EventKind
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policies
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.policies import PoolPlanning, SitePolicies
from lease_scheduler.simulation.invariants import check_plan
from tests.functional.lease_document import lease_document
from tests.site_engine import site_policies
from tests.unit.service.conftest import HOUR, Core, KeepingStore, StandingClock

_EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_HOSTS = {"a": ("a-1", "a-2", "a-3"), "b": ("b-1", "b-2")}
#: The hosts of the two pools in turns, so that their numbers differ from those on a site with one pool.
_MIXED = ("b-1", "a-1", "a-2", "b-2", "a-3")

Action = tuple[Any, ...]


def _calm() -> SitePolicies:
    names = {"host_selection": "packing", "preemption": "no-preemption"}
    return site_policies(PlanningOptions(backfilling_limit=0), lambda: load_policies(names, PolicyOptions()))


#: Policies of each pool. In one of them, nothing is preempted and no lease overtakes in the queue.
_POLICIES = {"a": site_policies, "b": _calm}


class _Site:
    """A site whose cloud carries out every order at once.

    :param pools: hosts by pool; None for a site that has only the hosts, policies and requests of that pool
    """

    def __init__(self, only: str | None) -> None:
        self.clock = StandingClock()
        engine = EngineOptions(explain_refusals=False)
        if only is None:
            pools = {name: PoolPlanning(_POLICIES[name](), engine, (f"{name}-*",)) for name in _HOSTS}
            self.core = Core(KeepingStore(), self.clock, site_policies(), pools, _MIXED)
        else:
            hosts = [host for host in _MIXED if host in _HOSTS[only]]
            self.core = Core(KeepingStore(), self.clock, _POLICIES[only](), None, hosts)
        self.core.site.carry_out = self._carry_out
        self.labels: dict[str, int] = {}
        self.only = only

    def close(self) -> None:
        self.core.engine.close()
        self.core.cloud.close()

    def _carry_out(self, changes: StoreChanges, orders: Sequence[AnyOrder]) -> None:
        for order in orders:
            operation = None if isinstance(order, Removal) else order.operation
            is_awaited = operation is not None and operation.kind not in UNAWAITED
            event = CloudEvent(EventKind.COMPLETED, self.clock.now(), order.lease_id) if is_awaited else None
            self.core.site.work.intents.report(Intent(order.intent_id, order.lease_id, operation), event)

    def settle(self) -> None:
        """Take steps until the cloud has nothing to report and nothing is due."""
        site = self.core.site
        site.step()
        while site.work.intents.has_reports:
            site.step()

    def do(self, number: int, action: Action) -> None:
        """Perform an action, unless it is about the other pool; a refusal is an outcome like any other."""
        what, *rest = action
        with suppress(RefusedError):
            getattr(self, f"_{what}")(number, *rest)
        self.settle()

    def _is_about(self, pool: str | None) -> bool:
        return self.only is None or pool == self.only

    def _ask(self, number: int, pool: str | None, kind: str, count: int, wait: int, length: int) -> None:
        if not self._is_about(pool):
            return
        start = self.clock.now() + wait * HOUR
        times: dict[str, Any] = {"start": start, "end": start + length * HOUR}
        if kind == "best-effort":
            times = {"duration": length * HOUR}
        if kind == "deadline":
            times = {"start": start, "duration": length * HOUR, "deadline": start + 3 * length * HOUR}
        named = {} if self.only is not None else {"pool": pool}
        asked = lease_document(f"{number}", kind, count, **times, **named)
        self.labels[asked["id"]] = number
        self.core.leases.create({}, asked)

    def _pass(self, number: int, hours: int) -> None:
        end = self.clock.now() + hours * HOUR
        while (due := self.core.site.next_due()) is not None and due <= end:
            self.clock.instant = max(self.clock.now(), due)
            self.settle()
        self.clock.instant = end

    def _end(self, number: int, pool: str, which: int) -> None:
        if self._is_about(pool) and (live := self._live(pool)):
            self.core.leases.end({}, live[which % len(live)].lease_id)

    def _resize(self, number: int, pool: str, which: int, count: int) -> None:
        if not self._is_about(pool) or not (live := self._live(pool)):
            return
        lease_id = live[which % len(live)].lease_id
        reservation_id = self.core.site.work.documents[lease_id].reservations[0].reservation_id
        self.core.leases.update({}, lease_id, {"reservations": [{"id": reservation_id, "amount": count}]})

    def _host(self, number: int, host: str, kind: EventKind) -> None:
        site = self.core.site
        if host in site.engine.site.index:
            event = CloudEvent(kind, self.clock.now(), host=site.engine.site.index[host])
            site.work.intents.report(None, event)

    def _move(self, number: int, host: str, pool: str) -> None:
        ids = {record.name: str(key) for key, record in self.core.site.records.hosts.items()}
        self.core.pool.update_host({}, ids[host], {}, pool=pool)

    def _live(self, pool: str | None) -> list[Lease]:
        named = None if self.only is not None else pool
        return [lease for lease in self.core.site.engine.live_leases() if lease.request.pool == named]

    def seen(self, pool: str) -> Mapping[int, Any]:
        """Return what has become of the leases of a pool, with names of hosts, by the number of their action."""
        hosts = self.core.site.engine.site.hosts
        return {
            self.labels[lease.lease_id]: (
                lease.state,
                lease.accumulated,
                lease.started,
                [
                    (held.start, held.end, held.closing, [hosts[number].name for number in held.assignment])
                    for held in lease.holdings
                ],
            )
            for lease in self._live(pool)
        }

    def check(self) -> None:
        """No lease touches a host of another pool, no host is in two pools, and no plan is overcommitted."""
        site = self.core.site
        pools = {record.name: record.pool for record in site.records.hosts.values()}
        users: defaultdict[str, set[str | None]] = defaultdict(set)
        for lease in site.engine.live_leases():
            operation = site.engine.operations.get(lease.lease_id)
            touched = {number for held in lease.holdings for number in held.hosts} | {*(lease.saved_on or ())}
            for number in touched | set(operation.assignment if operation is not None else ()):
                users[site.engine.site.hosts[number].name].add(lease.request.pool)
        assert all(found == {pools[name]} for name, found in users.items())
        assert set(site.engine.outages) <= set(pools)
        for pool, parts in site.parts.items():
            plan = parts.planner.plan
            assert {lease.request.pool for lease in plan.leases.values()} <= {pool}
            offering = {host.name for host in plan.site.hosts if host.capacity}
            assert offering == {name for name, of in pools.items() if of == pool}
            check_plan(plan, self.clock.now())
        sequences = [lease.sequence for lease in site.engine.live_leases()]
        assert len(sequences) == len(set(sequences))


_ASK = st.tuples(
    st.just("ask"),
    st.sampled_from(("a", "b")),
    st.sampled_from(("reservation", "best-effort", "deadline")),
    st.integers(1, 3),
    st.integers(0, 4),
    st.integers(1, 4),
)
_PASS = st.tuples(st.just("pass"), st.integers(1, 3))
_END = st.tuples(st.just("end"), st.sampled_from(("a", "b")), st.integers(0, 3))
_RESIZE = st.tuples(st.just("resize"), st.sampled_from(("a", "b")), st.integers(0, 3), st.integers(1, 3))
_FAIL = st.tuples(
    st.just("host"),
    st.sampled_from(_MIXED),
    st.sampled_from((EventKind.HOST_DOWN, EventKind.HOST_CLOSED, EventKind.HOST_UP)),
)
_MOVE = st.tuples(st.just("move"), st.sampled_from(_MIXED), st.sampled_from(("a", "b")))
_ANYWHERE = _ASK.map(lambda action: (action[0], None, *action[2:]))


@_EXAMPLES
@given(st.lists(st.one_of(_ASK, _ASK, _PASS, _END, _RESIZE, _FAIL), max_size=14))
def test_each_pool_is_planned_as_if_it_were_alone(actions: list[Action]) -> None:
    """Its leases get the same hosts at the same times as on a site that has only this pool."""
    both, *alone = sites = [_Site(None), _Site("a"), _Site("b")]
    try:
        for number, action in enumerate(actions):
            for site in sites:
                site.do(number, action)
            both.check()
            for site in alone:
                assert site.only is not None
                assert both.seen(site.only) == site.seen(site.only), f"after {action}"
    finally:
        for site in sites:
            site.close()


@_EXAMPLES
@given(st.lists(st.one_of(_ASK, _ANYWHERE, _PASS, _END, _RESIZE, _FAIL, _MOVE), max_size=16))
def test_pools_share_nothing(actions: list[Action]) -> None:
    """Whatever is requested, fails or is moved from one pool to the other."""
    site = _Site(None)
    try:
        for number, action in enumerate(actions):
            site.do(number, action)
            site.check()
    finally:
        site.close()
