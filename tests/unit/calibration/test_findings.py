"""From samples to options (haizea F69-F72, F94)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from oslo_config import cfg

from lease_scheduler.calibration import findings
from lease_scheduler.calibration.accuracy import accuracies
from lease_scheduler.calibration.findings import Size
from lease_scheduler.calibration.rounds import rounds
from lease_scheduler.calibration.samples import Batch, MeasuredOperation, Sample
from lease_scheduler.conf import opts
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.options import Exclusion, PlanningOptions, ShelvedSize

_SIZE = Size(memory_mb=1024, disk_mb=20_480, shelved=ShelvedSize.DISK)


def _batch(
    operation: MeasuredOperation, hosts: Sequence[str], seconds: Sequence[float], overhead: float = 0.5
) -> Batch:
    samples = [
        Sample(operation, f"s{number}", host, 100.0, 100.0 + overhead, 100.0 + overhead + took)
        for number, (host, took) in enumerate(zip(hosts, seconds, strict=True))
    ]
    return Batch(operation, 0, samples)


def _failed(operation: MeasuredOperation) -> Batch:
    return Batch(operation, 0, [Sample(operation, "s", "a", 100.0, problem="suspend: too long")])


def _values(batches: Sequence[Batch], size: Size = _SIZE) -> dict[str, str]:
    return {f"{each.group}.{each.name}": each.value for each in findings.options(batches, size)}


def _of_all(seconds: float) -> list[Batch]:
    return [_batch(operation, ["a"], [seconds]) for operation in MeasuredOperation for _ in range(3)]


def test_each_option_follows_from_its_operation() -> None:
    batches = [
        _batch(operation, ["a"], [took])
        for operation, took in (
            (MeasuredOperation.BOOT, 40.2),
            (MeasuredOperation.SUSPEND, 16.0),
            (MeasuredOperation.RESUME, 8.0),
            (MeasuredOperation.SHELVE, 64.0),
            (MeasuredOperation.UNSHELVE, 32.0),
            (MeasuredOperation.STOP, 20.1),
            (MeasuredOperation.START, 5.0),
            (MeasuredOperation.DELETE, 3.5),
        )
        for _ in range(2)
    ]
    assert _values(batches) == {
        "scheduling.suspend_rate": "64.00",
        "scheduling.resume_rate": "128.00",
        "scheduling.shelve_rate": "320.00",
        "scheduling.unshelve_rate": "640.00",
        "scheduling.shelved_size": "disk",
        "scheduling.enactment_overhead": "1",
        "scheduling.stop_time": "21",
        "scheduling.shutdown_time": "4",
        "nova.preparation_time": "41",
    }
    by_memory = Size(1024, 20_480, ShelvedSize.MEMORY)
    assert _values(batches, by_memory)["scheduling.shelve_rate"] == "16.00"


def test_the_service_knows_all_options() -> None:
    """The written options can be read back."""
    conf = cfg.ConfigOpts()
    opts.register(conf)
    conf([])
    several = [_batch(operation, ["a", "b"], [9.0, 9.0]) for operation in MeasuredOperation]
    for option in findings.options([*_of_all(7.0), *several], _SIZE):
        conf.set_override(option.name, option.value, group=option.group)
        assert conf[option.group][option.name] is not None


def test_what_failed_is_left_out_and_counted() -> None:
    batches = [*_of_all(10.0), _failed(MeasuredOperation.SUSPEND)]
    assert findings.durations(batches, MeasuredOperation.SUSPEND) == [pytest.approx(10.0)] * 3
    assert findings.failures(batches, MeasuredOperation.SUSPEND) == ["suspend: too long"]
    alone = [_batch(MeasuredOperation.SUSPEND, ["a"], [10.0]), _failed(MeasuredOperation.SUSPEND)]
    assert "scheduling.suspend_rate" not in _values(alone)


@pytest.mark.parametrize(
    ("on_hosts", "expected"),
    [([10.0, 11.0, 10.5, 10.0], Exclusion.LOCAL), ([10.0, 20.0, 30.0, 40.0], Exclusion.GLOBAL)],
)
def test_turns_are_recognised_by_operations_on_as_many_hosts(on_hosts: list[float], expected: Exclusion) -> None:
    """haizea F69, F70: whatever the order of operations on one host."""
    batches = [
        *_of_all(10.0),
        _batch(MeasuredOperation.SUSPEND, "aaaa", [10.0, 20.0, 30.0, 40.0]),
        _batch(MeasuredOperation.SUSPEND, "abcd", on_hosts),
        # Fewer servers say less about exclusion.
        _batch(MeasuredOperation.SUSPEND, "ab", [10.0, 20.0]),
    ]
    found = findings.turns(batches, MeasuredOperation.SUSPEND)
    assert found is not None
    assert (found.count, found.exclusion) == (4, expected)
    # The overhead of a command is half a second.
    assert found.on_one_host == pytest.approx(40.5 / 10.5)
    assert _values(batches)["scheduling.suspend_resume_exclusion"] == expected.value
    assert "scheduling.shelve_exclusion" not in _values(batches)


def test_with_one_host_turns_stay_unknown() -> None:
    batches = [*_of_all(10.0), _batch(MeasuredOperation.SHELVE, "aa", [10.0, 20.0])]
    found = findings.turns(batches, MeasuredOperation.SHELVE)
    assert found is not None
    assert (found.on_hosts, found.exclusion) == (None, None)
    assert "scheduling.shelve_exclusion" not in _values(batches)


def test_one_direction_that_takes_turns_makes_both_exclusive() -> None:
    batches = [
        *_of_all(10.0),
        _batch(MeasuredOperation.SHELVE, "ab", [10.0, 10.0]),
        _batch(MeasuredOperation.UNSHELVE, "ab", [10.0, 20.0]),
    ]
    assert _values(batches)["scheduling.shelve_exclusion"] == "global"


def test_preparation_is_long_enough_for_several_boots() -> None:
    batches = [*_of_all(10.0), *[_batch(MeasuredOperation.BOOT, "aa", [10.0, 25.0], overhead=0.4) for _ in range(2)]]
    assert _values(batches)["nova.preparation_time"] == "26"


def test_accuracy_is_the_observed_time_by_the_predicted_one() -> None:
    """haizea E4, equation 7.2: more than 1 is an under-estimate."""
    options = PlanningOptions(
        suspend_rate=64, resume_rate=64, shelve_rate=640, shelve_exclusion=Exclusion.GLOBAL, enactment_overhead=1,
        shelved_size=ShelvedSize.DISK, stop_time=10,
    )  # fmt: skip
    needs = Resources({VCPU: 1, MEMORY_MB: 1024, DISK_GB: 20})
    batches = [
        _batch(MeasuredOperation.SUSPEND, "ab", [16.0, 17.5]),
        _batch(MeasuredOperation.RESUME, "aa", [16.0, 67.5]),
        _batch(MeasuredOperation.SHELVE, "ab", [16.0, 32.5]),
        _batch(MeasuredOperation.STOP, "a", [21.5]),
        _batch(MeasuredOperation.BOOT, "a", [16.0]),
        _failed(MeasuredOperation.SUSPEND),
    ]
    found = {each.operation: each for each in accuracies(batches, needs, options)}
    predicted = {operation: each.predicted for operation, each in found.items()}
    assert predicted == {
        MeasuredOperation.SUSPEND: 2 * 1 + 16,
        MeasuredOperation.RESUME: 2 * 1 + 2 * 16,
        MeasuredOperation.SHELVE: 2 * 1 + 2 * 32,
        MeasuredOperation.STOP: 1 + 10,
    }
    assert found[MeasuredOperation.SUSPEND].ratio == pytest.approx(18.0 / 18)
    assert found[MeasuredOperation.SHELVE].is_kept
    assert not found[MeasuredOperation.RESUME].is_kept
    assert found[MeasuredOperation.STOP].ratio == pytest.approx(2.0)
    assert not found[MeasuredOperation.STOP].is_kept


def test_a_predicted_time_of_zero_is_never_kept() -> None:
    options = PlanningOptions(override_suspend_time=0)
    (found,) = accuracies([_batch(MeasuredOperation.SUSPEND, "a", [1.0])], Resources({MEMORY_MB: 64}), options)
    assert found.ratio == float("inf")
    assert not found.is_kept


def test_rounds_use_all_hosts() -> None:
    planned = rounds(["a", "b", "c"], repetitions=4, at_once=[2, 4], group_repetitions=2)
    hosts = ["".join(each.hosts) for each in planned]
    # Four at once do not fit on three hosts with one each.
    assert hosts == ["a", "b", "c", "a", "aa", "ab", "bb", "bc", "aaaa", "bbbb"]
