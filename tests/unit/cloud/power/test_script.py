"""The driver ``script``: a program of the operator's that answers, complains, hangs or is missing."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from lease_scheduler.cloud.power.base import PowerDriverOptions, PowerError
from lease_scheduler.cloud.power.script import ScriptPower
from lease_scheduler.model.errors import InvalidValueError
from tests.servers.base import wait_until

_SCRIPT = """#!/bin/sh
state={folder}/$2
case $1 in
    status) cat "$state" 2>/dev/null || echo unknown ;;
    on|off) echo "$1" > "$state" ;;
esac
"""


def _driver(path: Path, timeout: float = 10.0) -> ScriptPower:
    return ScriptPower(PowerDriverOptions({"script": str(path), "driver_timeout": timeout}))


def _script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "power"
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_hosts_are_switched(tmp_path: Path) -> None:
    driver = _driver(_script(tmp_path, _SCRIPT.format(folder=tmp_path)))
    assert driver.is_on("host1") is None
    driver.turn_off("host1")
    assert driver.is_on("host1") is False
    driver.turn_on("host1")
    assert (driver.is_on("host1"), driver.is_on("host2")) == (True, None)


def test_a_name_is_one_argument(tmp_path: Path) -> None:
    driver = _driver(_script(tmp_path, '#!/bin/sh\n[ "$2" = "a b; rm -rf x" ] && echo on\n'))
    assert driver.is_on("a b; rm -rf x") is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/sh\necho no route to host >&2\nexit 3\n", "exit status 3: no route to host"),
        ("#!/bin/sh\nexit 1\n", "exit status 1$"),
        ("#!/bin/sh\necho maybe\n", "must print on, off or unknown, not 'maybe'"),
        ("#!/no/such/program\n", "cannot be run"),
    ],
)
def test_an_error_says_what_happened(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PowerError, match=message):
        _driver(_script(tmp_path, text)).is_on("host1")


def test_a_program_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    driver = _driver(_script(tmp_path, f"#!/bin/sh\n(sleep 3; touch {tmp_path}/late) &\nwait\n"), timeout=0.3)
    with pytest.raises(PowerError, match="was not over after 0.3 s"):
        driver.turn_off("host1")
    time.sleep(3.2)
    assert not (tmp_path / "late").exists()


@pytest.mark.parametrize(("text", "is_over"), [("", True), ("sleep 60", False)])
def test_a_program_that_stays_in_the_background_keeps_nobody_waiting(tmp_path: Path, text: str, is_over: bool) -> None:
    """As ssh does that keeps its connection for later calls, in a session of its own and with what it has open."""
    code = "import os, sys, time; os.fork() and os._exit(0); os.setsid(); print(os.getpid(), file=sys.stderr);"
    code += f"open('{tmp_path}/pid', 'w').write(str(os.getpid())); time.sleep(60)"
    script = f'#!/bin/sh\n{sys.executable} -c "{code}"\necho on\n{text}\n'
    began = time.monotonic()
    driver = _driver(_script(tmp_path, script), timeout=20.0 if is_over else 1.0)
    try:
        if is_over:
            assert driver.is_on("host1") is True
        else:
            with pytest.raises(PowerError, match="was not over after 1 s"):
                driver.is_on("host1")
        assert time.monotonic() - began < 15
    finally:
        assert wait_until((tmp_path / "pid").exists, 10)
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.mark.parametrize(("path", "message"), [("power", "absolute path"), ("/no/such/power", "is not a program")])
def test_a_wrong_path_is_refused_at_start(path: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _driver(Path(path))
