"""The examples of the pages on leases and on the command line work as printed, whenever they are read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.compat.inside import InsideShell
from tests.compat.shell import TOKEN
from tests.servers.reservation import ReservationService as Server

_ROOT = Path(__file__).parents[2]
_PAGES, _README = _ROOT / "doc" / "source", _ROOT / "README.md"
_LATEST = {"X-Auth-Token": TOKEN, "OpenStack-API-Version": "reservation latest"}


@pytest.fixture(name="service")
def _service(tmp_path: Path) -> Iterator[Server]:
    """The service with default options, such as the limit on how far ahead a lease may start."""
    running = Server(tmp_path, configuration="[simulated_cloud]\nhosts = 4\n")
    running.start()
    shell = InsideShell(running)
    for number in range(1, 5):
        shell.reservation("host", "create", f"compute-{number}")
    yield running
    running.kill()


def _words(command: str, variables: str = "") -> list[str]:
    """Return the arguments of a command as a shell splits them."""
    script = f"{variables}\nprintf '%s\\0' {command}"
    printed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60).stdout
    return printed.split("\0")[:-1]


def _run_all(page: str, shell: InsideShell) -> int:
    text = (_PAGES / page).read_text()
    variables = "\n".join(re.findall(r"^   \$ ([a-z_]+=.*)$", text, re.MULTILINE))
    commands = re.findall(r"^   \$ openstack (lease .*)$", text, re.MULTILINE)
    for command in commands:
        outcome = shell.openstack(*_words(command, variables))
        assert outcome.status == 0, f"{command}: {outcome.errors}"
    return len(commands)


def test_the_examples_work(service: Server) -> None:
    shell = InsideShell(service)
    assert _run_all("user/command-line.rst", shell) >= 10
    assert _run_all("admin/monitoring.rst", shell) >= 3


def _bodies(page: str) -> list[Any]:
    """Return the JSON bodies of a page, with dates in place of its placeholders."""
    text = (_PAGES / page).read_text()
    names = sorted(set(re.findall(r"\$\{([a-z_]+)\}", text)))
    dates: Mapping[str, str] = {name: _words(f"$(date -u -d '{name.replace('_', ' ')}' +%F)")[0] for name in names}
    found = []
    for block in re.findall(r"^\.\. code-block:: json\n\n((?:   .*\n|\n)+)", text, re.MULTILINE):
        found.append(json.loads(re.sub(r"\$\{([a-z_]+)\}", lambda match: dates[match[1]], block)))
    return found


def test_the_bodies_are_what_the_service_takes_and_answers(service: Server) -> None:
    asked, held, negotiated = _bodies("user/leases.rst")

    def post(path: str, body: Any) -> requests.Response:
        return requests.post(f"{service.url}/v1/{path}", json=body, headers=_LATEST, timeout=60)

    made = post("leases", asked)
    assert made.status_code == 201, made.text
    assert made.json()["lease"]["duration"] == 7_200
    answer = post("quotes", negotiated)
    assert answer.status_code in (200, 201), answer.text
    quote = answer.json()["quote"]
    assert quote["granted"] is True, quote
    assert quote["start"] == negotiated["start_date"]
    # The answer has the fields that the page shows.
    assert held["quote"].keys() <= quote.keys()


def test_the_commands_of_the_readme(service: Server) -> None:
    """On another port than that of ``make run``."""
    (script,) = re.findall(
        r"^With the service running:\n\n```\n(.*?)^```", _README.read_text(), re.MULTILINE | re.DOTALL
    )
    script = script.replace("http://127.0.0.1:1234", service.url).replace(".venv/bin", str(Path(sys.executable).parent))
    ended = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("night") == 2, ended.stdout
    assert ended.stderr == "", "the commands print only their answers"
