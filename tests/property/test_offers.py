"""Random runs in which some leases are offered: projects accept them, reject them, or do not answer.

Whatever else is requested, an offer keeps its place until it ends, and nothing of it starts before it is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.invariants import check_plan, check_result
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .random_runs import RUN_SETTINGS, clouds, workloads

_EXAMPLES = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
_TURNED_DOWN = LeaseState.REJECTED_BY_USER


@dataclass(frozen=True)
class _Consumer:
    """The project's decision on an offer.

    :ivar lifetime: seconds for which the offer is held
    :ivar answers_after: seconds until the answer; longer than the lifetime for a project that does not answer
    """

    lifetime: int
    answers_after: int
    accepts: bool


_CONSUMERS = st.builds(
    _Consumer,
    lifetime=st.sampled_from([1, 100, 300, 600, 2000]),
    answers_after=st.sampled_from([0, 50, 300, 600, 5000]),
    accepts=st.booleans(),
)


class _Offers:
    """A run in which some leases are offered.

    :ivar held: original places of the open offers
    :ivar said: whether the project accepted, by lease
    """

    def __init__(self, run: Run, consumers: dict[str, _Consumer], exact: bool) -> None:
        self._run = run
        self._consumers = consumers
        self._exact = exact
        self._next = 0
        self._open: dict[str, int] = {}
        self.held: dict[str, tuple[Holding, ...]] = {}
        self.asked: dict[str, int] = {}
        self.accepted: dict[str, int] = {}
        self.said: dict[str, bool] = {}
        self.ended: set[str] = set()

    def execute(self) -> RunResult:
        run = self._run
        while (instant := self._next_instant()) is not None:
            run.clock.set(max(run.clock.now(), instant))
            now = run.clock.now()
            self._submit(now)
            run.step()
            self._look(now)
            self._answer(now)
            self._look(now)
            check_plan(run.planner.plan, now)
        run.end()
        return run.result(0.0)

    def _next_instant(self) -> int | None:
        instant = self._run.next_instant()
        waiting = [*self._open.values(), *([] if instant is None else [instant])]
        return min(waiting, default=None)

    def _submit(self, now: int) -> None:
        run = self._run
        leases = run.workload.leases
        while run._next_request < len(leases) and leases[run._next_request].request.submitted <= now:
            request = run._with_max_price(leases[run._next_request].request)
            consumer = self._consumers.get(request.lease_id)
            run._next_request += 1
            try:
                run.engine.submit(request, offered_for=None if consumer is None else consumer.lifetime)
            except InvalidValueError:
                # It would have to start at once.
                run.engine.submit(request)
                continue
            if consumer is not None:
                self._open[request.lease_id] = now + consumer.answers_after
                self.asked[request.lease_id] = now

    def _answer(self, now: int) -> None:
        for lease_id in [key for key, instant in self._open.items() if instant <= now]:
            del self._open[lease_id]
            lease = self._run.engine.lease(lease_id)
            if lease is None or not lease.is_offered:
                continue
            accepts = self._consumers[lease_id].accepts
            self.said[lease_id] = accepts
            if accepts:
                self.accepted[lease_id] = now
            (self._run.engine.held.accept if accepts else self._run.engine.held.reject)(lease_id)

    def _look(self, now: int) -> None:
        engine = self._run.engine
        for lease_id in self._consumers:
            lease = engine.lease(lease_id)
            if lease is None or not lease.is_offered or lease.offered_until is None:
                continue
            assert lease.offered_until > now
            assert (lease.active_since, lease.started, lease.accumulated) == (None, None, 0)
            assert not lease.is_prepared
            assert lease_id not in engine.operations
            if lease.kind is LeaseKind.BEST_EFFORT:
                assert (lease.state, lease.holdings) == (LeaseState.PENDING, ())
            else:
                assert lease.state is LeaseState.READY
                # A lease that could start at once has its hosts from then on.
                start, asked = lease.request.start, self.asked[lease_id]
                could_start = lease.kind.promises_interval and (start is None or start <= asked)
                assert could_start or lease.holdings[0].start >= lease.offered_until
            known = self.held.setdefault(lease_id, lease.holdings)
            assert not self._exact or lease.holdings == known


def _check(workload: Workload, run_settings: RunSettings, consumers: dict[str, _Consumer], *, exact: bool) -> None:
    offers = _Offers(Run(workload, run_settings), consumers, exact)
    result = offers.execute()
    # An immediate lease starts at once when it is accepted.
    counted = [
        replace(lease, request=replace(lease.request, submitted=offers.accepted[lease.lease_id]))
        if lease.kind is LeaseKind.IMMEDIATE and lease.lease_id in offers.accepted
        else lease
        for lease in result.leases
    ]
    check_result(replace(result, leases=tuple(counted)), workload, exact=exact)
    for lease in result.leases:
        said = offers.said.get(lease.lease_id)
        if said is True and exact:
            assert lease.state is LeaseState.DONE, (lease.lease_id, lease.reason)
        elif said is False or (lease.lease_id in offers.held and said is None and exact):
            assert lease.state is _TURNED_DOWN
            assert lease.started is None
        elif lease.lease_id not in offers.held and run_settings.policies["pricing"] == "free":
            assert lease.state is not _TURNED_DOWN


@st.composite
def _offered(draw: st.DrawFn, workload: Workload) -> dict[str, _Consumer]:
    """Draw which leases of a workload are offered, and what their projects decide."""
    possible = [lease.request.lease_id for lease in workload.leases]
    return {lease_id: draw(_CONSUMERS) for lease_id in possible if draw(st.booleans())}


@st.composite
def _contested(draw: st.DrawFn) -> Workload:
    """Draw a workload in which many leases compete for two hosts: some can be moved, and some work ends early."""
    leases = []
    for number in range(1, draw(st.integers(3, 8)) + 1):
        kind = draw(st.sampled_from([LeaseKind.DEADLINE, LeaseKind.DEADLINE, LeaseKind.RESERVATION]))
        submitted, duration = draw(st.integers(0, 60)) * 10, draw(st.integers(1, 15)) * 100
        start = submitted + draw(st.integers(0, 15)) * 100
        slack = draw(st.sampled_from([0, 100, 1000, 5000]))
        deadline = start + duration + slack if kind is LeaseKind.DEADLINE else None
        nodes = (NodeSet(draw(st.integers(1, 2)), Resources({VCPU: 100, MEMORY_MB: 1024})),)
        request = LeaseRequest(str(number), kind, nodes, submitted, duration, start, deadline, preemptible=True)
        leases.append(WorkloadLease(request, draw(st.sampled_from([None, max(1, duration // 2)]))))
    leases.sort(key=lambda lease: lease.request.submitted)
    return Workload("contested", tuple(leases), Site.homogeneous(2, Resources({VCPU: 100, MEMORY_MB: 1024})))


@st.composite
def _with_users(draw: st.DrawFn, workload: Workload) -> Workload:
    """Return the workload with users that have a highest price per node and hour."""
    rates = st.sampled_from([None, "0.1", "1.0", "3.0"])
    leases = []
    for lease in workload.leases:
        rate = draw(rates)
        extras = {} if rate is None else {"simul_userrate": rate}
        user = draw(st.sampled_from([None, "a", "b"]))
        leases.append(WorkloadLease(replace(lease.request, extras=extras, user=user), lease.real_duration))
    return Workload(workload.name, tuple(leases), workload.site)


_PRICINGS = st.sampled_from(["free", "constant", "random", "adaptive", "maximum"])


@_EXAMPLES
@given(workloads(), RUN_SETTINGS, _PRICINGS, st.data())
def test_an_offer_keeps_its_place_and_does_not_begin(
    workload: Workload, run_settings: RunSettings, pricing: str, data: st.DataObject
) -> None:
    """The place stays exactly the same, hosts included, until the offer ends; an accepted offer gets all of it."""
    consumers = data.draw(_offered(workload))
    _check(data.draw(_with_users(workload)), run_settings.with_policies(pricing=pricing), consumers, exact=True)


@settings(_EXAMPLES, max_examples=150)
@given(_contested(), RUN_SETTINGS, st.data())
def test_an_offer_is_never_moved(workload: Workload, run_settings: RunSettings, data: st.DataObject) -> None:
    """Neither for leases with less slack or higher priority, nor because of capacity that comes free early."""
    consumers = data.draw(_offered(workload))
    planning = replace(run_settings.planning, least_slack_first=True, preemption_grace=0)
    chosen = replace(run_settings.with_policies(preemption="by-kind"), planning=planning, deadline_preemption=True)
    _check(workload, chosen, consumers, exact=True)


@settings(_EXAMPLES, max_examples=150)
@given(workloads(), RUN_SETTINGS, _PRICINGS, st.data())
def test_nothing_begins_before_it_is_accepted_when_the_cloud_deviates(
    workload: Workload, run_settings: RunSettings, pricing: str, data: st.DataObject
) -> None:
    """With dead hosts and late operations an offer may have to move, but still nothing of it starts."""
    assert workload.site is not None
    consumers = data.draw(_offered(workload))
    cloud = data.draw(clouds(len(workload.site)))
    chosen = replace(run_settings.with_policies(pricing=pricing), cloud=cloud)
    _check(data.draw(_with_users(workload)), chosen, consumers, exact=False)
