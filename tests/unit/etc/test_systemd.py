"""The systemd units fit the programs, and systemd accepts them."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oslo_config import cfg
from oslo_service import _options

from lease_scheduler.api import server
from lease_scheduler.cmd import configuration
from lease_scheduler.conf import guest

_REPOSITORY = Path(__file__).parents[3]
_FOLDER = _REPOSITORY / "etc" / "systemd"
_UNITS = sorted(_FOLDER.glob("*.service"))
_ANALYSE = shutil.which("systemd-analyze")

#: Highest exposure in tenths according to systemd-analyze; most units of a system have 90.
_THRESHOLD = 25

#: The guest of a Slurm runs beside slurmctld, as the user that Slurm runs its programs as.
_GUEST, _SLURM_USER = "lease-scheduler-guest", "slurm"

_each = pytest.mark.parametrize("unit", _UNITS, ids=lambda unit: unit.stem)
_needs_systemd = pytest.mark.skipif(_ANALYSE is None, reason="systemd-analyze is not installed")

Sections = dict[str, dict[str, list[str]]]


def _sections(path: Path) -> Sections:
    """Return settings with all their values, in order: most of them may occur several times in a unit."""
    found: Sections = {}
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            found[section] = {}
        elif line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found[section].setdefault(name, []).append(value)
    return found


def _only(path: Path, section: str, name: str) -> str:
    (value,) = _sections(path)[section][name]
    return value


def _console_scripts() -> set[str]:
    setup = configparser.ConfigParser()
    setup.read(_REPOSITORY / "setup.cfg")
    lines = setup["entry_points"]["console_scripts"].split("\n")
    return {line.partition("=")[0].strip() for line in lines if line}


def _installed(unit: Path, folder: Path) -> Path:
    """Return a copy with the programs that are installed here."""
    copy = folder / unit.name
    copy.write_text(unit.read_text().replace("=/usr/bin/", f"={Path(sys.executable).parent}/"))
    return copy


def test_each_service_has_one() -> None:
    names = [
        "lease-scheduler-agent",
        "lease-scheduler-api",
        "lease-scheduler-engine",
        "lease-scheduler-gateway",
        "lease-scheduler-guest",
    ]
    assert [unit.stem for unit in _UNITS] == names


@_each
def test_it_starts_the_program_of_its_name(unit: Path) -> None:
    program = Path(_only(unit, "Service", "ExecStart").split()[0])
    assert program.parent == Path("/usr/bin")
    assert program.name == unit.stem
    assert program.name in _console_scripts()


@_each
def test_it_may_write_what_the_program_keeps(unit: Path) -> None:
    """Below the default folder of [service] state_path, and nowhere else."""
    assert _only(unit, "Service", "ProtectSystem") == "strict"
    state = Path("/var/lib") / _only(unit, "Service", "StateDirectory")
    if unit.stem == _GUEST:
        conf = cfg.ConfigOpts()
        guest.register(conf)
        assert Path(conf.guest.database).parent == state
        return
    conf = configuration.load(["--config-file", "/dev/null"])
    assert Path(conf.service.state_path) == state


@_each
def test_the_program_comes_back(unit: Path) -> None:
    """However it ended, and however often: the database may be away for a long time."""
    assert _only(unit, "Service", "Restart") == "always"
    assert _only(unit, "Unit", "StartLimitIntervalSec") == "0"


@_each
def test_it_is_for_the_user_that_is_made(unit: Path) -> None:
    (line,) = [
        line
        for line in (_FOLDER / "sysusers.d" / "lease-scheduler.conf").read_text().splitlines()
        if line.startswith("u ")
    ]
    user = _SLURM_USER if unit.stem == _GUEST else line.split()[1]
    assert {_only(unit, "Service", name) for name in ("User", "Group")} == {user}


def test_the_programs_have_time_to_end() -> None:
    """Both shut down cleanly on SIGTERM (tests/functional/commands); systemd waits longer than that takes."""
    limits = {unit.stem: int(_only(unit, "Service", "TimeoutStopSec")) for unit in _UNITS}
    assert {_only(unit, "Service", "KillSignal") for unit in _UNITS} == {"SIGTERM"}
    conf = cfg.ConfigOpts()
    conf.register_opts(_options.service_opts)
    conf([])
    assert limits["lease-scheduler-engine"] > conf.graceful_shutdown_timeout
    assert limits["lease-scheduler-api"] > 2 * server._PATIENCE
    # The main process of the engine ends the others itself.
    assert _only(_FOLDER / "lease-scheduler-engine.service", "Service", "KillMode") == "mixed"


@_needs_systemd
@_each
def test_systemd_understands_it(unit: Path, tmp_path: Path) -> None:
    command = [str(_ANALYSE), "verify", str(_installed(unit, tmp_path))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, unit.stem in ended.stderr) == (0, False), ended.stderr


@_needs_systemd
@_each
def test_little_of_the_machine_is_open_to_it(unit: Path, tmp_path: Path) -> None:
    options = ["--no-pager", "--offline=true", f"--threshold={_THRESHOLD}"]
    command = [str(_ANALYSE), "security", *options, str(_installed(unit, tmp_path))]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "unrecognized option" in ended.stderr:
        pytest.skip("systemd-analyze is older than 250")
    assert ended.returncode == 0, ended.stdout


@_needs_systemd
def test_systemd_would_find_a_fault(tmp_path: Path) -> None:
    """The check of the units can fail."""
    careless = tmp_path / "careless.service"
    careless.write_text("[Service]\nExecStart=/nowhere/program\n")
    verified = subprocess.run(
        [str(_ANALYSE), "verify", str(careless)], capture_output=True, text=True, timeout=120, check=False
    )
    assert "careless.service" in verified.stderr
