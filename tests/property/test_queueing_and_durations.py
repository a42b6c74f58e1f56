"""Whatever order the queue has and however wrong expected durations are, no promise is broken and no work is lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.interfaces import QueueRound, Turn
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.duration.base import DurationPolicy
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.policy.queueing.base import QueueingPolicy
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, clouds, workloads

_EXAMPLES = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class _AnyOrder(QueueingPolicy):
    """Another order in each round, with limits that let a lease start at once, soon, or at any time."""

    def __init__(self, seed: int) -> None:
        super().__init__(PolicyOptions())
        self._random = Random(seed)

    def turns(self, queue: QueueRound) -> Iterable[Turn]:
        """See ``Queueing.turns``."""
        for lease in self._random.sample(queue.queued, len(queue.queued)):
            yield Turn(lease, self._random.choice([None, queue.now, queue.now + 500]))
            # A lease may have its place already. On an empty site none is declined, so no lease is stranded.
            yield Turn(lease, accepts=lambda holding: holding.start <= queue.now + 1_000)


class _AnyDuration(DurationPolicy):
    """Expects anything, from one second to more than was requested, and counts the outcomes of each lease."""

    def __init__(self, seed: int) -> None:
        super().__init__(PolicyOptions())
        self._random = Random(seed)
        self.outcomes: dict[str, list[Outcome]] = {}

    def expected(self, lease: Lease) -> int:
        """See ``ExpectedDuration.expected``."""
        return int(lease.remaining * self._random.choice([0.0, 0.2, 0.5, 0.9, 1.5]))

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        """See ``Policy.observe``."""
        self.outcomes.setdefault(lease.lease_id, []).append(outcome)


def _run(workload: Workload, chosen: RunSettings, queueing: int | None, duration: int | None, *, exact: bool) -> None:
    run = Run(workload, chosen)
    if queueing is not None:
        run.engine.use(replace(run.engine.policies, queueing=_AnyOrder(queueing)))
    expectations = _AnyDuration(0 if duration is None else duration)
    if duration is not None:
        run.engine.use(replace(run.engine.policies, duration=expectations))
    result = run.execute()

    check_result(result, workload, exact=exact)
    possible = {LeaseState.DONE, LeaseState.REJECTED} | (set() if exact else {LeaseState.FAILED})
    for lease in result.leases:
        assert lease.state in possible, (lease.lease_id, lease.state, lease.reason)
    if duration is None:
        return
    ends = {LeaseState.DONE: Outcome.DONE, LeaseState.REJECTED: Outcome.REFUSED, LeaseState.FAILED: Outcome.FAILED}
    for lease in result.leases:
        told = expectations.outcomes[lease.lease_id]
        assert told[-1] is ends[lease.state], (lease.lease_id, told)
        assert not set(told[:-1]) & set(ends.values()), (lease.lease_id, told)
        if lease.started is not None:
            assert Outcome.STARTED in told
            assert told.index(Outcome.PLACED) < told.index(Outcome.STARTED)
        if lease.kind is LeaseKind.BEST_EFFORT and lease.state is LeaseState.DONE:
            assert told[0] is Outcome.QUEUED


@_EXAMPLES
@given(workloads(), RUN_SETTINGS, st.none() | st.integers(0, 9), st.none() | st.integers(0, 9))
def test_every_promise_is_kept_whatever_the_policies_decide(
    workload: Workload, run_settings: RunSettings, queueing: int | None, duration: int | None
) -> None:
    """Every accepted lease runs for its whole duration, in time, unless its servers end earlier."""
    _run(workload, run_settings, queueing, duration, exact=True)


@_EXAMPLES
@given(workloads(), RUN_SETTINGS, st.integers(0, 9), st.integers(0, 9), st.data())
def test_no_lease_is_lost_when_the_cloud_deviates_too(
    workload: Workload, run_settings: RunSettings, queueing: int, duration: int, data: st.DataObject
) -> None:
    """Late operations, failed boots and dead hosts, with policies that answer anything."""
    assert workload.site is not None
    cloud = data.draw(clouds(len(workload.site)))
    _run(workload, replace(run_settings, cloud=cloud), queueing, duration, exact=False)
