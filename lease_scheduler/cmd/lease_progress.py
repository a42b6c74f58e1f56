"""Progress of a simulation on a terminal, in leases that have ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

#: Is told how many leases have ended, and the simulated instant in seconds.
Shown = Callable[[int, int], None]

_SECONDS_PER_DAY = 86_400


@contextmanager
def lease_progress(name: str, total: int, *, quiet: bool) -> Iterator[Shown | None]:
    """Show progress on standard error while the block runs.

    :param name: what is simulated, for people
    :param total: number of leases
    :return: shows how far the simulation is; None if it is to be quiet, or standard error is no terminal
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed}/{task.total} leases, day {task.fields[day]:.1f}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(name, total=total, day=0.0)
        yield lambda ended, now: progress.update(task, completed=ended, day=now / _SECONDS_PER_DAY)
