"""The time model of suspension (haizea F69-F74; Sotomayor 2010, section 7.1)."""

from __future__ import annotations

from math import ceil

import pytest

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.plan.durations.suspension import SuspensionModel
from lease_scheduler.plan.options import Estimate, Exclusion, PlanningOptions, ShelvedSize, Suspension
from tests.unit.plan.conftest import new_planner

LOCAL, GLOBAL = (61.86, 66.27), (63.67, 81.27)


def _request(*sets: tuple[int, int], **terms: object) -> LeaseRequest:
    nodes = tuple(NodeSet(count, Resources({VCPU: 1, MEMORY_MB: memory})) for count, memory in sets)
    return LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, duration=3600, **{"preemptible": True, **terms})  # type: ignore[arg-type]


#: Nodes per host, memory, then (suspension, resumption) in seconds under local and under global exclusion.
PREDICTIONS = [
    (1, 512, (8.3, 7.7), (32.2, 25.2)),
    (2, 512, (16.6, 15.5), (64.3, 50.4)),
    (4, 512, (33.1, 30.9), (128.7, 100.8)),
    (8, 512, (66.2, 61.8), (257.3, 201.6)),
    (1, 768, (12.4, 11.6), (48.2, 37.8)),
    (2, 768, (24.8, 23.2), (96.5, 75.6)),
    (4, 768, (49.7, 46.4), (193.0, 151.2)),
    (8, 768, (99.3, 92.7), (386.0, 302.4)),
    (1, 1024, (16.6, 15.5), (64.3, 50.4)),
    (2, 1024, (33.1, 30.9), (128.7, 100.8)),
    (4, 1024, (66.2, 61.8), (257.3, 201.6)),
]


@pytest.mark.parametrize(("per_host", "memory", "local", "everywhere"), PREDICTIONS)
def test_times_equal_the_predictions_of_the_dissertation(
    per_host: int, memory: int, local: tuple[float, float], everywhere: tuple[float, float]
) -> None:
    """haizea E4: 4 hosts; to 0.1 s where rounding does not matter, and with each node's time rounded up to the second.

    At a thousandth of the rates the times are a thousand times as long, so that whole seconds are milliseconds.
    """
    request = _request((4 * per_host, memory))
    assignment = [host for host in range(4) for _ in range(per_host)]
    for exclusion, rates, turns, printed in (
        (Exclusion.LOCAL, LOCAL, per_host, local),
        (Exclusion.GLOBAL, GLOBAL, 4 * per_host, everywhere),
    ):
        fine = SuspensionModel(
            PlanningOptions(suspend_rate=rates[0] / 1000, resume_rate=rates[1] / 1000, exclusion=exclusion)
        )
        assert fine.suspend_time(request, assignment) / 1000 == pytest.approx(printed[0], abs=0.1)
        assert fine.resume_time(request, assignment) / 1000 == pytest.approx(printed[1], abs=0.1)
        model = SuspensionModel(PlanningOptions(suspend_rate=rates[0], resume_rate=rates[1], exclusion=exclusion))
        assert model.suspend_time(request, assignment) == turns * ceil(memory / rates[0])
        assert model.resume_time(request, assignment) == turns * ceil(memory / rates[1])


def test_the_table_has_all_configurations_of_the_dissertation() -> None:
    """haizea 5.4: both exclusions, all numbers of nodes and memory sizes except 8 of 1024 MB, which no host has."""
    found = {
        (exclusion, per_host, memory)
        for per_host, memory, local, everywhere in PREDICTIONS
        for exclusion, _ in ((Exclusion.LOCAL, local), (Exclusion.GLOBAL, everywhere))
    }
    assert found == {
        (exclusion, per_host, memory)
        for exclusion in Exclusion
        for per_host in (1, 2, 4, 8)
        for memory in (512, 768, 1024)
        if (per_host, memory) != (8, 1024)
    }
    assert len(found) == 22


