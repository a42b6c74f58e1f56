"""An engine that hangs: the API still answers what needs no engine, and reports what hangs."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.functional.commands.test_processes import Site
from tests.servers.base import wait_until

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "'cgi' is deprecated", DeprecationWarning)
    from lease_scheduler.cmd import configuration, rest, wiring

_LIMIT = 120.0
_CREATES = 24
_LEASE = {"name": "one", "kind": "immediate", "duration": "1h", "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}
_HEADERS = {"OpenStack-API-Version": "reservation latest"}


@pytest.fixture
def site(tmp_path: Path, mariadb_url: str, rabbitmq_url: str) -> Iterator[Site]:
    made = Site(tmp_path, mariadb_url, rabbitmq_url)
    yield made
    made.close()


def test_the_api_of_an_engine_that_hangs(site: Site) -> None:
    """While 24 requests for leases wait, health check and list are quick, and most of the requests are refused soon."""
    site.manage("db", "sync")
    engine = site.begin_program("engine")
    conf = configuration.load(["--config-file", str(site.configuration)])
    conf.set_override("auth_strategy", "noauth", group="api")
    conf.set_override("engine_timeout", 40.0, group="service")
    client, reader, clock = wiring.for_api(conf)
    server = rest.server(conf, rest.application(conf, client, reader, clock))
    server.start()

    def ask(method: str, path: str, body: Any = None) -> tuple[int, float, requests.Response]:
        begun = time.monotonic()
        answer = requests.request(method, f"{server.url}{path}", json=body, headers=_HEADERS, timeout=120)
        return answer.status_code, time.monotonic() - begun, answer

    try:
        assert wait_until(lambda: "this engine leads" in site.log("engine"), _LIMIT), site.log("engine")
        site.manage("pool", "fill")
        assert wait_until(lambda: ask("GET", "/healthcheck")[2].json()["status"] == "ok", 60)
        os.killpg(engine.pid, signal.SIGSTOP)
        with ThreadPoolExecutor(_CREATES) as pool:
            creates = [pool.submit(ask, "POST", "/v1/leases", _LEASE) for _ in range(_CREATES)]
            time.sleep(0.5)
            seen = []
            end = time.monotonic() + 8
            while time.monotonic() < end:
                status, seconds, answer = ask("GET", "/healthcheck")
                seen.append(seconds)
                assert status == 200
                told = answer.json()
            assert told["status"] == "degraded"
            assert told["parts"]["engine"]["state"] in ("hangs", "fails")
            assert told["parts"]["database"] == {"state": "ok"}
            status, listing, _ = ask("GET", "/v1/leases")
            assert status == 200
            refused = [each.result() for each in creates if each.done()]
            os.killpg(engine.pid, signal.SIGCONT)
            statuses = sorted(each.result()[0] for each in creates)
        print(f"health: {len(seen)} answers, longest {max(seen):.2f} s; list {listing:.2f} s; refused {len(refused)}")
        assert max(seen) < 5, seen
        assert listing < 5
        assert len(refused) >= _CREATES - 12
        assert all(code == 503 and int(answer.headers["Retry-After"]) > 0 for code, _, answer in refused)
        assert set(statuses) <= {201, 503}
        assert wait_until(lambda: ask("POST", "/v1/leases", _LEASE)[0] == 201, 60)
        assert wait_until(lambda: ask("GET", "/healthcheck")[2].json()["status"] == "ok", 60)
    finally:
        os.killpg(engine.pid, signal.SIGCONT)
        server.stop()
        client.close()
