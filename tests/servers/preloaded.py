"""A program of this project that starts in a process which has its modules loaded already.

Loading them takes most of the time of a start, and the tests start the embedded service more than a hundred times. The
standard library's fork server loads them once for each process of pytest. Each program is a fork of it: a process of
its own, in which ``main`` runs as in the installed program.
"""

from __future__ import annotations

import ctypes
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.servers.base import OwnProcess

_MODULE = "lease_scheduler.cmd.embedded"
_PR_SET_PDEATHSIG = 1

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([_MODULE])


class PreloadedProcess(OwnProcess):
    """``lease-scheduler-embedded``, started from the fork server; otherwise as ``OwnProcess``.

    :param arguments: arguments of the program
    :param log: file to which its output is appended
    """

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        self.name = "lease-scheduler-embedded"
        self._log = log
        self._process = _Fork([self.name, *arguments], log)


class _Fork:
    """The part of ``subprocess.Popen`` that ``OwnProcess`` uses, for a fork of the fork server."""

    def __init__(self, words: Sequence[str], log: Path) -> None:
        self.args = list(words)
        self._process = _CONTEXT.Process(target=_run, args=(self.args, str(log), dict(os.environ)), daemon=True)
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


def _run(words: Sequence[str], log: str, environment: Mapping[str, str]) -> None:
    """Run the program in the forked process, set up as ``OwnProcess`` sets up others."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(Path(log).parent)
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = list(words)
    importlib.import_module(_MODULE).main(list(words[1:]))