def test_enactment_overhead_is_added_for_each_command_of_the_largest_configuration() -> None:
    """haizea 5.4, equation 7.2: 32 commands of a second each are added, whatever the exclusion."""
    for exclusion, printed in ((Exclusion.LOCAL, 99.3), (Exclusion.GLOBAL, 386.0)):
        rate = (LOCAL if exclusion is Exclusion.LOCAL else GLOBAL)[0]
        # At a thousandth of the rate, as above.
        options = PlanningOptions(suspend_rate=rate / 1000, exclusion=exclusion, enactment_overhead=1000)
        found = SuspensionModel(options).suspend_time(
            _request((32, 768)), [host for host in range(4) for _ in range(8)]
        )
        assert found / 1000 == pytest.approx(32 + printed, abs=0.1)


def test_each_command_adds_its_overhead() -> None:
    """haizea F71: N * e on top, equation 7.2."""
    for exclusion, expected in ((Exclusion.LOCAL, 4 * 3 + 2 * 32), (Exclusion.GLOBAL, 4 * 3 + 4 * 32)):
        options = PlanningOptions(suspend_rate=32, enactment_overhead=3, exclusion=exclusion)
        assert SuspensionModel(options).suspend_time(_request((4, 1024)), (0, 0, 1, 1)) == expected


def test_the_host_with_the_most_memory_to_save_decides() -> None:
    """haizea F69: node sets of different size; local exclusion adds up what is on one host."""
    model = SuspensionModel(PlanningOptions(suspend_rate=32))
    assert model.suspend_time(_request((1, 3200), (2, 640)), (0, 1, 1)) == 100
    assert model.suspend_time(_request((1, 3200), (2, 640)), (1, 0, 1)) == 120


def test_a_fixed_time_replaces_memory_over_rate() -> None:
    """haizea F73."""
    model = SuspensionModel(PlanningOptions(override_suspend_time=0, override_resume_time=7))
    assert model.suspend_time(_request((2, 1024)), (0, 1)) == 0
    assert model.resume_time(_request((2, 1024)), (0, 0)) == 14


def test_no_assignment_takes_longer_than_the_estimate() -> None:
    """haizea F55, with both ways to estimate."""
    request = _request((3, 1024), (1, 2048))
    for estimate in Estimate:
        model = SuspensionModel(PlanningOptions(suspend_rate=32, resume_rate=16, suspend_estimate=estimate))
        for assignment in ((0, 1, 2, 3), (0, 0, 1, 1), (0, 1, 1, 1)):
            most = max(assignment.count(host) for host in assignment)
            assert model.suspend_estimate(request, most) >= model.suspend_time(request, assignment)
            assert model.resume_estimate(request, most) >= model.resume_time(request, assignment)


def test_the_sum_estimate_adds_up_nodes_that_are_saved_in_parallel() -> None:
    """haizea 8.3: 32 nodes at 21 s each are estimated at 672 s, so a run must last 1,344 s."""
    request = _request((32, 1024))
    as_sum = SuspensionModel(PlanningOptions(suspend_rate=50, suspend_estimate=Estimate.SUM))
    as_model = SuspensionModel(PlanningOptions(suspend_rate=50))
    assert as_sum.threshold(request, 1, resuming=False) == 1344
    assert as_model.threshold(request, 1, resuming=False) == 42


def test_the_threshold_counts_the_resumption_of_a_lease_that_has_to_resume() -> None:
    """haizea F55."""
    options = PlanningOptions(suspend_rate=32, resume_rate=64, scheduling_threshold_factor=0.5)
    model = SuspensionModel(options)
    assert model.threshold(_request((1, 1024)), 1, resuming=False) == 48
    assert model.threshold(_request((1, 1024)), 1, resuming=True) == 72
    forced = SuspensionModel(PlanningOptions(force_scheduling_threshold=5))
    assert forced.threshold(_request((1, 1024)), 1, resuming=True) == 5


