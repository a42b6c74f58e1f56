"""The reservation service itself, as a process of its own on loopback."""

from __future__ import annotations

import signal
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.servers.base import OwnProcess, ServerError, free_port, log_end, wait_until
from tests.servers.preloaded import PreloadedProcess

_READY_SECONDS = 60.0
_STOP_SECONDS = 30.0


class ReservationService:
    """``lease-scheduler-embedded`` with a database and a simulated cloud in a folder, without authentication.

    :param folder: for its files; if it has run there before, it continues from that state
    :param options: further command-line options
    :param configuration: lines of a configuration file
    :param host: loopback address on which it listens
    """

    def __init__(
        self, folder: Path, options: Sequence[str] = (), configuration: str = "", host: str = "127.0.0.1"
    ) -> None:
        self.folder = folder
        self._host = host
        self.port = free_port()
        self.log = folder / "service.log"
        self._options = tuple(options)
        if configuration:
            path = folder / "service.conf"
            path.write_text(configuration)
            self._options += ("--config-file", str(path))
        self._process: OwnProcess | None = None

    @property
    def url(self) -> str:
        """The URL at which it listens."""
        return f"http://[{self._host}]:{self.port}" if ":" in self._host else f"http://{self._host}:{self.port}"

    @property
    def pid(self) -> int:
        """Number of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Start the service and return the seconds until it answered.

        :raises ServerError: it ended, or did not answer in time
        """
        arguments = ["--state-path", str(self.folder / "state"), "--host", self._host, "--port", str(self.port)]
        arguments += self._options
        begun = time.monotonic()
        process = self._process = PreloadedProcess(
            "lease-scheduler-embedded", "lease-scheduler-embedded", arguments, self.log
        )
        wait_until(lambda: not process.is_running() or self.is_healthy(), _READY_SECONDS)
        if not process.is_running() or not self.is_healthy():
            self.kill()
            raise ServerError(f"the service does not answer; the end of its log:\n{log_end(self.log)}")
        return time.monotonic() - begun

    def is_healthy(self) -> bool:
        """Return whether its health check answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/healthcheck", timeout=5) as answer:
                return int(answer.status) == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def interrupt(self) -> int | None:
        """Interrupt it as Ctrl-C does, and return its exit status."""
        assert self._process is not None
        self._process.end(signal.SIGINT, _STOP_SECONDS)
        return self._process.returncode

    def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
