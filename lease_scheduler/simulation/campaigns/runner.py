"""Many runs over all cores or a cluster, resumable: what is done is kept and never run again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError
from lease_scheduler.simulation.campaigns.case import Case, Failure, Outcome, Success, parameters_of
from lease_scheduler.simulation.campaigns.distributed import run_distributed
from lease_scheduler.simulation.campaigns.journal import Entry, Journal, locked
from lease_scheduler.simulation.campaigns.manifest import open_manifest
from lease_scheduler.simulation.campaigns.processes import run_in_processes
from lease_scheduler.simulation.campaigns.progress import CampaignProgress, say_what_is_left

#: Gives the CPU seconds that a case will take, as far as one can know.
Forecast = Callable[[Case], float]

#: Takes the outcome of a case that is done, before it is kept, and gives what to keep of it.
Keep = Callable[[Case, Outcome], Outcome]


class CampaignFailedError(LeaseSchedulerError):
    """Some runs of a campaign failed; all others are done, and kept.

    :param failures: name of the case -> why
    """

    def __init__(self, failures: Mapping[str, Failure], directory: Path) -> None:
        lines = [f"{name}: {failure.error} (exit code {failure.exit_code})" for name, failure in failures.items()]
        count = f"{len(lines)} {'run' if len(lines) == 1 else 'runs'} failed"
        where = f"tracebacks are in {directory / 'manifest.json'}, and the same command tries again"
        super().__init__("\n".join([f"{count}; {where}:", *lines]))
        self.failures = dict(failures)


@dataclass(frozen=True)
class Execution:
    """How the runs of a campaign are brought to the machine.

    :ivar jobs: processes at a time, as many as there are cores if none
    :ivar scheduler: address or file of a scheduler of dask.distributed, none for this machine
    :ivar quiet: whether nothing is said of the progress
    :raises InvalidValueError: values that cannot be, or do not go together
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
        """Processes at a time on this machine."""
        return self.jobs or os.cpu_count() or 1

    def run(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Success | Failure]]:
        """Run cases, the first ones first, each result as soon as it is known."""
        if self.scheduler is not None:
            return run_distributed(cases, self.scheduler)
        return run_in_processes(cases, self.processes)


def run_campaign(
    cases: Sequence[Case],
    directory: Path,
    execution: Execution,
    *,
    inputs: Sequence[Path] = (),
    forecast: Forecast | None = None,
    keep: Keep = lambda _, outcome: outcome,
) -> dict[str, Outcome]:
    """Run every case that has no outcome in the directory yet, those that take longest first.

    Outcomes go to ``runs.jsonl``, a line a case, as soon as they are known; ``manifest.json`` says what was run.
    Equal cases count once.

    :param inputs: files that the runs read
    :param forecast: what cases cost; all the same if none
    :param keep: called here, not where the case ran
    :return: outcome by name of the case
    :raises CampaignFailedError: runs failed; it comes when all others are done
    :raises InputFileError: the directory cannot be written, holds something else or other runs of the same names, or
        another campaign is at work there; or an input cannot be read
    :raises InvalidValueError: the scheduler does not answer, or two different cases have one name
    """
    by_name = _by_name(cases)
    console = Console(stderr=True, quiet=execution.quiet)
    with locked(directory):
        journal = Journal(directory)
        manifest, differences = open_manifest(directory, by_name.values(), journal.entries, inputs, sys.argv)
        for difference in differences:
            # Also for those who do not want to see progress: figures may not go together.
            Console(stderr=True).print(f"warning: different from the call before: {difference}", soft_wrap=True)
        weights = {name: 1.0 if forecast is None else forecast(case) for name, case in by_name.items()}
        waiting = [case for case in by_name.values() if case.name not in journal.entries]
        # What takes long comes first, so that no core has to wait long for the last one in the end.
        waiting.sort(key=lambda case: weights[case.name], reverse=True)
        manifest.write(journal.entries)
        left = [weights[case.name] for case in waiting]
        if waiting:
            cost = _cost(weights, journal.entries, known=forecast is not None)
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
    """CPU seconds that a weight of 1 costs: as measured so far, else 1 if the weights are seconds, else not known."""
    measured = {name: done[name].usage["cpu_s"] for name in weights if name in done and "cpu_s" in done[name].usage}
    if measured:
        return float(sum(measured.values())) / sum(weights[name] for name in measured)
    return 1.0 if known else None
