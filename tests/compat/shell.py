"""The command line clients of others, run as their users run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

_LIMIT_SECONDS = 120
#: How Blazar's clients write dates, and how they read them.
SENT_DATE = "%Y-%m-%d %H:%M"
SHOWN_DATE = "%Y-%m-%dT%H:%M:%S.%f"
#: When leases of the tests start, far from now and whole minutes.
START = datetime(2040, 3, 1, 10, 0)
END = START + timedelta(hours=4)
TOKEN = "any-token"


class ReservationService(Protocol):
    """A running service without authentication, with an empty database and the hosts compute-1 to compute-4."""

    @property
    def url(self) -> str:
        """Where it listens."""
        ...


@dataclass(frozen=True)
class Outcome:
    """What a command came to."""

    status: int
    output: str
    errors: str

    @property
    def document(self) -> Any:
        """The JSON in the output, before which the client may have said something in words."""
        assert self.status == 0, self.errors
        starts = [at for at in (self.output.find("{"), self.output.find("[")) if at >= 0]
        assert starts, f"no JSON in the output: {self.output}"
        return json.loads(self.output[min(starts) :])


class Shell:
    """Runs ``openstack`` and ``blazar`` with a token that the service does not look at.

    :param service: what they speak to
    """

    def __init__(self, service: ReservationService) -> None:
        login = {"OS_AUTH_TYPE": "admin_token", "OS_ENDPOINT": f"{service.url}/v1", "OS_TOKEN": TOKEN}
        ours = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        self._environment = ours | login | {"OS_CLIENT_CONFIG_FILE": "/nonexistent", "COLUMNS": "200"}

    def openstack(self, *words: str) -> Outcome:
        """Run ``openstack``."""
        return self._run("openstack", words)

    def reservation(self, *words: str) -> Any:
        """The JSON that ``openstack reservation ...`` prints."""
        return self.openstack("reservation", *words, "-f", "json").document

    def done(self, *words: str) -> str:
        """What ``openstack reservation ...`` prints that is no JSON; it must succeed."""
        outcome = self.openstack("reservation", *words)
        assert outcome.status == 0, outcome.errors
        return outcome.output

    def blazar(self, *words: str) -> Outcome:
        """Run Blazar's stand-alone client."""
        return self._run("blazar", words)

    def _run(self, program: str, words: tuple[str, ...]) -> Outcome:
        command = [str(Path(sys.executable).with_name(program)), *words]
        ended = subprocess.run(
            command, capture_output=True, text=True, env=self._environment, timeout=_LIMIT_SECONDS, check=False
        )
        return Outcome(ended.returncode, ended.stdout, ended.stderr)


def sent(instant: datetime) -> str:
    """A date as a user of Blazar's client writes it."""
    return instant.strftime(SENT_DATE)


def shown(text: str) -> datetime:
    """A date as Blazar's client reads it."""
    return datetime.strptime(text, SHOWN_DATE)


def parsed(value: Any) -> Any:
    """The nested part of an object; Blazar's client prints it as JSON in a text."""
    return json.loads(value) if isinstance(value, str) else value
