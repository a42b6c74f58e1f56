"""The examples of the page on the command line, one after the other, as they are printed."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.compat.inside import InsideShell
from tests.compat.shell import ReservationService

_PAGE = Path(__file__).parents[2] / "doc" / "source" / "user" / "command-line.rst"


def test_the_examples_work(reservation_service: ReservationService) -> None:
    shell = InsideShell(reservation_service)
    for number in range(1, 5):
        shell.reservation("host", "create", f"compute-{number}")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d")
    commands = re.findall(r"^   \$ openstack (lease .*)$", _PAGE.read_text(), re.MULTILINE)
    assert len(commands) >= 10
    for command in commands:
        outcome = shell.openstack(*shlex.split(command.replace("${tomorrow}", tomorrow)))
        assert outcome.status == 0, f"{command}: {outcome.errors}"
