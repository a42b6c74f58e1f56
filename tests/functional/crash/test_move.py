"""The engine is killed while running leases are moved together; its successor goes on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from tests.functional.crash.conftest import Run, killed_at_each, seen_in

#: Seconds of the scenario per real second. After a kill, the rest only has to reach its end.
_SPEED, _SPEED_WITHOUT_A_CRASH = 20.0, 8.0


def _check(seen: dict[str, Any], *, killed: bool) -> None:
    assert not seen["broken"]
    assert seen["differences"] == []
    assert seen["oversold"] == []
    assert seen["left"] == []
    for name, lease in seen["leases"].items():
        # What could not be kept because no engine ran is told.
        assert lease["state"] == "done" or (killed and lease["reason"]), (name, lease)
    if not killed:
        assert set(seen["leases"]) == {"one", "two", "short"}
        assert len(set(seen["hosts"][0])) == 2
        assert len(set(seen["hosts"][-1])) == 1


def test_leases_are_moved_together_without_a_crash(run: Run, tmp_path: Path) -> None:
    """They begin on two hosts, and are on one in the end; on a busy machine, at a third of the pace."""
    for pace in (1, 3):
        folder = tmp_path / str(pace)
        folder.mkdir()
        assert run(folder, 0, _SPEED_WITHOUT_A_CRASH / pace, scenario="move") == 0
        seen = seen_in(folder)
        if all(lease["state"] == "done" for lease in seen["leases"].values()):
            break
    _check(seen, killed=False)


def test_killed_while_leases_move(run: Run, tmp_path: Path) -> None:
    """At some boundaries, from the first request to the last end."""
    check = partial(_check, killed=True)
    assert killed_at_each(run, tmp_path, range(2, 200, 4), check, _SPEED, scenario="move") > 10