@pytest.mark.parametrize(
    ("suspension", "nodes", "terms", "allowed"),
    [
        (Suspension.NONE, 1, {}, False),
        (Suspension.SERIAL_ONLY, 1, {}, True),
        (Suspension.SERIAL_ONLY, 2, {}, False),
        (Suspension.ALL, 2, {}, True),
        (Suspension.ALL, 1, {"preemptible": False}, False),
        (Suspension.ALL, 1, {"preemption_mode": PreemptionMode.DELETE}, False),
        (Suspension.ALL, 1, {"preemption_mode": PreemptionMode.SHELVE}, True),
        (Suspension.ALL, 1, {"preemption_mode": PreemptionMode.STOP}, True),
        (Suspension.ALL, 1, {"preemption_mode": PreemptionMode.MIGRATE}, True),
    ],
)
def test_suspension_depends_on_the_options_and_the_terms(
    suspension: Suspension, nodes: int, terms: dict[str, object], allowed: bool
) -> None:
    """haizea F51, F13."""
    model = SuspensionModel(PlanningOptions(suspension=suspension))
    assert model.can_suspend(_request((nodes, 1024), **terms)) is allowed
    if not allowed:
        assert model.threshold(_request((nodes, 1024), **terms), 1, resuming=False) == 0


@pytest.mark.parametrize(
    ("mode", "size", "seconds"),
    [
        (PreemptionMode.SUSPEND, ShelvedSize.DISK, 32),
        (PreemptionMode.SHELVE, ShelvedSize.MEMORY, 32),
        (PreemptionMode.SHELVE, ShelvedSize.DISK, 320),
        (PreemptionMode.STOP, ShelvedSize.DISK, 45),
    ],
)
def test_the_preemption_mode_decides_what_is_copied(mode: PreemptionMode, size: ShelvedSize, seconds: int) -> None:
    """haizea 7.2: the memory if it is suspended, the disk if it is shelved, and nothing if it is stopped."""
    vm = Resources({MEMORY_MB: 1024, DISK_GB: 10})
    request = LeaseRequest(
        "1", LeaseKind.BEST_EFFORT, (NodeSet(1, vm),), 0, duration=10, preemptible=True, preemption_mode=mode
    )
    model = SuspensionModel(PlanningOptions(suspend_rate=32, resume_rate=32, shelved_size=size, stop_time=45))
    assert model.suspend_time(request, (0,)) == seconds
    assert model.resume_time(request, (0,)) == (0 if mode is PreemptionMode.STOP else seconds)


def test_shelving_has_a_rate_and_turns_of_its_own() -> None:
    """haizea 7.2: the image store is not the host's disk. The rates for suspension apply where no others are set."""
    vm = Resources({MEMORY_MB: 1024, DISK_GB: 10})
    options = PlanningOptions(
        suspend_rate=32,
        resume_rate=64,
        shelve_rate=16,
        unshelve_rate=8,
        shelve_exclusion=Exclusion.GLOBAL,
        suspend_estimate=Estimate.MODEL,
    )
    expected = {
        PreemptionMode.SUSPEND: (32, 16),
        PreemptionMode.SHELVE: (2 * 64, 2 * 128),
        PreemptionMode.MIGRATE: (2 * 64, 2 * 128),
    }
    for mode, (away, back) in expected.items():
        request = LeaseRequest(
            "1", LeaseKind.BEST_EFFORT, (NodeSet(2, vm),), 0, duration=10, preemptible=True, preemption_mode=mode
        )
        model, unset = SuspensionModel(options), SuspensionModel(PlanningOptions(suspend_rate=32, resume_rate=64))
        assert (model.suspend_time(request, (0, 1)), model.resume_time(request, (0, 1))) == (away, back)
        assert (model.suspend_estimate(request, 1), model.resume_estimate(request, 1)) == (away, back)
        assert max(end for _, _, end in model.turns(request, (0, 1), 0, suspend=True)) == away
        assert (unset.suspend_time(request, (0, 1)), unset.resume_time(request, (0, 1))) == (32, 16)


