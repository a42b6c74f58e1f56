"""``tools.lab``, the command that starts a lab by hand."""

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

from tests.servers import mariadb, rabbitmq
from tests.servers.base import MissingServerError, OwnProcess, find_program, free_port, wait_until
from tests.servers.fixtures import missing
from tests.servers.openstack import environment
from tools import lab

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
    """A lab is started, outlives the command, and is found again, shown, and ended."""
    _need_servers()
    folder, port = tmp_path_factory.mktemp("l") / "lab", free_port()
    refused = _command(folder, "status")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    try:
        started = _command(
            folder, "up", "--hosts", "2", "--vcpus", "3", "--reservation-url", f"http://127.0.0.1:{port}/v1"
        )
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
        hosts = _with(rc, "hypervisor", "list", "--long")
        assert {(host["Hypervisor Hostname"], host["vCPUs"]) for host in hosts} == {("node1", 3), ("node2", 3)}
        (endpoint,) = _with(rc, "endpoint", "list", "--service", "reservation", "--interface", "public")
        assert endpoint["URL"] == f"http://127.0.0.1:{port}/v1"
        _try_what_is_printed(folder, started.stdout)
    finally:
        ended = _command(folder, "down")
    assert ended.returncode == 0, ended.stderr
    assert not folder.exists()
    assert _command(folder, "down").returncode == 2


def _try_what_is_printed(folder: Path, printed: str) -> None:
    """Do what a user does: boot a first server, start our service with its configuration, create a lease."""
    lines = [line.strip() for line in printed.splitlines()]
    sync, engine, api, add = [line.removesuffix(" &").split() for line in lines if "--config-file" in line]
    lease, server = [line.partition("openstack ")[2].split() for line in lines if "openstack " in line]
    running = []
    rc, logs = folder / "openrc-demo", {name: folder / f"{name}.log" for name in ("engine", "api")}
    try:
        subprocess.run(sync, check=True, timeout=120)
        running = [OwnProcess(name, command, logs[name]) for name, command in (("engine", engine), ("api", api))]
        assert wait_until(lambda: "this engine leads" in logs["engine"].read_text(), 180), logs["engine"].read_text()
        subprocess.run(add, check=True, timeout=120)
        assert wait_until(lambda: "listening" in logs["api"].read_text(), 180), logs["api"].read_text()
        made = _shown(rc, *lease)
        assert wait_until(lambda: _shown(rc, "lease", "show", made["id"])["state"] == "active", 180)
        assert _shown(rc, *server)["status"] == "ACTIVE"
    finally:
        for process in running:
            process.kill()


def _shown(rc: Path, *words: str) -> dict[str, Any]:
    found: Any = _ask(rc, *words)
    return dict(found)


def _with(rc: Path, *words: str) -> list[dict[str, Any]]:
    """Return what OpenStackClient lists with the credentials of a file."""
    found: list[dict[str, Any]] = _ask(rc, *words, "--os-compute-api-version", "2.53")
    return found


def _ask(rc: Path, *words: str) -> Any:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    program = str(Path(sys.executable).with_name("openstack"))
    listed = subprocess.run(
        ["sh", "-c", f'. {rc} && exec "$@" -f json', "sh", program, *words],
        env=ours,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert listed.returncode == 0, listed.stderr
    return json.loads(listed.stdout)


@pytest.mark.slow
def test_process_of_the_lab_dies(tmp_path_factory: pytest.TempPathFactory) -> None:
    """If the supervisor dies, everything ends with it, the status says so, and a new lab can start."""
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
    """Return the processes of some sessions that have not ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            words = (process / "stat").read_text().rpartition(")")[2].split()
            if int(words[3]) in sessions and words[0] != "Z":
                found.append(process.name)
    return found


def test_what_is_missing_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All missing programs are named in one line, before anything is installed or started."""

    def absent() -> None:
        raise MissingServerError("not there")

    monkeypatch.setattr("sys.argv", ["lab", "up", "--folder", str(tmp_path / "lab")])
    for server in (mariadb, rabbitmq):
        monkeypatch.setattr(server, "check_installed", absent)
    with pytest.raises(SystemExit):
        lab.main()
    (line,) = capsys.readouterr().err.splitlines()
    assert "not installed: mariadb-server, rabbitmq-server" in line
    assert not (tmp_path / "lab").exists()


def test_why_packages_cannot_be_installed() -> None:
    """pip's error is reported, not the advice after it."""
    said = (
        "ERROR: Could not find a version that satisfies the requirement nova==99\n"
        "ERROR: No matching distribution found for nova==99\n\n[notice] A new release of pip is available\n"
    )
    assert environment.reason_of(said, 1) == "No matching distribution found for nova==99"
    assert environment.reason_of("", 3) == "status 3"


def test_what_is_not_a_lab(tmp_path: Path) -> None:
    """Foreign files are not removed, and a wrong argument is reported in one line."""
    (tmp_path / "precious").touch()
    for words in (["up"], ["down"], ["status"]):
        refused = _command(tmp_path, *words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert str(tmp_path) in refused.stderr
    assert (tmp_path / "precious").exists()
    long = _command(tmp_path / ("x" * 100), "up")
    assert (long.returncode, long.stderr.count("\n")) == (2, 1)
    assert "too long" in long.stderr
