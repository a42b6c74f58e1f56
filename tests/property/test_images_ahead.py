"""Random runs on a cloud whose boots fetch images, with some images cached ahead (haizea F60-F65, F92, section 7.2)."""

from __future__ import annotations

from dataclasses import replace
from heapq import heapify

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.interfaces import CloudEvent, EventKind, Ports
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.plan.transfers.options import Mechanism, TransferOptions
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policies
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, clouds, workloads_with_images
from .test_whole_runs import check_run

_EXAMPLES = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_AHEAD = st.builds(
    TransferOptions,
    bandwidth=st.sampled_from([50.0, 100.0, 1000.0]),
    mechanism=st.sampled_from(Mechanism),
    force_seconds=st.sampled_from([None, None, 0, 7]),
    required=st.just(False),
    host_cache_age=st.sampled_from([1, 500, 86_400]),
)


_LATE_OR_FAILING = st.builds(
    CloudBehaviour,
    image_transfer_factor=st.sampled_from([1.0, 0.5, 3.0, 50.0]),
    image_transfer_failure_probability=st.sampled_from([0.0, 0.3, 1.0]),
)


@_EXAMPLES
@given(workloads_with_images(), RUN_SETTINGS, _AHEAD, _LATE_OR_FAILING)
def test_no_lease_waits_for_an_image(
    workload: Workload, run_settings: RunSettings, transfers: TransferOptions, cloud: CloudBehaviour
) -> None:
    """However late transfers are, and even if all of them fail."""
    run_settings = replace(run_settings, transfers=transfers, cloud=cloud)

    check_run(workload, run_settings, exact=True)

    result = Run(workload, run_settings).execute()
    assert result.counters.get("late_starts", 0) == 0
    for lease in result.leases:
        if lease.kind is LeaseKind.RESERVATION and lease.state is LeaseState.DONE:
            assert lease.started == lease.request.start


@_EXAMPLES
@given(workloads_with_images(), RUN_SETTINGS, _AHEAD, _LATE_OR_FAILING)
def test_on_one_host_images_change_nothing(
    workload: Workload, run_settings: RunSettings, transfers: TransferOptions, cloud: CloudBehaviour
) -> None:
    """On one host, a run is the same with and without transfers."""
    assert workload.site is not None
    one_host = replace(workload, site=Site.of(workload.site.hosts[:1]))

    with_them, without = (
        Run(one_host, replace(run_settings, transfers=each, cloud=cloud)).execute() for each in (transfers, None)
    )

    assert with_them.occupations == without.occupations
    assert [lease.state for lease in with_them.leases] == [lease.state for lease in without.leases]


@_EXAMPLES
@given(workloads_with_images(), RUN_SETTINGS, _AHEAD, st.data())
def test_no_lease_is_lost_when_everything_goes_wrong(
    workload: Workload, run_settings: RunSettings, transfers: TransferOptions, data: st.DataObject
) -> None:
    """haizea F95."""
    assert workload.site is not None
    wrong = data.draw(_LATE_OR_FAILING)
    cloud = replace(
        data.draw(clouds(len(workload.site))),
        image_transfer_factor=wrong.image_transfer_factor,
        image_transfer_failure_probability=wrong.image_transfer_failure_probability,
    )

    check_run(workload, replace(run_settings, transfers=transfers, cloud=cloud), exact=False)


class _Observed:
    """A run that records transfers, and checks that no image is transferred to a host that has it."""

    def __init__(self, run: Run, age: int) -> None:
        self._run = run
        self._age = age
        self._bring, self._take_events = run.cloud.bring, run.cloud.take_events
        self.going: Transfer | None = None
        self.kept: dict[tuple[int, str], CachedImage | None] = {}
        run.cloud.bring, run.cloud.take_events = self._begin, self._report  # type: ignore[method-assign]
        self._there: dict[tuple[int, str], int] = {}

    def _begin(self, transfer: Transfer, now: int) -> None:
        assert self.going is None, "two at a time"
        assert transfer.end - now == transfer.seconds > -1
        for host in transfer.hosts:
            came = self._there.get((host, transfer.image.image_id), -self._age - 1)
            assert came + self._age < transfer.due, "it is there, and will be when it is needed"
        for user in transfer.users:
            lease = self._run.engine.lease(user.lease_id)
            assert lease is not None
            assert lease.kind in (LeaseKind.RESERVATION, LeaseKind.DEADLINE)
            assert user.hosts <= lease.holdings[0].hosts
        self.going = transfer
        self._bring(transfer, now)

    def _report(self, now: int) -> list[CloudEvent]:
        events = self._take_events(now)
        for event in events:
            if event.transfer is not None and self.going is not None:
                if event.kind is EventKind.COMPLETED:
                    self._there |= {(host, self.going.image.image_id): now for host in self.going.hosts}
                self.going = None
        return events

    def take_over(self) -> None:
        """Replace the engine by another one that knows what was stored, but not which transfers were in progress."""
        run, old = self._run, self._run.engine
        self.kept.update(old.take_cache_changes())
        policies = load_policies(run.settings.policies, PolicyOptions(run.settings.policy_options))
        run.planner = Planner(
            run.site,
            run.settings.planning,
            policies,
            deadline_preemption=run.settings.deadline_preemption,
            transfers=run.settings.transfers,
        )
        run.engine = Engine(
            run.planner,
            policies,
            Ports(run.clock, run.cloud, run.store, run.recorder, run.cloud),
            run.settings.engine,
        )
        self.going = None
        run.cloud._events = [entry for entry in run.cloud._events if entry[3].transfer is None]
        heapify(run.cloud._events)
        cached = [each for each in self.kept.values() if each is not None]
        operations = old.operations.values()
        run.engine.restore(list(run.store.load()), operations, old.next_sequence, old.hosts.outages, cached=cached)


@_EXAMPLES
@given(workloads_with_images(), RUN_SETTINGS, _AHEAD, st.frozensets(st.integers(0, 60), max_size=5))
def test_no_image_is_brought_to_a_host_that_has_it(
    workload: Workload, run_settings: RunSettings, transfers: TransferOptions, restarts: frozenset[int]
) -> None:
    """haizea F65; also by engines that take over, even during a transfer, and no lease is late because of it."""
    run = Run(workload, replace(run_settings, transfers=transfers))
    observed = _Observed(run, transfers.host_cache_age)
    number = 0
    while (instant := run.next_instant()) is not None:
        run.clock.set(max(run.clock.now(), instant))
        run.step()
        if number in restarts:
            observed.take_over()
        number += 1
        assert number < 20_000, "it does not end"

    for lease in run.store.load():
        assert lease.is_final, (lease.lease_id, lease.state)
        if lease.kind is LeaseKind.RESERVATION and lease.state is LeaseState.DONE:
            assert lease.started == lease.request.start
    assert run.recorder.counters.get("late_starts", 0) == 0
