"""``make run-sites``: three sites and a gateway start with one command, serve a lease, and end together."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import requests

from tests.functional.embedded.rest import HEADERS
from tests.servers.base import OwnProcess, free_port, wait_until
from tools.run_sites import SITES

_ROOT = Path(__file__).parents[3]
_SECONDS = 240.0


def test_sites_start_serve_and_end_together(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    words = [sys.executable, "-m", "tools.run_sites", "--folder", str(tmp_path / "sites"), "--port", str(port)]
    process = OwnProcess("run_sites", words, log, {**os.environ, "PYTHONPATH": str(_ROOT)})
    try:
        wait_until(lambda: not process.is_running() or "end it with Ctrl-C" in log.read_text(), _SECONDS)
        assert process.is_running(), log.read_text()
        urls = dict(re.findall(r"^(\w+): (http://127\.0\.0\.1:\d+)/", log.read_text(), re.MULTILINE))
        assert list(urls) == [*SITES, "gateway"]
        body: dict[str, Any] = {
            "name": "anywhere",
            "kind": "immediate",
            "duration": "1h",
            "nodes": [{"count": 1, "exclusive": True}],
        }
        answer = requests.post(f"{urls['gateway']}/v1/leases", json=body, headers=HEADERS, timeout=_SECONDS)
        assert answer.status_code == 201, answer.text
        lease = answer.json()["lease"]
        at_site = requests.get(
            f"{urls[lease['site']]}/v1/leases/{lease['site_lease_id']}", headers=HEADERS, timeout=_SECONDS
        )
        assert at_site.json()["lease"]["kind"] == "immediate"
    finally:
        process.end(signal.SIGINT, _SECONDS)
    assert process.returncode == 0, log.read_text()
    for url in urls.values():
        try:
            requests.get(url, timeout=5)
        except requests.ConnectionError:
            continue
        raise AssertionError(f"{url} still answers")
