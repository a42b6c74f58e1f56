"""Many runs over all cores, resumable: what is done is kept and never run again."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats.files import replace_file

Outcome = dict[str, Any]

_DONE_FILE = "runs.jsonl"


class Case(Protocol):
    """One run of a campaign; a picklable value."""

    @property
    def name(self) -> str:
        """What tells it from all other cases; the same case has the same name always."""
        ...

    def run(self) -> Outcome:
        """Run it and give its figures as JSON values."""
        ...


def run_campaign(
    cases: Sequence[Case], directory: Path, jobs: int | None = None, *, quiet: bool = False
) -> dict[str, Outcome]:
    """Run every case that has no outcome in the directory yet.

    :param directory: outcomes are kept there in ``runs.jsonl``, a line a case, as soon as they are known
    :param jobs: processes at a time, as many as there are cores if none
    :return: outcome by name of the case
    :raises InputFileError: the directory cannot be written, or holds something else
    """
    outcomes = _outcomes(directory / _DONE_FILE)
    waiting = [case for case in cases if case.name not in outcomes]
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("runs", total=len(cases), completed=len(cases) - len(waiting))

        def keep(case: Case, outcome: Outcome) -> None:
            outcomes[case.name] = outcome
            _append(directory / _DONE_FILE, {"case": case.name, "outcome": outcome})
            progress.update(task, advance=1, description=case.name)

        if waiting:
            _run_all(waiting, jobs or os.cpu_count() or 1, keep)
    return {case.name: outcomes[case.name] for case in cases}


def _run_all(cases: Sequence[Case], jobs: int, keep: Callable[[Case, Outcome], None]) -> None:
    if jobs == 1:
        for case in cases:
            keep(case, case.run())
        return
    # A fork would copy locks that threads of this process may hold just then.
    with ProcessPoolExecutor(max_workers=jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(case.run): case for case in cases}
        try:
            for future in as_completed(running):
                keep(running[future], future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _outcomes(path: Path) -> dict[str, Outcome]:
    """What earlier runs have left; a last line that was cut off in the middle is dropped."""
    outcomes: dict[str, Outcome] = {}
    try:
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    except OSError as error:
        raise InputFileError(str(path), None, f"cannot be read: {error.strerror}") from error
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
        replace_file(path, "".join(lines).encode())
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            outcomes[entry["case"]] = entry["outcome"]
        except (ValueError, KeyError, TypeError) as error:
            problem = "is not an outcome of this campaign; use another directory"
            raise InputFileError(str(path), number, problem) from error
    return outcomes


def _append(path: Path, entry: Outcome) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as stream:
            stream.write(json.dumps(entry, sort_keys=True).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise InputFileError(str(path), None, f"cannot be written: {error.strerror}") from error
