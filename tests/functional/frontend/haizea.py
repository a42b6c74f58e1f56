"""``haizea`` as a process, and its clients."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import xmlrpc.client
from pathlib import Path
from typing import Any

from tests.servers.base import OwnProcess, free_port, log_end, wait_until
from tests.servers.preloaded import PreloadedProcess, run_preloaded

_LIMIT_SECONDS = 120.0

CONFIGURATION = """
[general]
loglevel: {level}
logfile: {folder}/haizea.log
mode: simulated
persistence-file: {persistence}
[scheduling]
backfilling: aggressive
policy-preemption: ar-preempts-everything
mapper: deadline
suspension: all
suspend-rate: 512
resume-rate: 512
migration: yes-notransfer
wakeup-interval: 30
non-schedulable-interval: {interval}
[simulation]
clock: real
resources: {resources}
imagetransfer-bandwidth: 1000
"""


def program(name: str) -> str:
    """Return the path of a program."""
    return str(Path(sys.executable).with_name(name))


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program and return its result."""
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}
    return run_preloaded(*command, folder=Path.cwd(), limit=_LIMIT_SECONDS, environment=environment)


class Haizea:
    """An interactive simulation with the files of one folder.

    :param folder: its files; if it has run there before, it continues from that state
    """

    def __init__(
        self,
        folder: Path,
        persistence: str | None = None,
        interval: int = 2,
        resources: str = "4 CPU:100,Memory:1024",
        level: str = "INFO",
    ) -> None:
        self.folder = folder
        self.port, self.api_port = free_port(), free_port()
        self.conf = folder / "haizea.conf"
        self.pid_file = folder / "pid"
        self.log = folder / "haizea.log"
        self.conf.write_text(
            CONFIGURATION.format(
                folder=folder,
                persistence=persistence or folder / "leases.db",
                interval=interval,
                resources=resources,
                level=level,
            )
        )
        self._process: OwnProcess | None = None

    @property
    def options(self) -> list[str]:
        """Command-line options of the programs."""
        ports = ["--port", str(self.port), "--api-port", str(self.api_port)]
        return ["-c", str(self.conf), "--pid-file", str(self.pid_file), *ports]

    @property
    def url(self) -> str:
        """The URL at which it listens."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it in the foreground and wait until it answers."""
        process = self._process = PreloadedProcess("haizea", "haizea", ["-f", *self.options], self.folder / "output")
        wait_until(lambda: not process.is_running() or self.answers(), _LIMIT_SECONDS)
        assert process.is_running() and self.answers(), log_end(self.folder / "output")

    def answers(self) -> bool:
        """Return whether it answers."""
        try:
            return bool(self.call("test_func") == 0)
        except OSError:
            return False

    def call(self, method: str, *parameters: Any) -> Any:
        """Call a method as Haizea's scripts do, and return its result."""
        with xmlrpc.client.ServerProxy(self.url, allow_none=True) as proxy:
            return getattr(proxy, method)(*parameters)

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one of its clients and return the result."""
        return run(words[0], "-s", self.url, *words[1:], folder=self.folder)

    def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()

    def interrupt(self) -> int | None:
        """Interrupt it as Ctrl-C does, and return its exit status."""
        assert self._process is not None
        self._process.end(signal.SIGINT, _LIMIT_SECONDS)
        return self._process.returncode

    def is_running(self) -> bool:
        """Return whether the process that was started in the foreground still runs."""
        return self._process is not None and self._process.is_running()
