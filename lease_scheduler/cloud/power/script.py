"""The driver ``script``, which runs a program of the operator, such as one that calls ipmitool."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from lease_scheduler.cloud.power.base import PowerDriverOptions, PowerError
from lease_scheduler.model.errors import InvalidValueError

_STATES = {"on": True, "off": False, "unknown": None}

#: Maximum number of bytes that are read of the program's output and of its error output.
_LONGEST = 300


class ScriptPower:
    """Driver that runs ``<script> status|on|off <host>``.

    ``status`` must print ``on``, ``off`` or ``unknown``. An exit status other than 0 is an error. A program that does
    not end in time is killed, with the programs that it has started.

    :raises InvalidValueError: there is no such program, or it may not be run
    """

    def __init__(self, options: PowerDriverOptions) -> None:
        path = Path(str(options.values["script"]))
        if not path.is_absolute():
            raise InvalidValueError("power.script", f"must be an absolute path, not {str(path)!r}")
        if not path.is_file() or not os.access(path, os.X_OK):
            raise InvalidValueError("power.script", f"{path} is not a program that this user may run")
        self._path = path
        self._timeout: float = options.values["driver_timeout"]

    def is_on(self, host: str) -> bool | None:
        """See ``PowerDriver.is_on``."""
        said = self._run("status", host).strip().lower()
        if said not in _STATES:
            raise PowerError(f"{self._path} status {host}: must print on, off or unknown, not {said[:40]!r}")
        return _STATES[said]

    def turn_on(self, host: str) -> None:
        """See ``PowerDriver.turn_on``."""
        self._run("on", host)

    def turn_off(self, host: str) -> None:
        """See ``PowerDriver.turn_off``."""
        self._run("off", host)

    def _run(self, command: str, host: str) -> str:
        called = f"{self._path} {command} {host}"
        # Files rather than pipes, as a program that stays in the background, such as ssh, may keep pipes open forever.
        with TemporaryFile() as out, TemporaryFile() as complaint:
            try:
                process = subprocess.Popen(
                    [self._path, command, host],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=complaint,
                    start_new_session=True,
                )
            except OSError as error:
                raise PowerError(f"{called}: cannot be run: {error}") from error
            try:
                status = process.wait(self._timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise PowerError(f"{called}: was not over after {self._timeout:g} s") from None
            if status != 0:
                said = " ".join(_beginning(complaint).split())
                raise PowerError(f"{called}: exit status {status}{': ' if said else ''}{said}")
            return _beginning(out)


def _beginning(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_LONGEST).decode(errors="replace")
