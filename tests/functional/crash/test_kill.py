"""The engine is killed at every boundary of a small day; its successor finishes the day as if nothing had happened."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.functional.crash.conftest import Run, killed_at_each, seen_in

#: Seconds of the day per real second. After a kill, the rest of the day only has to reach its end.
_SPEED = 30.0
_SPEED_OF_A_WHOLE_DAY = 8.0

#: Duration of the lease that always ends in the second pool.
_SIDE = 25
_DURATIONS = {"long": 60, "behind": 15, "in time": 20, "at once": 10}


def _check(seen: dict[str, Any], *, killed: bool) -> None:
    assert not seen["broken"]
    assert seen["differences"] == []
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
            # A promise that could not be kept because no engine ran is reported as such, never forgotten.
            assert leases[name]["state"] in ({"done", "failed"} if killed else {"done"}), (name, leases[name])
            assert leases[name]["reason"] or leases[name]["state"] == "done"


def test_a_day_without_a_crash(run: Run, tmp_path: Path) -> None:
    """All goes as planned; on a machine that is too busy for the pace, at a quarter of it."""
    for pace in (1, 4):
        folder = tmp_path / str(pace)
        folder.mkdir()
        assert run(folder, 0, _SPEED_OF_A_WHOLE_DAY / pace) == 0
        seen = seen_in(folder)
        _check(seen, killed=True)
        states = {name: lease["state"] for name, lease in seen["leases"].items()}
        was_suspended = any("suspending" in passed for passed in seen["history"].values())
        if was_suspended and states == dict.fromkeys(states, "done") | {"never": "cancelled"} and len(states) == 6:
            return
    pytest.fail(f"not as planned: {seen['leases']}, {seen['history']}")


def test_killed_at_every_boundary(run: Run, tmp_path: Path) -> None:
    assert killed_at_each(run, tmp_path, range(1, 400), partial(_check, killed=True), _SPEED) > 100


def _check_pools(seen: dict[str, Any], *, killed: bool) -> None:
    _check(seen, killed=killed)
    pools = seen["pools"]
    assert {pools[name] for name in pools if name.startswith("side")} == {"side"}
    # After a kill, the first pool may have no room any more for what has to be over in time, so the second has it.
    late = {"fixed", "in time", "at once"} if killed else set()
    assert {pools[name] for name in pools if not name.startswith("side") and name not in late} == {"main"}
    assert seen["leases"]["side"]["state"] == "done"
    assert seen["leases"]["side"]["accumulated"] >= _SIDE


def test_a_day_in_two_pools_without_a_crash(run: Run, tmp_path: Path) -> None:
    """On a machine that is too busy for the pace, at a quarter of it."""
    for pace in (1, 4):
        folder = tmp_path / str(pace)
        folder.mkdir()
        assert run(folder, 0, _SPEED_OF_A_WHOLE_DAY / pace, pools=True) == 0
        seen = seen_in(folder)
        if not any(lease["state"] == "failed" for lease in seen["leases"].values()):
            break
    _check_pools(seen, killed=False)
    assert seen["leases"]["side later"]["state"] == "done"


def test_killed_in_two_pools(run: Run, tmp_path: Path) -> None:
    """At some boundaries all over the day: the next engine restores the plans and queues of both pools."""
    check = partial(_check_pools, killed=True)
    assert killed_at_each(run, tmp_path, range(5, 150, 5), check, _SPEED, pools=True) > 20
