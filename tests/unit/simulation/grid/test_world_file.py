from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.federation.negotiation.record import Mode
from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.grid.world_file import read_world
from tests.unit.simulation.grid.worlds import WORLD


def _write(folder: Path, text: str) -> Path:
    path = folder / "world.conf"
    path.write_text(text)
    return path


def test_a_world_has_what_its_file_says(tmp_path: Path) -> None:
    found = read_world(_write(tmp_path, WORLD))

    north, south, entry = found.sites["north"], found.sites["south"], found.gateways["entry"]
    assert found.seed == 7
    assert (north.speed, north.can_hold, north.overrides) == (2.0, True, {"scheduling.suspension": "none"})
    assert (south.speed, south.can_hold, south.overrides, south.workload) == (1.0, False, {}, None)
    assert south.hosts is not None
    assert len(south.hosts) == 8
    assert entry.members == {"north": 0, "south": 2}
    assert entry.policies == {"allocation": "round-robin"}
    assert (entry.settings.mode, entry.settings.answer_time, entry.settings.reroutes) == (Mode.IN_TURN, 40, True)
    assert entry.settings.rules.name == "entry"
    assert entry.workload == str(tmp_path / "small.lwf")


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    found = read_world(_write(tmp_path, "[site a]\n[gateway g]\nmembers = a\nworkload = blue1\n"))

    assert found.seed == 1
    assert (found.sites["a"].hosts, found.sites["a"].config_files) == (None, ())
    assert (found.gateways["g"].policies, found.gateways["g"].workload) == ({}, "blue1")
    assert found.gateways["g"].settings.rules.hold_time == 300


def test_files_of_options_are_beside_the_file_of_the_world(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text("")
    found = read_world(_write(tmp_path, "[site a]\nconfig-file = a.conf\n"))

    assert found.sites["a"].config_files == (tmp_path / "a.conf",)


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("[world]", "[worlds]", 1, "unknown section [worlds]; known are world, site NAME, gateway NAME"),
        ("[site south]", "[site South]", 9, "unknown section [site South]"),
        ("[gateway entry]", "[gateway north]", 13, "[gateway north]: north is the name of another part"),
        ("seed = 7", "sead = 7", 2, "[world] sead: is unknown; [world] has seed"),
        ("seed = 7", "seed = -7", 2, "[world] seed: must be a whole number of at least 0, not '-7'"),
        ("speed = 2", "speed = fast", 6, "[site north] speed: must be a number above 0, not 'fast'"),
        ("speed = 2", "speed = inf", 6, "[site north] speed: must be a number above 0"),
        (
            "speed = 2",
            "speeds = 2",
            6,
            "[site north] speeds: is unknown; [site north] has can-hold, config-file",
        ),
        ("can-hold = no", "can-hold = perhaps", 11, "[site south] can-hold: must be true or false, not 'perhaps'"),
        ("can-hold = no", "config-file = gone.conf", 11, "[site south] config-file: there is no file"),
        ("suspension = none", "suspension none", 7, "[site north] set: must have GROUP.OPTION = VALUE in each line"),
        ("north, south:2", "", 14, "[gateway entry] members: names none; write e.g. north, south:2"),
        ("north, south:2", "north, north", 14, "[gateway entry] members: names north twice; leave one"),
        ("north, south:2", "north, entry", 14, "'entry' is no other part; the others are north, south"),
        ("north, south:2", "south:-2", 14, "has '-2' as delay of south; give a whole number of seconds"),
        ("members = north, south:2\n", "", 13, "[gateway entry] members: is missing; give it"),
        (
            "answer-time = 40",
            "answer-time = 30",
            16,
            "[gateway entry] answer-time: must be more than accept_time",
        ),
        ("answer-time = 40", "answer-time = x", 16, "[gateway entry] answer-time: must be a whole number"),
        ("answer-time = 40", "hold-time = 9", 16, "[gateway entry] hold-time: must be more than accept_time and"),
        ("answer-time = 40", "home = west", 16, "[gateway entry] home: must be one of the members north, south, not"),
        ("answer-time = 40", "mode = all", 16, "[gateway entry] mode: must be one of in-turn, best, first, not 'all'"),
        ("answer-time = 40", "dispatch = fair", 16, "[gateway entry] dispatch: there is no policy 'fair'"),
        ("answer-time = 40", "reroutes = no\nmode = best", 16, "[gateway entry] reroutes: must be true with the mode"),
    ],
)
def test_a_wrong_file_is_refused_with_the_line_and_what_would_be_right(
    tmp_path: Path, old: str, new: str, line: int, problem: str
) -> None:
    assert WORLD.count(old) == 1
    with pytest.raises(InputFileError) as caught:
        read_world(_write(tmp_path, WORLD.replace(old, new)))
    assert problem in str(caught.value)
    assert caught.value.line == line


def test_a_world_without_sites_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"has no site; add a section such as \[site north\]"):
        read_world(_write(tmp_path, "[world]\nseed = 1\n"))
