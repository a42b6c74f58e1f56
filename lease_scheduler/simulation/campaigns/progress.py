"""The progress of a campaign, and the time that the rest will take."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def say_what_is_left(done: int, left: Sequence[float], seconds: float | None, console: Console) -> None:
    """Print in one line how many runs are done, how many are left, and how long these will take.

    :param done: number of runs that are done
    :param left: weight of each run that is left
    :param seconds: real seconds that a weight of 1 takes; None if not known yet
    """
    runs = f"{done + len(left):,} {'run' if done + len(left) == 1 else 'runs'}: {done:,} done, {len(left):,} left"
    console.print(runs + ("" if seconds is None else f", about {_length(seconds * sum(left))}"), highlight=False)


def _length(seconds: float) -> str:
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


class CampaignProgress:
    """A progress bar, which is shown only on a terminal; it shows the weight of the finished runs, not their number.

    :param done: number of runs that are done
    :param left: weight of each run that is left
    """

    def __init__(self, done: int, left: Sequence[float], console: Console) -> None:
        self._done, self._total = done, done + len(left)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[done]}/{task.fields[runs]} runs"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task("runs", total=sum(left), done=done, runs=self._total)

    def __enter__(self) -> CampaignProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def advance(self, name: str, weight: float) -> None:
        """Advance the bar by a run that has ended."""
        self._done += 1
        self._bar.update(self._task, advance=weight, description=name, done=self._done)
