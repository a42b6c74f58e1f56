"""Parts of ``haizea``: its PID file, its levels of logging, its messages (haizea F44)."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from osc_lib.exceptions import CommandError

from lease_scheduler.cmd.daemon import PidFile, default_folder, start_in_background
from lease_scheduler.cmd.haizea.service_options import service_configuration
from lease_scheduler.haizea.configuration.haizea_conf import InteractiveConf
from lease_scheduler.haizea.log_levels import STATUS, VDEBUG
from lease_scheduler.haizea.status import StatusMessages
from lease_scheduler.model.errors import InvalidValueError
from tests.servers.base import wait_until


def test_nobody_runs(tmp_path: Path) -> None:
    assert not PidFile(tmp_path / "pid").stop()
    assert not (tmp_path / "pid").exists()


def test_a_number_of_somebody_else(tmp_path: Path) -> None:
    """A process that died leaves its number, which another process may have by now; that one is not killed."""
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        (tmp_path / "pid").write_text(f"{other.pid}\n")
        assert not PidFile(tmp_path / "pid").stop()
        assert other.poll() is None
    finally:
        other.communicate(b"\n", timeout=60)


def test_one_process_has_the_file(tmp_path: Path) -> None:
    file = PidFile(tmp_path / "pid")
    file.take()
    assert (tmp_path / "pid").read_text() == f"{os.getpid()}\n"
    with pytest.raises(InvalidValueError, match="that of a process that runs"):
        PidFile(tmp_path / "pid").take()
    file.release()
    assert not (tmp_path / "pid").exists()
    again = PidFile(tmp_path / "pid")
    again.take()
    again.release()


def test_a_program_that_hangs_before_it_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lease_scheduler.cmd.daemon._BEGIN_SECONDS", 3.0)
    hangs = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    with pytest.raises(InvalidValueError, match="it does not start: it was not ready after 3 s"):
        start_in_background([sys.executable, "-S", "-c", hangs], tmp_path / "log")
    assert not Path("/proc", (tmp_path / "pid").read_text()).joinpath("exe").exists()


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "pid").symlink_to(tmp_path / "precious")
    with pytest.raises(InvalidValueError, match="--pid-file: .* cannot be opened"):
        PidFile(tmp_path / "pid").take()
    assert not (tmp_path / "precious").exists()


def test_the_folder_is_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = default_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(InvalidValueError, match="--pid-file: "):
        default_folder()


def test_levels() -> None:
    assert VDEBUG < logging.DEBUG < logging.INFO < STATUS < logging.WARNING


@pytest.fixture
def start() -> Iterator[Callable[..., None]]:
    begun: list[StatusMessages] = []

    def one(*answers: object) -> None:
        left = iter(answers)

        def live_leases() -> list[dict[str, str]]:
            answer = next(left, [])
            if isinstance(answer, Exception):
                raise answer
            return answer  # type: ignore[return-value]

        begun.append(StatusMessages(live_leases, 0.01))
        begun[-1].start()

    yield one
    for messages in begun:
        messages.stop()


def test_status_messages(start: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    """One failed request to the service does not end them."""
    caplog.set_level(STATUS)
    start([{"state": "active"}, {"state": "queued"}, {"state": "active"}], CommandError("away"), [])
    assert wait_until(lambda: len(caplog.messages) >= 3, 60)
    assert caplog.messages[:3] == [
        "3 leases are not over: 2 active, 1 queued",
        "the state of the service is unknown: away",
        "0 leases are not over",
    ]
    assert caplog.records[0].levelno == STATUS


def test_options_of_the_service(tmp_path: Path) -> None:
    """haizea F93: options for the real clock reach the engine, and so do options that always apply."""
    overrides = {"scheduling.suspension": "none", "scheduling.backfilling": "off", "scheduling.shutdown_time": "7"}
    haizea = InteractiveConf(overrides, None, None, 45, 12, "INFO", None, None, None)
    conf = service_configuration(haizea, tmp_path / "leases", 0)
    assert (conf.engine.reconcile_interval, conf.engine.planning_lead) == (45.0, 12)
    assert (conf.scheduling.suspension, conf.scheduling.backfilling, conf.scheduling.shutdown_time) == (
        "none",
        "off",
        7,
    )
    assert conf.database.connection == f"sqlite:///{tmp_path}/leases"
    assert conf.service.state_path == f"{tmp_path}/leases.d"


def test_what_the_service_cannot_do(tmp_path: Path) -> None:
    haizea = InteractiveConf({"scheduling.nothing": "1"}, None, None, 45, 12, "INFO", None, None, None)
    with pytest.raises(InvalidValueError, match="there is no such option"):
        service_configuration(haizea, tmp_path / "leases", 0)
