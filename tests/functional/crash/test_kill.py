"""The engine is killed at every boundary of a small day; whoever comes next finishes it as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).parents[3]

Run = Callable[[Path, str, int], int]

_SIDE_BY_SIDE = 16

_DURATIONS = {"long": 60, "behind": 15, "in time": 20, "at once": 10}


@contextmanager
def _launcher() -> Iterator[Run]:
    """Runs the scenario; gives the exit status, negative for a signal."""
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

        def one(folder: Path, url: str, kill_at: int) -> int:
            print(json.dumps({"folder": str(folder), "url": url, "kill_at": kill_at}), file=requests, flush=True)
            return int(answers.readline())

        yield one
        requests.close()


@pytest.fixture(scope="module")
def launchers() -> Iterator[list[Run]]:
    """Several, because a run waits most of the time."""
    with ExitStack() as stack:
        yield [stack.enter_context(_launcher()) for _ in range(_SIDE_BY_SIDE)]


def _seen(folder: Path) -> dict[str, Any]:
    seen = json.loads((folder / "seen.json").read_text())
    assert isinstance(seen, dict)
    return seen


def _check(seen: dict[str, Any], *, killed: bool) -> None:
    assert not seen["broken"]
    assert seen["rebuilt"]
    assert seen["oversold"] == []
    assert seen["left"] == []
    assert seen["intents"] == 0
    leases = seen["leases"]
    assert seen["count"] == len(leases)
    assert {"long", "behind", "never"} <= set(leases)
    assert leases["never"]["state"] == "cancelled"
    for name in ("long", "behind"):
        assert leases[name]["state"] == "done", (name, leases[name], seen["history"][name])
        assert leases[name]["accumulated"] >= _DURATIONS[name]
        assert seen["history"][name].count("done") == 1
    for name in ("fixed", "in time", "at once"):
        if name in leases:
            # A promise that could not be kept because nobody was there is told as such, never forgotten.
            assert leases[name]["state"] in ({"done", "failed"} if killed else {"done"}), (name, leases[name])
            assert leases[name]["reason"] or leases[name]["state"] == "done"


def test_a_day_without_a_crash(launchers: list[Run], tmp_path: Path) -> None:
    assert launchers[0](tmp_path, f"sqlite:///{tmp_path}/db.sqlite", 0) == 0
    seen = _seen(tmp_path)
    _check(seen, killed=False)
    assert any("suspending" in states for states in seen["history"].values())
    assert set(seen["leases"]) == {"long", "behind", "fixed", "in time", "never", "at once"}


def test_killed_at_every_boundary(launchers: list[Run], tmp_path: Path) -> None:
    def every_nth(first: int) -> int:
        """How many boundaries were killed at, from one on in steps."""
        run, kill_at = launchers[first - 1], first
        while True:
            folder = tmp_path / str(kill_at)
            folder.mkdir()
            url = f"sqlite:///{folder}/db.sqlite"
            if run(folder, url, kill_at) == 0:
                # The day has fewer boundaries than that.
                return (kill_at - first) // _SIDE_BY_SIDE
            assert run(folder, url, 0) == 0, kill_at
            seen = _seen(folder)
            try:
                _check(seen, killed=True)
            except AssertionError as error:
                raise AssertionError(f"killed at boundary {kill_at}: {error}; {json.dumps(seen, indent=1)}") from error
            kill_at += _SIDE_BY_SIDE

    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        killed = sum(pool.map(every_nth, range(1, _SIDE_BY_SIDE + 1)))
    assert killed > 100
