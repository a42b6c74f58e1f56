"""Shares of windows: what is charged is what was served, and no share depends on when a lease is asked for."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions, Suspension
from lease_scheduler.policy.queueing.winks.policy import Winks
from lease_scheduler.policy.queueing.winks.shares import WhenIdle
from lease_scheduler.policy.queueing.winks.window import TOLERANCE, WindowUse
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_HOST = Resources({VCPU: 1})
_HOSTS = 4
_WINDOW = 10
_EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_OPTIONS = st.fixed_dictionaries(
    {
        "winks_window": st.just(str(_WINDOW)),
        "winks_debt": st.sampled_from(["yes", "no"]),
        "winks_limit_when_idle": st.sampled_from([each.value for each in WhenIdle]),
        "winks_accounting": st.sampled_from(["schedule", "dispatch"]),
    }
)


def _request(name: str, project: str, nodes: int, duration: int, at: int, start: int | None = None) -> LeaseRequest:
    kind = LeaseKind.BEST_EFFORT if start is None else LeaseKind.RESERVATION
    node_sets = (NodeSet(nodes, _HOST),)
    return LeaseRequest(name, kind, node_sets, at, duration, start=start, user=project, preemptible=start is None)


@st.composite
def _leases(draw: st.DrawFn, notice: bool = True) -> tuple[WorkloadLease, ...]:
    """Draw leases of several projects; some end early, and some are reservations, if there is any notice."""
    found = []
    for number in range(draw(st.integers(1, 8))):
        at, duration = draw(st.integers(0, 40)), draw(st.integers(1, 60))
        start = at + draw(st.integers(0, 30)) if notice and draw(st.integers(0, 3)) == 0 else None
        nodes = draw(st.integers(1, _HOSTS))
        request = _request(f"l{number}", draw(st.sampled_from("abc")), nodes, duration, at, start)
        if start is None and nodes < _HOSTS and draw(st.integers(0, 2)) == 0:
            ranged = replace(request.nodes[0], count_range=(nodes, draw(st.integers(nodes + 1, 2 * _HOSTS))))
            request = replace(request, nodes=(ranged,))
        found.append(WorkloadLease(request, draw(st.one_of(st.none(), st.integers(1, duration)))))
    return tuple(sorted(found, key=lambda each: each.request.submitted))


def _run(leases: tuple[WorkloadLease, ...], options: dict[str, str]) -> Run:
    chosen = RunSettings(
        policies={"queueing": "winks"},
        planning=PlanningOptions(backfilling_limit=None, suspension=Suspension.NONE),
        flow_weights={"a": 3.0, "b": 1.0},
        policy_options=options,
    )
    return Run(Workload("windows", leases, Site.homogeneous(_HOSTS, _HOST)), chosen)


class _Counted(WindowUse):
    """Adds up what was charged, and takes off what was refunded."""

    def __init__(self) -> None:
        super().__init__()
        self.charged = 0

    def add(self, window: int, cost: int, *, owes: bool = False) -> None:
        super().add(window, cost, owes=owes)
        self.charged += cost

    def refund(self, window: int, cost: int, *, owes: bool = False) -> None:
        super().refund(window, cost, owes=owes)
        self.charged -= cost


class _Counting(Winks):
    def _flow(self, name: str) -> object:  # type: ignore[override]
        flow = super()._flow(name)
        if not isinstance(flow.windows, _Counted):
            flow.windows = _Counted()
        return flow


@_EXAMPLES
@given(_leases(), _OPTIONS)
def test_what_is_charged_to_windows_is_what_was_served(
    leases: tuple[WorkloadLease, ...], options: dict[str, str]
) -> None:
    """shirako A27, A29-A31: whatever ends early, is displaced, or starts over."""
    run = _run(leases, options)
    policy = run.planner.queueing
    assert isinstance(policy, Winks)
    policy.__class__ = _Counting
    result = run.execute()

    served: dict[str, int] = {}
    for lease in result.leases:
        project = lease.request.user or ""
        served[project] = served.get(project, 0) + policy._cost(lease, lease.accumulated)
    charged = {}
    for name, flow in policy._shares.flows.items():
        assert isinstance(flow.windows, _Counted)
        charged[name] = flow.windows.charged
    assert {name: cost for name, cost in charged.items() if cost} == {
        name: each for name, each in served.items() if each
    }


@_EXAMPLES
@given(_leases(), _OPTIONS)
def test_no_more_nodes_are_taken_than_the_share_of_a_window_pays(
    leases: tuple[WorkloadLease, ...], options: dict[str, str]
) -> None:
    """shirako A33: beyond its fewest nodes, a lease has only those that its flow makes no debt for."""
    grown = []

    class Watching(Winks):
        def _placed(self, lease: Lease, before: Lease | None, now: int) -> None:
            is_new = lease.lease_id not in self._ledger.charges
            super()._placed(lease, before, now)
            (nodes,) = lease.request.nodes
            if is_new and nodes.count > nodes.fewest:
                flow = self._shares.flows[lease.request.user or ""]
                share = self._shares.share_per_weight(now) * float(flow.weight)
                window = self._shares.window_of(lease.holdings[0].start)
                grown.append((flow.windows.of(window, share), share * (1 + TOLERANCE)))

    run = _run(leases, options)
    assert isinstance(run.planner.queueing, Winks)
    run.planner.queueing.__class__ = Watching
    run.execute()
    assert all(used <= share for used, share in grown), grown


@_EXAMPLES
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(1, 400), st.booleans(), st.integers(0, 400), st.integers(0, 5)),
        max_size=6,
    ),
    st.integers(1, 200),
)
def test_payments_and_debt_add_up_to_the_costs(charges: list[tuple[int, int, bool, int, int]], share: int) -> None:
    """What windows have paid and what is still owed is what requests with a debt cost, less what they gave back."""
    use, paid, cost_of_all = WindowUse(), 0.0, 0
    refunds: list[tuple[int, int, int]] = []
    for window in range(40):
        use.forget_before(window, share)
        for start, cost, owes, back, later in charges:
            if start == window and owes:
                use.add(window, cost, owes=True)
                cost_of_all += cost
                refunds.append((window + later, window, min(back, cost)))
        for due, charged, back in refunds:
            if due == window and (charged == window or back <= use.debt):
                use.refund(charged, back, owes=True)
                cost_of_all -= back
        owed = use.of(window, share)
        assert paid + owed == cost_of_all
        paid += min(owed, share)


@_EXAMPLES
@given(_leases(notice=False), _OPTIONS)
def test_an_idle_site_starts_what_can_start(leases: tuple[WorkloadLease, ...], options: dict[str, str]) -> None:
    """shirako P19d: with spare shares, no lease waits while nothing holds hosts."""
    result = _run(leases, {**options, "winks_limit_when_idle": "spare"}).execute()

    done = [lease for lease in result.leases if lease.state is LeaseState.DONE]
    for lease in done:
        assert lease.started is not None
        for instant in range(lease.request.submitted, lease.started):
            assert any(_runs(other, instant) for other in done), (lease.lease_id, instant)


def _runs(lease: Lease, instant: int) -> bool:
    return lease.started is not None and lease.ended is not None and lease.started <= instant < lease.ended


@_EXAMPLES
@given(
    _leases(notice=False), _OPTIONS, st.integers(1, _HOSTS), st.integers(1, 30), st.integers(0, 60), st.integers(1, 30)
)
def test_a_lease_that_is_asked_for_later_does_not_start_sooner(
    others: tuple[WorkloadLease, ...], options: dict[str, str], nodes: int, duration: int, at: int, delay: int
) -> None:
    """Shares are the same whenever one looks: waiting for a while before asking gives no advantage.

    The others hold hosts, and nothing of theirs is queued, so only shares may make a difference.
    """
    held = tuple(
        replace(
            each,
            request=replace(
                each.request,
                kind=LeaseKind.IMMEDIATE,
                preemptible=False,
                nodes=(replace(each.request.nodes[0], count_range=None),),
            ),
            real_duration=None,
        )
        for each in others
    )
    starts = []
    for asked in (at, at + delay):
        probe = WorkloadLease(_request("probe", "a", nodes, duration, asked))
        before = tuple(each for each in held if each.request.submitted <= at)
        leases = {lease.lease_id: lease for lease in _run((*before, probe), options).execute().leases}
        starts.append(leases["probe"].started)
    if starts[0] is None:
        # Strict shares refuse it, whenever it is asked for.
        assert starts[1] is None
    else:
        assert starts[1] is not None and starts[0] <= starts[1]
