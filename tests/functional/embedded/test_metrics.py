"""What Prometheus gets from the embedded service."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import requests
from prometheus_client.parser import text_string_to_metric_families

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest
from tests.servers.base import wait_until
from tests.servers.reservation import ReservationService

_ROUTE = "lease_scheduler_http_request_duration_seconds_count"


def _scrape(service: ReservationService) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = requests.get(f"{service.url}/metrics", timeout=30)
    assert answer.status_code == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def _of(scraped: dict[tuple[str, frozenset[tuple[str, str]]], float], name: str, **labels: str) -> float:
    return scraped.get((name, frozenset(labels.items())), 0.0)


def test_counts_are_equal_to_what_was_done(make: Make) -> None:
    service = make()
    service.start()
    rest = Rest(service)
    rest.register(4)
    for number in range(3):
        rest.lease(f"short-{number}", "immediate", duration=5)
    assert rest.ask("GET", "leases/nobody").status_code == 404
    assert requests.get(f"{service.url}/nowhere/at/all", timeout=30).status_code == 404
    refused = {"name": "large", "kind": "immediate", "nodes": [{"count": 9, "resources": {"VCPU": 8}}], "duration": 5}
    assert rest.ask("POST", "leases", refused).status_code == 409

    def done() -> float:
        found = _scrape(service)
        return _of(found, "lease_scheduler_lease_transitions_total", kind="immediate", state="done", origin="")

    assert wait_until(lambda: done() == 3, 60)
    found = _scrape(service)
    assert _of(found, "lease_scheduler_engine_leading") == 1
    assert _of(found, "lease_scheduler_lease_refusals_total", kind="immediate", origin="") == 1
    assert _of(found, "lease_scheduler_lease_wait_seconds_count", kind="immediate") == 3
    assert _of(found, "lease_scheduler_hosts", status="in_service") == 4
    assert _of(found, "lease_scheduler_resource_capacity", resource_class="VCPU") == 32
    assert _of(found, _ROUTE, method="POST", route="/v1/leases", code="201") == 3
    assert _of(found, _ROUTE, method="POST", route="/v1/leases", code="409") == 1
    assert _of(found, _ROUTE, method="POST", route="/v1/os-hosts", code="201") == 4
    assert _of(found, _ROUTE, method="GET", route="/v1/leases/<lease_id>", code="404") == 1
    assert _of(found, _ROUTE, method="GET", route="none", code="404") == 1
    rpc = "lease_scheduler_rpc_request_duration_seconds_count"
    assert _of(found, rpc, method="create_lease", code="200") == 3
    assert _of(found, rpc, method="create_lease", code="409") == 1
    assert _of(found, rpc, method="create_host", code="200") == 4
    assert _of(found, "process_resident_memory_bytes") > 0
    assert wait_until(lambda: _of(_scrape(service), "lease_scheduler_notifications_waiting") == 0, 60)


def test_notifications_that_nobody_wants_do_not_pile_up(make: Make) -> None:
    service = make(configuration="[simulated_cloud]\nhosts = 1\n[service]\nnotification_topics =\n")
    service.start()
    rest = Rest(service)
    rest.register(1)
    lease = rest.lease("short", "immediate", duration=5)
    path = f"leases/{lease['id']}"
    assert wait_until(lambda: rest.get(path)["lease"]["state"] == "done", 60), rest.get(f"{path}/history")
    database = next(service.folder.rglob("lease-scheduler.sqlite"))

    def waiting() -> int:
        with closing(sqlite3.connect(database)) as connection:
            return int(connection.execute("SELECT count(*) FROM outbox").fetchone()[0])

    assert wait_until(lambda: waiting() == 0, 60)
    assert _of(_scrape(service), "lease_scheduler_notifications_waiting") == 0