def test_nodes_that_exclude_each_other_take_turns() -> None:
    """haizea F74."""
    request = _request((3, 320))
    local = SuspensionModel(PlanningOptions(suspend_rate=32, enactment_overhead=1))
    assert local.turns(request, (0, 1, 0), 100, suspend=True) == [(0, 100, 111), (1, 100, 111), (2, 111, 122)]
    everywhere = SuspensionModel(PlanningOptions(resume_rate=32, exclusion=Exclusion.GLOBAL))
    assert everywhere.turns(request, (0, 1, 0), 0, suspend=False) == [(0, 0, 10), (1, 10, 20), (2, 20, 30)]


def test_shutdowns_take_time_only_if_some_is_reserved() -> None:
    """haizea F72: shutdown = sh + e * N."""
    request = _request((4, 1024))
    assert SuspensionModel(PlanningOptions(shutdown_time=10, enactment_overhead=2)).shutdown_time(request) == 18
    assert SuspensionModel(PlanningOptions(enactment_overhead=2)).shutdown_time(request) == 0


@pytest.mark.parametrize(
    ("need", "megabytes"),
    [
        (Resources({HOST_SHARE: WHOLE_HOST}), 8192),
        (Resources({VCPU: 4, HOST_SHARE: 1}), 4096),
        (Resources({VCPU: 3, HOST_SHARE: 1}), 4096),
        (Resources({VCPU: 1, MEMORY_MB: 512}), 512),
        (Resources({"CUSTOM_ADDRESS": 1}), 0),
    ],
)
@pytest.mark.parametrize("size", ShelvedSize)
def test_a_class_that_a_node_set_does_not_name_counts_by_share_of_host(
    need: Resources, megabytes: int, size: ShelvedSize
) -> None:
    """A whole host may have used all of its memory; nodes with only VCPUs may have used all of it together."""
    big = Resources({VCPU: 8, MEMORY_MB: 8192, DISK_GB: 8, HOST_SHARE: WHOLE_HOST})
    small = Resources({VCPU: 4, MEMORY_MB: 2048, DISK_GB: 2, HOST_SHARE: WHOLE_HOST})
    addresses = Host("address", Resources({"CUSTOM_ADDRESS": 1}))
    site = Site.of([Host("big", big), Host("small", small), addresses])
    planner = new_planner(site=site, suspend_rate=32, resume_rate=32, shelved_size=size)
    request = LeaseRequest(
        "1",
        LeaseKind.BEST_EFFORT,
        (NodeSet(1, need),),
        0,
        preemptible=True,
        preemption_mode=PreemptionMode.SHELVE if size is ShelvedSize.DISK else PreemptionMode.SUSPEND,
    )
    if size is ShelvedSize.DISK and MEMORY_MB in need:
        megabytes = 8192 // 8
    expected = megabytes // 32
    assert planner.context.suspension.suspend_time(request, (0,)) == expected
    assert planner.context.suspension.resume_time(request, (0,)) == expected
    assert planner.context.suspend_estimate(request) == expected * planner.context.most_per_host(request)


def test_the_time_model_knows_hosts_that_are_added_later() -> None:
    """haizea F21: a host that is added with more memory counts from then on."""
    planner = new_planner(1, Resources({MEMORY_MB: 1024, HOST_SHARE: WHOLE_HOST}))
    request = LeaseRequest(
        "1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({HOST_SHARE: WHOLE_HOST})),), 0, preemptible=True
    )
    assert planner.context.suspend_estimate(request) == 32
    larger = Host("larger", Resources({MEMORY_MB: 4096, HOST_SHARE: WHOLE_HOST}))
    planner.plan.change_site(Site.of([*planner.plan.site.hosts, larger]), 0)
    assert planner.context.suspend_estimate(request) == 128
