"""Runs scenarios in processes that may be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest

_ROOT = Path(__file__).parents[3]

#: Runs the scenario in a folder and returns the exit status; a negative one is a signal.
Run = Callable[..., int]

#: Seconds; more than the launcher gives a run, and less than faulthandler_timeout.
_LONGEST_RUN = 420.0

#: A run spends most of its time waiting.
_SIDE_BY_SIDE = 16


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Runs a scenario, that of a whole day unless another one is named."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.functional.crash.launcher"],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    ) as launcher:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        requests, answers = launcher.stdin, launcher.stdout
        numbers = count()
        lock = Lock()
        waiting: dict[int, Future[int]] = {}

        def one(folder: Path, kill_at: int, speed: float, scenario: str = "day", **options: Any) -> int:
            over: Future[int] = Future()
            with lock:
                number = next(numbers)
                waiting[number] = over
                url = f"sqlite:///{folder}/db.sqlite"
                request = {"number": number, "folder": str(folder), "url": url, "kill_at": kill_at, "speed": speed}
                print(json.dumps(request | {"scenario": scenario, **options}), file=requests, flush=True)
            return over.result(_LONGEST_RUN)

        def hear() -> None:
            for line in answers:
                number, status = line.split()
                waiting.pop(int(number)).set_result(int(status))

        hearing = Thread(target=hear)
        hearing.start()
        yield one
        requests.close()
        hearing.join()


def seen_in(folder: Path) -> dict[str, Any]:
    """Return what a scenario saw that came to its end."""
    seen = json.loads((folder / "seen.json").read_text())
    assert isinstance(seen, dict)
    return seen


def killed_at_each(
    run: Run,
    folder: Path,
    boundaries: Iterable[int],
    check: Callable[[dict[str, Any]], None],
    speed: float,
    **terms: Any,
) -> int:
    """Kill a scenario at each of some boundaries, let a second process finish it, and check what that one saw.

    :param boundaries: ascending; those are left out that the scenario does not come to
    :param terms: arguments of ``run``
    :return: the number of runs that were killed
    """
    last = Event()

    def is_killed(boundary: int) -> bool:
        if last.is_set():
            return False
        place = folder / str(boundary)
        place.mkdir()
        if run(place, boundary, speed, **terms) == 0:
            last.set()
            return False
        assert run(place, 0, speed, **terms) == 0, boundary
        seen = seen_in(place)
        try:
            check(seen)
        except AssertionError as error:
            raise AssertionError(f"killed at boundary {boundary}: {error}; {json.dumps(seen, indent=1)}") from error
        return True

    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        killed = sum(pool.map(is_killed, boundaries))
    print(f"killed at {killed} boundaries")
    return killed
