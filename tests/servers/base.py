"""What the real servers of the tests have in common: they start, become ready, are killed, and keep their data."""

from __future__ import annotations

import abc
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

#: Below the range of ports for outgoing connections, so that no connection takes a server's port while it is down.
_PORTS = range(20_000, 32_000)
_LOG_LINES_SHOWN = 40
_POLL_SECONDS = 0.05


class MissingServerError(Exception):
    """A program that a server needs is not installed."""


class ServerError(Exception):
    """A server did not start, or did not do what was requested; the message ends with the end of its log."""


def free_port() -> int:
    """Return a free loopback port."""
    for _ in range(1_000):
        port = random.SystemRandom().choice(_PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServerError("no free port on the loopback interface")


def find_program(name: str, folders: Sequence[Path] = ()) -> Path:
    """Return the path of a program.

    :param folders: searched before the folders of ``PATH`` and those of the system's own programs
    :raises MissingServerError: it is in none of them
    """
    path = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    for folder in [*folders, *path, Path("/usr/sbin"), Path("/usr/local/sbin"), Path("/sbin")]:
        if os.access(folder / name, os.X_OK):
            return folder / name
    raise MissingServerError(f"{name} is not installed; tools/install-test-servers.sh installs it")


def wait_until(condition: Callable[[], bool], limit: float) -> bool:
    """Wait until the condition is true; return False if it is not within the limit (seconds)."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_SECONDS)
    return True


class Handle(Protocol):
    """What is needed of ``subprocess.Popen`` for a process."""

    @property
    def pid(self) -> int:
        """Number of the process."""
        ...

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal, or None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends, and return the exit status.

        :raises subprocess.TimeoutExpired: it does not end in time
        """
        ...

    def send_signal(self, number: int) -> None:
        """Send it a signal if it still runs."""
        ...


class OwnProcess:
    """A program in a process group of its own that ends with the tests; its output goes to a file.

    :param name: its name in messages
    :param command: program and arguments
    :param log: file to which its output is appended
    :param environment: all of its environment variables
    :param user: numbers of the user and group to run as; None for those of the tests
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str] | None = None,
        user: tuple[int, int] | None = None,
    ) -> None:
        self.name = name
        self._log = log
        # The kernel ends the program if the tests are killed and cannot end it themselves.
        prefix = [str(find_program("setpriv")), "--pdeathsig", "KILL"]
        if user is not None:
            prefix += ["--reuid", str(user[0]), "--regid", str(user[1]), "--clear-groups"]
        with log.open("ab") as output:
            self._process: Handle = subprocess.Popen(
                [*prefix, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(os.environ if environment is None else environment),
                cwd=log.parent,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Number of the process, and of its process group."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Exit status as in ``subprocess``; None while it runs."""
        return self._process.poll()

    def is_running(self) -> bool:
        """Return whether it has not ended yet."""
        return self.returncode is None

    def kill(self) -> None:
        """Kill it and all its descendants with SIGKILL, and wait until they are gone."""
        family = _family(self.pid) if self.is_running() else []
        if self.is_running():
            # A process that has just been forked may not have its group yet; it is of the family.
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        # Descendants may have left the group for one of their own, as those of PostgreSQL do.
        for pid in family:
            _signal(pid, signal.SIGKILL)
        self._process.wait()
        if not wait_until(lambda: not any(_exists(pid) for pid in family), 30):
            raise ServerError(f"{self.name}: processes that it started do not end\n{log_end(self._log)}")

    def end(self, number: signal.Signals, limit: float) -> None:
        """End it with a signal, and kill it if it does not end within the limit (seconds)."""
        if self.is_running():
            self._process.send_signal(number)
            try:
                self._process.wait(limit)
            except subprocess.TimeoutExpired:
                self.kill()


class Server(abc.ABC):
    """A real server on a loopback port, with its data in one folder.

    :param folder: empty, or the folder of a server of the same kind that has run before
    """

    name: str
    _ready_within = 120.0

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._processes: list[OwnProcess] = []

    @property
    @abc.abstractmethod
    def url(self) -> str:
        """The URL at which an administrator connects."""

    @property
    def log(self) -> Path:
        """The file with all of its output."""
        return self.folder / f"{self.name}.log"

    @abc.abstractmethod
    def _prepare(self) -> None:
        """Create the data folder unless it exists."""

    @abc.abstractmethod
    def _launch(self) -> list[OwnProcess]:
        """Start the processes; the last one is the server itself."""

    @abc.abstractmethod
    def _answers(self) -> bool:
        """Return whether the server does its work."""

    @abc.abstractmethod
    def _end(self, process: OwnProcess) -> None:
        """End one of the processes in an orderly way."""

    @property
    def pid(self) -> int:
        """Number of the server's process."""
        return self._processes[-1].pid

    def start(self) -> None:
        """Start the server and return when it answers.

        :raises MissingServerError: a program is not installed
        :raises ServerError: it ended, or did not answer in time
        """
        if self._processes:
            raise ServerError(f"{self.name} has been started already")
        self._prepare()
        self._processes = self._launch()
        server = self._processes[-1]
        wait_until(lambda: not server.is_running() or self._answers(), self._ready_within)
        if not server.is_running() or not self._answers():
            problem = "does not answer" if server.is_running() else "ended"
            self.kill()
            raise ServerError(f"{self.name} {problem} after its start; the end of {self.log}:\n{log_end(self.log)}")

    def stop(self) -> None:
        """End the server in an orderly way; do nothing if it does not run."""
        for process in reversed(self._processes):
            self._end(process)
        self._processes = []

    def kill(self) -> None:
        """End the server as a loss of power would, except that what the kernel has accepted for writing is kept."""
        for process in reversed(self._processes):
            process.kill()
        self._processes = []

    def restart(self) -> None:
        """Start the server again with the same data and port; end it first if it runs."""
        self.stop()
        self.start()

    def is_running(self) -> bool:
        """Return whether its process exists."""
        return bool(self._processes) and self._processes[-1].is_running()

    def ensure_running(self) -> None:
        """Start the server again if it has been killed or has ended."""
        if not self.is_running():
            self.kill()
            self.start()

    def _run(self, command: Sequence[str], user: tuple[int, int] | None = None) -> None:
        """Run a program that prepares the data.

        :raises ServerError: it failed
        """
        process = OwnProcess(Path(command[0]).name, command, self.log, user=user)
        if not wait_until(lambda: not process.is_running(), self._ready_within):
            process.kill()
        if process.returncode:
            raise ServerError(f"{process.name} failed; the end of {self.log}:\n{log_end(self.log)}")


def log_end(log: Path) -> str:
    """Return the last lines of a file."""
    if not log.exists():
        return "(there is none)"
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join(lines[-_LOG_LINES_SHOWN:])


def _family(pid: int) -> list[int]:
    """Return the numbers of a process and of all its descendants."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name of the program, in parentheses, may contain anything.
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = [pid]
    for member in found:
        found += [child for child, parent in parents.items() if parent == member]
    return found


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _exists(pid: int) -> bool:
    """Return whether a process has not ended; one that only waits to be reaped by its parent has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
