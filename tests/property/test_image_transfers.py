"""Random runs in which leases have disk images (haizea F60-F68, F92).

At every step the invariants check that running leases have their images, that no lease relies on a transfer that does
not come, that no host keeps more than it may, and that no two transfers are planned for the same time.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, clouds, workloads_with_images
from .test_whole_runs import check_run

_EXAMPLES = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_TRANSFERS = st.builds(
    TransferOptions,
    bandwidth=st.sampled_from([50.0, 100.0, 1000.0]),
    mechanism=st.sampled_from([Mechanism.MULTICAST, Mechanism.MULTICAST, Mechanism.UNICAST]),
    reuse=st.sampled_from(Reuse),
    cache_size_mb=st.sampled_from([None, 0, 1600, 4100]),
    avoid_redundant=st.booleans(),
    force_seconds=st.sampled_from([None, None, 0, 7]),
    keep_replanned=st.booleans(),
    copy_on_write=st.booleans(),
)


@_EXAMPLES
@given(workloads_with_images(), RUN_SETTINGS, _TRANSFERS)
def test_every_promise_is_kept_and_no_lease_runs_without_its_image(
    workload: Workload, run_settings: RunSettings, transfers: TransferOptions
) -> None:
    check_run(workload, replace(run_settings, transfers=transfers), exact=True)


@_EXAMPLES
@given(workloads_with_images(), RUN_SETTINGS, _TRANSFERS, st.data())
def test_no_lease_is_lost_when_transfers_are_late_or_fail(
    workload: Workload, run_settings: RunSettings, transfers: TransferOptions, data: st.DataObject
) -> None:
    """haizea F95: with all other faults at the same time."""
    assert workload.site is not None
    cloud = replace(
        data.draw(clouds(len(workload.site))),
        image_transfer_factor=data.draw(st.sampled_from([1.0, 0.5, 3.0])),
        image_transfer_failure_probability=data.draw(st.sampled_from([0.0, 0.0, 0.3])),
    )

    check_run(workload, replace(run_settings, transfers=transfers, cloud=cloud), exact=False)


@settings(_EXAMPLES, max_examples=60)
@given(workloads_with_images(), RUN_SETTINGS)
def test_without_transfers_images_change_nothing(workload: Workload, run_settings: RunSettings) -> None:
    """Without transfers a run is the same with images as without."""
    without = replace(
        workload,
        leases=tuple(replace(lease, request=replace(lease.request, software=None)) for lease in workload.leases),
    )

    with_images, bare = (Run(each, run_settings).execute() for each in (workload, without))

    assert with_images.occupations == bare.occupations
    assert with_images.counters == bare.counters


@settings(_EXAMPLES, max_examples=60)
@given(workloads_with_images(), RUN_SETTINGS, _TRANSFERS)
def test_reservations_are_never_late_for_their_image(
    workload: Workload, run_settings: RunSettings, transfers: TransferOptions
) -> None:
    """haizea F60, experiment E3: every accepted lease starts at its instant, image included."""
    result = Run(workload, replace(run_settings, transfers=transfers)).execute()

    for lease in result.leases:
        if lease.kind is LeaseKind.RESERVATION and lease.state is LeaseState.DONE:
            assert lease.started == lease.request.start
    assert result.counters.get("late_starts", 0) == 0
