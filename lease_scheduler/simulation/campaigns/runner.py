"""The runner of campaigns, on all cores or on a cluster. Campaigns can be resumed: finished runs are not repeated."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError
from lease_scheduler.simulation.campaigns.case import Case, CostedCase, Failure, Outcome, Success, parameters_of
from lease_scheduler.simulation.campaigns.distributed import run_distributed
from lease_scheduler.simulation.campaigns.journal import Entry, Journal, locked
from lease_scheduler.simulation.campaigns.manifest import open_manifest
from lease_scheduler.simulation.campaigns.processes import run_in_processes
from lease_scheduler.simulation.campaigns.progress import CampaignProgress, say_what_is_left

#: Called with a case and its outcome before the outcome is stored; returns what to store.
Keep = Callable[[Case, Outcome], Outcome]


class CampaignFailedError(LeaseSchedulerError):
    """Some runs of a campaign failed; the outcomes of all others are stored.

    :param failures: name of the case -> failure
    :param directory: directory of the campaign
    """

    def __init__(self, failures: Mapping[str, Failure], directory: Path) -> None:
        lines = [f"{name}: {failure.error} (exit code {failure.exit_code})" for name, failure in failures.items()]
        count = f"{len(lines)} {'run' if len(lines) == 1 else 'runs'} failed"
        where = f"tracebacks are in {directory / 'manifest.json'}, and the same command tries again"
        super().__init__("\n".join([f"{count}; {where}:", *lines]))
        self.failures = dict(failures)


@dataclass(frozen=True)
class Execution:
    """Where and how the runs of a campaign are done.

    :ivar jobs: number of processes at a time; None for the number of cores
    :ivar scheduler: address or file of a scheduler of dask.distributed; None for this machine
    :ivar quiet: whether to hide the progress
    :raises InvalidValueError: a value is invalid, or the values exclude each other
    """

    jobs: int | None = None
    scheduler: str | None = None
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise InvalidValueError("--jobs", f"must be at least 1, not {self.jobs}")
        if self.jobs is not None and self.scheduler is not None:
            raise InvalidValueError("--jobs", "does not go with --scheduler, whose workers say how many runs they take")

    @property
    def processes(self) -> int:
        """Number of processes at a time on this machine."""
        return self.jobs or os.cpu_count() or 1

    def run(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Success | Failure]]:
        """Run cases in the given order, and yield each with its result as soon as the result is known."""
        if self.scheduler is not None:
            return run_distributed(cases, self.scheduler)
        return run_in_processes(cases, self.processes)


def run_campaign(
    cases: Sequence[Case],
    directory: Path,
    execution: Execution,
    *,
    inputs: Sequence[Path] = (),
    keep: Keep = lambda _, outcome: outcome,
) -> dict[str, Outcome]:
    """Run every case that has no outcome in the directory yet, longest cases first.

    Cases that do not say what they cost (``case.CostedCase``) all count the same. Outcomes are appended to
    ``runs.jsonl``, one line per case, as soon as they are known. ``manifest.json`` describes what was run. Equal cases
    are run once.

    :param inputs: files that the runs read
    :param keep: returns what to store of an outcome; called in this process, not where the case was run
    :return: stored outcomes by name of the case
    :raises CampaignFailedError: some runs failed; raised when all others are done
    :raises InputFileError: an input cannot be read, the directory cannot be written or has other contents, a finished
        run of the same name had other parameters, or another campaign uses the directory
    :raises InvalidValueError: the scheduler does not answer, or two different cases have the same name
    """
    by_name = _by_name(cases)
    console = Console(stderr=True, quiet=execution.quiet)
    with locked(directory):
        journal = Journal(directory)
        manifest, differences = open_manifest(directory, by_name.values(), journal.entries, inputs, sys.argv)
        for difference in differences:
            # Printed even if progress is hidden, because the figures may not be comparable.
            Console(stderr=True).print(f"warning: difference from the previous call: {difference}", soft_wrap=True)
        weights = {name: case.cost_s if isinstance(case, CostedCase) else 1.0 for name, case in by_name.items()}
        waiting = [case for case in by_name.values() if case.name not in journal.entries]
        # Long runs come first, so that cores do not wait long for the last run.
        waiting.sort(key=lambda case: weights[case.name], reverse=True)
        manifest.write(journal.entries)
        left = [weights[case.name] for case in waiting]
        if waiting:
            cost = _cost(weights, journal.entries, known=all(isinstance(case, CostedCase) for case in waiting))
            spread = None if cost is None or execution.scheduler is not None else cost / execution.processes
            say_what_is_left(len(by_name) - len(waiting), left, spread, console)
        try:
            with CampaignProgress(len(by_name) - len(waiting), left, console) as progress:
                for case, result in execution.run(waiting) if waiting else ():
                    if isinstance(result, Failure):
                        manifest.failed[case.name] = result
                    else:
                        journal.append(case.name, result, keep(case, result.outcome))
                    progress.advance(case.name, weights[case.name])
        finally:
            manifest.write(journal.entries)
        if manifest.failed:
            raise CampaignFailedError(manifest.failed, directory)
        return {name: journal.entries[name].outcome for name in by_name}


def _by_name(cases: Sequence[Case]) -> dict[str, Case]:
    found: dict[str, Case] = {}
    for case in cases:
        other = found.setdefault(case.name, case)
        if other is not case and parameters_of(other) != parameters_of(case):
            raise InvalidValueError("cases", f"two different runs have the name {case.name!r}; rename one")
    return found


def _cost(weights: Mapping[str, float], done: Mapping[str, Entry], *, known: bool) -> float | None:
    """Return the CPU seconds of a weight of 1, as measured so far; without measurements, 1 or None.

    :param known: whether weights are estimates in CPU seconds
    """
    measured = {name: done[name].usage["cpu_s"] for name in weights if name in done and "cpu_s" in done[name].usage}
    if measured:
        return float(sum(measured.values())) / sum(weights[name] for name in measured)
    return 1.0 if known else None
