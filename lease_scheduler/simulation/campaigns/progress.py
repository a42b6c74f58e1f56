"""How far a campaign is, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def say_what_is_left(done: int, left: Sequence[float], seconds: float | None, console: Console) -> None:
    """One line: how many runs are done, how many are left, and how long these will take.

    :param left: weight of every run that is left
    :param seconds: real time that a weight of 1 takes, none if that is not known yet
    """
    runs = f"{done + len(left):,} {'run' if done + len(left) == 1 else 'runs'}: {done:,} done, {len(left):,} left"
    console.print(runs + ("" if seconds is None else f", about {_length(seconds * sum(left))}"), highlight=False)


def _length(seconds: float) -> str:
    if seconds < 90:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


class CampaignProgress:
    """A bar on a terminal, nothing elsewhere; the bar grows with the weight of what is done, not with its number.

    :param done: runs that are done
    :param left: weight of every run that is left
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
        """One run more has come to its end."""
        self._done += 1
        self._bar.update(self._task, advance=weight, description=name, done=self._done)
