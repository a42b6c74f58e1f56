"""The command-line clients of other projects, run as their users run them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from tests.servers.preloaded import run_preloaded

_LIMIT_SECONDS = 120
#: How Blazar's clients write dates, and how they read them.
SENT_DATE = "%Y-%m-%d %H:%M"
SHOWN_DATE = "%Y-%m-%dT%H:%M:%S.%f"
#: Start of the tests' leases: far in the future, and a whole minute.
START = datetime(2040, 3, 1, 10, 0)
END = START + timedelta(hours=4)
TOKEN = "any-token"


class ReservationService(Protocol):
    """A running service without authentication, with an empty database and the hosts compute-1 to compute-4."""

    @property
    def url(self) -> str:
        """The URL at which it listens."""
        ...


@dataclass(frozen=True)
class Outcome:
    """The result of a command."""

    status: int
    output: str
    errors: str

    @property
    def document(self) -> Any:
        """The JSON in the output, without any messages of the client before it."""
        assert self.status == 0, self.errors
        starts = [at for at in (self.output.find("{"), self.output.find("[")) if at >= 0]
        assert starts, f"no JSON in the output: {self.output}"
        return json.loads(self.output[min(starts) :])


class Shell:
    """Runs ``openstack`` and ``blazar`` with a token that the service does not check.

    :param service: the service to which they send requests
    """

    def __init__(self, service: ReservationService) -> None:
        self.service = service
        login = {"OS_AUTH_TYPE": "admin_token", "OS_ENDPOINT": f"{service.url}/v1", "OS_TOKEN": TOKEN}
        ours = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        self._environment = ours | login | {"OS_CLIENT_CONFIG_FILE": "/nonexistent", "COLUMNS": "200"}

    def openstack(self, *words: str) -> Outcome:
        """Run ``openstack``."""
        return self._run("openstack", words)

    def reservation(self, *words: str) -> Any:
        """Run ``openstack reservation ...`` and return the JSON that it prints."""
        return self.openstack("reservation", *words, "-f", "json").document

    def done(self, *words: str) -> str:
        """Run ``openstack reservation ...``, which must succeed, and return its output as text."""
        outcome = self.openstack("reservation", *words)
        assert outcome.status == 0, outcome.errors
        return outcome.output

    def blazar(self, *words: str) -> Outcome:
        """Run Blazar's stand-alone client."""
        return self._run("blazar", words)

    def _run(self, program: str, words: tuple[str, ...]) -> Outcome:
        ended = run_preloaded(program, *words, folder=Path.cwd(), limit=_LIMIT_SECONDS, environment=self._environment)
        return Outcome(ended.returncode, ended.stdout, ended.stderr)


def sent(instant: datetime) -> str:
    """Return a date as a user of Blazar's client writes it."""
    return instant.strftime(SENT_DATE)


def shown(text: str) -> datetime:
    """Return a date as Blazar's client shows it."""
    return datetime.strptime(text, SHOWN_DATE)


def parsed(value: Any) -> Any:
    """Return the nested part of an object, which Blazar's client prints as JSON within a text."""
    return json.loads(value) if isinstance(value, str) else value
