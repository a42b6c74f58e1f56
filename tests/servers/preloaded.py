"""Programs that start in a process which has their modules loaded already.

Loading them takes most of the time of a start, and the tests start programs more than a thousand times. The standard
library's fork server loads them once for each process of pytest. Each program is a fork of it: a process of its own, in
which the function of its entry point runs as in the installed program. Programs that start processes with
multiprocessing, as the engine does, cannot be started like this. Tests of the installed programs themselves start them
afresh (``tests/functional/commands``).
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from tests.servers.base import OwnProcess

_PR_SET_PDEATHSIG = 1

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        *(f"lease_scheduler.cmd.{name}" for name in ("embedded", "api", "manage", "status", "agent")),
        *(f"lease_scheduler.cmd.haizea.{name}" for name in ("program", "front", "clients", "request_lease")),
        *("lease_scheduler.cmd.lease_sim", "openstackclient.shell"),
    ]
)


@dataclass(frozen=True)
class _Start:
    """What a process needs to become a program.

    :ivar words: path of the program, as the shell would pass it, and its arguments
    :ivar folder: working directory
    :ivar output: file to which standard output is appended
    :ivar errors: file to which standard error is appended
    :ivar environment: all of its environment variables
    """

    words: tuple[str, ...]
    folder: str
    output: str
    errors: str
    environment: Mapping[str, str]


class PreloadedProcess(OwnProcess):
    """A console script of an installed package, started from the fork server; otherwise as ``OwnProcess``.

    :param name: its name in messages
    :param program: name of the script, such as ``lease-scheduler-embedded``
    :param arguments: arguments of the program
    :param log: file to which its output is appended
    :param environment: all of its environment variables; None for those of the tests
    """

    def __init__(
        self,
        name: str,
        program: str,
        arguments: Sequence[str],
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._log = log
        log.touch()
        variables = dict(os.environ if environment is None else environment)
        words = (_path_of(program), *arguments)
        self._process = _Fork(_Start(words, str(log.parent), str(log), str(log), variables))


def run_preloaded(
    program: str, *words: str, folder: Path, limit: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a console script of an installed package to completion, and return its result.

    :param folder: working directory
    :param limit: maximum number of seconds
    :param environment: all of its environment variables; None for those of the tests
    :raises subprocess.TimeoutExpired: it did not end in time; it was killed
    """
    variables = dict(os.environ if environment is None else environment)
    command = (_path_of(program), *words)
    with tempfile.TemporaryDirectory() as told:
        output, errors = Path(told, "output"), Path(told, "errors")
        for each in (output, errors):
            each.touch()
        process = _Fork(_Start(command, str(folder), str(output), str(errors), variables))
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        return subprocess.CompletedProcess(command, status, output.read_text(), errors.read_text())


class _Fork:
    """The part of ``subprocess.Popen`` that is needed, for a fork of the fork server."""

    def __init__(self, start: _Start) -> None:
        self.args = list(start.words)
        self._process = _CONTEXT.Process(target=_become, args=(start,), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        number = self._process.pid
        assert number is not None
        return number

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        status = self.poll()
        if status is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _path_of(program: str) -> str:
    return str(Path(sys.executable).with_name(program))


def _become(start: _Start) -> None:
    """Become the program in the forked process, set up as ``OwnProcess`` sets up others."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    os.environ.clear()
    os.environ.update(start.environment)
    os.chdir(start.folder)
    for number, path in ((1, start.output), (2, start.errors)):
        opened = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = list(start.words)
    (script,) = entry_points(group="console_scripts", name=Path(start.words[0]).name)
    sys.exit(script.load()())
