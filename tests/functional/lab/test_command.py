"""``tools.lab``, with which one starts a lab by hand."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.servers.base import MissingServerError, find_program, wait_until
from tests.servers.fixtures import missing

_ROOT = Path(__file__).parents[3]


def _need_servers() -> None:
    try:
        find_program("mariadbd")
        find_program("epmd")
    except MissingServerError as error:
        missing(str(error))


def _command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.lab", *words, "--folder", str(folder)]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.slow
def test_up_status_down(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A lab is started that outlives the command, found again, shown, and ended."""
    _need_servers()
    folder = tmp_path_factory.mktemp("l") / "lab"
    refused = _command(folder, "status")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    try:
        started = _command(folder, "up", "--hosts", "1", "--vcpus", "3")
        assert started.returncode == 0, started.stderr
        rc = folder / "openrc"
        assert stat.S_IMODE(rc.stat().st_mode) == 0o600
        assert str(rc) in started.stdout
        again = _command(folder, "up")
        assert again.returncode == 0, again.stderr
        assert "runs already" in again.stdout
        shown = _command(folder, "status")
        assert shown.returncode == 0, shown.stderr
        assert "nova-scheduler" in shown.stdout
        assert "has ended" not in shown.stdout
        (host,) = _with(rc, "hypervisor", "list", "--long")
        assert (host["Hypervisor Hostname"], host["vCPUs"]) == ("node1", 3)
        (endpoint,) = _with(rc, "endpoint", "list", "--service", "reservation", "--interface", "public")
        assert endpoint["URL"] == "http://127.0.0.1:1234/v1"
    finally:
        ended = _command(folder, "down")
    assert ended.returncode == 0, ended.stderr
    assert not folder.exists()
    assert _command(folder, "down").returncode == 2


def _with(rc: Path, *words: str) -> list[dict[str, Any]]:
    """What OpenStackClient lists, logged in with a file."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    command = f'. {rc} && exec "$@" -f json --os-compute-api-version 2.53'
    program = str(Path(sys.executable).with_name("openstack"))
    listed = subprocess.run(
        ["sh", "-c", command, "sh", program, *words], env=ours, capture_output=True, text=True, timeout=300, check=False
    )
    assert listed.returncode == 0, listed.stderr
    found: list[dict[str, Any]] = json.loads(listed.stdout)
    return found


@pytest.mark.slow
def test_process_of_the_lab_dies(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Everything ends with it, one is told so, and can start anew."""
    _need_servers()
    folder = tmp_path_factory.mktemp("l") / "lab"
    try:
        assert _command(folder, "up", "--hosts", "1").returncode == 0
        state = json.loads((folder / "lab.json").read_text())
        os.kill(state["pid"], signal.SIGKILL)
        assert wait_until(lambda: not _of_sessions(set(state["processes"].values())), 60)
        shown = _command(folder, "status")
        assert (shown.returncode, shown.stderr.count("\n")) == (2, 1)
        assert _command(folder, "up", "--hosts", "1").returncode == 0
    finally:
        assert _command(folder, "down").returncode == 0


def _of_sessions(sessions: set[int]) -> list[str]:
    """Processes that have not ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            words = (process / "stat").read_text().rpartition(")")[2].split()
            if int(words[3]) in sessions and words[0] != "Z":
                found.append(process.name)
    return found


def test_what_is_not_a_lab(tmp_path: Path) -> None:
    """Nobody's files are removed, and whoever asks for nonsense is told so in one line."""
    (tmp_path / "precious").touch()
    for words in (["up"], ["down"], ["status"]):
        refused = _command(tmp_path, *words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert str(tmp_path) in refused.stderr
    assert (tmp_path / "precious").exists()
    long = _command(tmp_path / ("x" * 100), "up")
    assert (long.returncode, long.stderr.count("\n")) == (2, 1)
    assert "too long" in long.stderr
