"""Derivation of the options of the time model from measurements (haizea F69-F72, F94)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from lease_scheduler.calibration.samples import PAIRS, Batch, MeasuredOperation, Sample
from lease_scheduler.calibration.statistics import Summary, is_global, rate, summarize
from lease_scheduler.plan.options import Exclusion, ShelvedSize

_SCHEDULING, _NOVA = "scheduling", "nova"

#: Operations whose delay from command to beginning is the enactment overhead: those that carry out a plan.
_COMMANDS = (*PAIRS.keys(), *PAIRS.values())

_RATES = {
    MeasuredOperation.SUSPEND: "suspend_rate",
    MeasuredOperation.RESUME: "resume_rate",
    MeasuredOperation.SHELVE: "shelve_rate",
    MeasuredOperation.UNSHELVE: "unshelve_rate",
}


@dataclass(frozen=True)
class Size:
    """Size of the test servers.

    :ivar shelved: whether the time of shelving is assumed to depend on the disk or on the memory
    """

    memory_mb: int
    disk_mb: int
    shelved: ShelvedSize

    def of(self, operation: MeasuredOperation) -> int:
        """Return the MB that an operation copies, according to the time model."""
        leaves = operation in (MeasuredOperation.SHELVE, MeasuredOperation.UNSHELVE)
        return self.disk_mb if leaves and self.shelved is ShelvedSize.DISK else self.memory_mb


@dataclass(frozen=True)
class Option:
    """An option with the derived value.

    :ivar reason: how the value was computed
    """

    group: str
    name: str
    value: str
    reason: str


@dataclass(frozen=True)
class Turns:
    """How much longer simultaneous operations take, as a multiple of the time of one alone.

    :ivar count: number of simultaneous operations
    :ivar on_one_host: multiple if all are on the same host; None if not measured
    :ivar on_hosts: multiple if each is on its own host; None if not measured
    :ivar exclusion: the exclusion that follows from this; None if unknown
    """

    operation: MeasuredOperation
    count: int
    on_one_host: float | None
    on_hosts: float | None
    exclusion: Exclusion | None


def durations(batches: Iterable[Batch], operation: MeasuredOperation) -> list[float]:
    """Return the seconds that the host took for each operation that was requested alone."""
    return [sample.duration for sample in _single(batches, operation)]


def overheads(batches: Sequence[Batch]) -> list[float]:
    """Return the seconds from command to beginning of all operations that were requested alone."""
    return [sample.overhead for operation in _COMMANDS for sample in _single(batches, operation)]


def failures(batches: Iterable[Batch], operation: MeasuredOperation) -> list[str]:
    """Return the reason of each failed operation."""
    return [
        sample.problem
        for batch in batches
        if batch.operation is operation
        for sample in batch.samples
        if sample.problem
    ]


def turns(batches: Sequence[Batch], operation: MeasuredOperation) -> Turns | None:
    """Return how simultaneous operations affect each other, or None if only single ones were measured.

    The result is that of the largest group.
    """
    complete = [each for each in batches if each.operation is operation and each.is_complete]
    several = [each for each in complete if each.count > 1]
    alone = _mean_rest(complete, 1, hosts=1)
    if not alone or not several:
        return None
    count = max(each.count for each in several)
    on_one_host = _mean_rest(several, count, hosts=1)
    on_hosts = _mean_rest(several, count, hosts=count)
    exclusion = None
    if on_hosts is not None:
        exclusion = Exclusion.GLOBAL if is_global(alone, on_hosts, count) else Exclusion.LOCAL
    return Turns(
        operation,
        count,
        None if on_one_host is None else on_one_host / alone,
        None if on_hosts is None else on_hosts / alone,
        exclusion,
    )


def options(batches: Sequence[Batch], size: Size) -> list[Option]:
    """Return the derived options, without those for which there are fewer than two measurements."""
    found: list[Option] = []
    for operation, name in _RATES.items():
        summary = summarize(durations(batches, operation))
        if summary is not None and size.of(operation):
            copied = size.of(operation)
            reason = f"{copied} MB / {_explain(summary)}"
            found.append(Option(_SCHEDULING, name, f"{rate(copied, summary.upper):.2f}", reason))
    if any(each.name in ("shelve_rate", "unshelve_rate") for each in found):
        reason = "what shelve_rate and unshelve_rate refer to"
        found.append(Option(_SCHEDULING, "shelved_size", size.shelved.value, reason))
    found += _exclusion(batches, MeasuredOperation.SUSPEND, "suspend_resume_exclusion")
    found += _exclusion(batches, MeasuredOperation.SHELVE, "shelve_exclusion")
    found += _seconds(_SCHEDULING, "enactment_overhead", overheads(batches))
    found += _seconds(_SCHEDULING, "stop_time", durations(batches, MeasuredOperation.STOP))
    found += _seconds(_SCHEDULING, "shutdown_time", durations(batches, MeasuredOperation.DELETE))
    return found + _preparation(batches)


def _single(batches: Iterable[Batch], operation: MeasuredOperation) -> list[Sample]:
    chosen = [each for each in batches if each.operation is operation and each.count == 1 and each.is_complete]
    return [each.samples[0] for each in chosen]


def _mean_rest(batches: Iterable[Batch], count: int, hosts: int) -> float | None:
    values = [each.rest for each in batches if each.count == count and each.hosts == hosts]
    return sum(values) / len(values) if values else None


def _exclusion(batches: Sequence[Batch], operation: MeasuredOperation, name: str) -> list[Option]:
    """Return the exclusion option, which is global if that is so in either direction."""
    both = [found for each in (operation, PAIRS[operation]) if (found := turns(batches, each)) is not None]
    told = [each for each in both if each.exclusion is not None]
    if not told:
        return []
    exclusion = Exclusion.GLOBAL if any(each.exclusion is Exclusion.GLOBAL for each in told) else Exclusion.LOCAL
    reason = "; ".join(
        f"{each.operation.value}: {each.count} at once on as many hosts take {each.on_hosts:.2f} times as long as one"
        for each in told
    )
    return [Option(_SCHEDULING, name, exclusion.value, reason)]


def _seconds(group: str, name: str, values: Sequence[float]) -> list[Option]:
    summary = summarize(values)
    return [] if summary is None else [Option(group, name, str(ceil(summary.upper)), _explain(summary))]


def _preparation(batches: Sequence[Batch]) -> list[Option]:
    """Return the preparation time, which suffices for the slowest kind of boot."""
    boots = [each for each in batches if each.operation is MeasuredOperation.BOOT and each.is_complete]
    ways = {(each.count, each.hosts) for each in boots}
    found = []
    for count, hosts in sorted(ways):
        summary = summarize([each.elapsed for each in boots if (each.count, each.hosts) == (count, hosts)])
        if summary is not None:
            reason = f"{count} at once on {hosts} hosts, from the command on: {_explain(summary)}"
            found.append((summary.upper, Option(_NOVA, "preparation_time", str(ceil(summary.upper)), reason)))
    return [max(found, key=lambda each: each[0])[1]] if found else []


def _explain(summary: Summary) -> str:
    return f"(mean {summary.mean:.2f} s + 2 x sd {summary.sd:.2f} s, {summary.count} samples)"
