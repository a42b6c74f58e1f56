"""Every lease of Haizea 1.1's scenario files ends as it did there, or better (haizea F18, F47, F51, F54, F57).

``scenario-results-1.1.json`` has the results of Haizea 1.1 itself for each file under each suspension and migration
setting, including its bugs. The files are read as its users read them, from LWF with a haizea.conf. ``pytest -s``
prints both results of every lease.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cmd.options.loading import load_configuration
from lease_scheduler.cmd.options.simulation import run_settings
from lease_scheduler.haizea.configuration.haizea_conf import read_haizea_conf
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.formats.lwf import read_lwf
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.result import Phase, RunResult
from lease_scheduler.simulation.run import Run

_DATA = Path(__file__).parent / "data"
_RESULTS: dict[str, dict[str, Any]] = json.loads((_DATA / "scenario-results-1.1.json").read_text())
_CONFIGURATION = _RESULTS["configuration"]
#: Where Haizea stopped with an exception there is no result to compare with.
_KEYS = sorted(key for key, found in _RESULTS.items() if key != "configuration" and "error" not in found)
_MIGRATIONS = ("no", "yes", "yes-notransfer")


@dataclass(frozen=True)
class Outcome:
    """The outcome of a lease.

    :ivar start: last start of its VMs from their images, or None
    :ivar end: when it was done, or None
    """

    state: str
    start: int | None
    end: int | None


_REJECTED = Outcome("rejected", None, None)

#: Haizea's deadline mapper suspends leases of several nodes even with ``suspension: serial-only``, although that
#: setting promises operators that only leases of one node are suspended (its other mapper keeps the promise). Ours
#: starts such a lease over if it can still meet its deadline, and otherwise refuses the request that needs its hosts.
_SERIAL_ONLY = {
    "deadline2": {"1": Outcome("done", 5400, 9000)},
    "deadline5": {"1": Outcome("done", 1800, 5400), "2": _REJECTED},
    "deadline7": {"2": Outcome("done", 7200, 10800)},
    "deadline9": {"1": Outcome("done", 4500, 8100)},
    "deadline10-1": {"1": Outcome("done", 8100, 13500)},
    "deadline10-2": {"1": Outcome("done", 8100, 13500)},
    "deadline10-3": {"1": Outcome("done", 8100, 13500)},
    "deadline10-4": {"1": Outcome("done", 8100, 13500)},
}

#: (key, lease id) -> our different result; each group above says why it is better.
EXCEPTIONS = {
    (f"{name}.lwf|serial-only|{migration}", lease_id): outcome
    for name, leases in _SERIAL_ONLY.items()
    for lease_id, outcome in leases.items()
    for migration in _MIGRATIONS
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, unpack: Callable[[Path, Path], None]) -> Path:
    """The unpacked scenario files."""
    unpacked = tmp_path_factory.mktemp("scenarios")
    unpack(_DATA / "scenario-lwf-1.1.tar.gz", unpacked)
    return unpacked / "haizea-1.1-lwf"


@pytest.mark.parametrize("key", _KEYS)
def test_every_lease_ends_as_in_haizea(key: str, folder: Path, tmp_path: Path) -> None:
    """State, last start from the images, and end of every lease, to the second."""
    theirs = {lease_id: Outcome(**found) for lease_id, found in _RESULTS[key].items()}
    wanted = {lease_id: EXCEPTIONS.get((key, lease_id), outcome) for lease_id, outcome in theirs.items()}
    ours = _outcomes(_run(key, folder, tmp_path))
    print()
    for lease_id, outcome in theirs.items():
        note = " on the list" if (key, lease_id) in EXCEPTIONS else ""
        print(f"{key:55} {lease_id:>3}  Haizea {_words(outcome)}  ours {_words(ours[lease_id])}{note}")

    assert ours == wanted


def test_every_exception_is_one() -> None:
    """Every entry of the list really differs; otherwise the list would hide a change."""
    for (key, lease_id), outcome in EXCEPTIONS.items():
        assert Outcome(**_RESULTS[key][lease_id]) != outcome, (key, lease_id)


def test_all_files_and_settings_are_compared() -> None:
    """23 files under three settings of each option; without suspension Haizea crashed unless it was patched."""
    names = {key.split("|")[0] for key in _KEYS}
    settings = {key.split("|", 1)[1] for key in _KEYS}
    assert len(names) == 23
    for suspension in ("all", "serial-only", "none, force-scheduling-threshold 0"):
        assert {f"{suspension}|{migration}" for migration in _MIGRATIONS} <= settings


def _run(key: str, folder: Path, tmp_path: Path) -> RunResult:
    """Run a file like ``lease-sim run --haizea-conf``."""
    name, suspension, migration = key.split("|")
    sections = {section: dict(options) for section, options in _CONFIGURATION["options"].items()}
    group = "files named deadline*" if name.startswith("deadline") else "all other files"
    suspension, _, forced = suspension.partition(", ")
    sections["scheduling"] |= {**_CONFIGURATION[group], "suspension": suspension, "migration": migration}
    if forced:
        option, value = forced.split()
        sections["scheduling"][option] = value
    sections["tracefile"] = {"tracefile": str(folder / name)}
    lines = []
    for section, options in sections.items():
        lines += [f"[{section}]", *(f"{option}: {value}" for option, value in options.items())]
    path = tmp_path / "haizea.conf"
    path.write_text("\n".join(lines))
    conf = read_haizea_conf(path)
    settings = replace(run_settings(load_configuration([], conf.overrides)), check_invariants=True)
    workload = read_lwf(conf.tracefile)
    result = Run(workload, settings).execute()
    check_result(result, workload)
    return result


def _outcomes(result: RunResult) -> dict[str, Outcome]:
    found = {}
    for lease in result.leases:
        if lease.state is not LeaseState.DONE:
            found[lease.lease_id] = Outcome(lease.state.value, None, None)
            continue
        phases = _phases(result, lease.lease_id)
        start = None
        for number, (instant, phase) in enumerate(phases):
            if phase is Phase.RUN and (number == 0 or phases[number - 1][1] is not Phase.RESUME):
                start = instant
        found[lease.lease_id] = Outcome("done", start, lease.ended)
    return found


def _phases(result: RunResult, lease_id: str) -> list[tuple[int, Phase]]:
    """Return when a lease ran and was resumed."""
    found = [
        (occupation.start, occupation.phase)
        for occupation in result.occupations
        if occupation.lease_id == lease_id and occupation.phase in (Phase.RUN, Phase.RESUME)
    ]
    return sorted(found, key=lambda entry: entry[0])


def _words(outcome: Outcome) -> str:
    return f"{outcome.state:8} {outcome.start if outcome.start is not None else '-':>6} {outcome.end or '-':>6}"
