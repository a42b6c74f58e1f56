"""A service to which hostile requests are sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.functional.api.hostile import STATE, Target
from tests.servers.reservation import ReservationService

_SETTINGS = """
[simulated_cloud]
hosts = 2
[enforcement]
max_lead_time = -1
[tenant_notifications]
enabled_drivers = webhook
# Nothing may be sent from the tests to addresses that somebody has invented.
webhook_allowed_urls = https://hooks.invalid
"""


@pytest.fixture(scope="module")
def hostile_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The service with two hosts, a running lease, a series and an address."""
    folder: Path = tmp_path_factory.mktemp("service")
    service = ReservationService(folder, configuration=_SETTINGS)
    session = requests.Session()
    try:
        service.start()
        target = Target(service, session)

        def create(path: str, key: str, body: dict[str, Any]) -> str:
            answer = target.send("POST", f"/v1/{path}", json=body)
            assert answer.status_code == 201, answer.text
            return str(answer.json()[key]["id"])

        lease: dict[str, Any] = {"name": "one", "nodes": [{"count": 1, "resources": {"VCPU": 1}}], "duration": "1h"}
        repeated = {**lease, "kind": "reservation", "start_date": "2090-01-31 12:00"}
        host = create("os-hosts", "host", {"name": "compute-1", "gpu": "yes"})
        create("os-hosts", "host", {"name": "compute-2"})
        target.names.update(
            host_id=host,
            property_name="gpu",
            lease_id=create("leases", "lease", {**repeated, "name": "two"}),
            series_id=create("series", "series", {"rule": "FREQ=DAILY;COUNT=2", "lease": repeated}),
            subscription_id=create(
                "subscriptions", "subscription", {"driver": "webhook", "target": "https://hooks.invalid/"}
            ),
            feed_id=create("feeds", "feed", {"name": "phone"}),
            secret="x" * 43,
            flow="one",
            peer="one",
            site="north",
            request_id="6d2d9b1a-6c9d-4d1e-9d5b-0e7f3a5c8e42",
            floatingip_id=create(
                "floatingips", "floatingip", {"floating_network_id": "public", "floating_ip_address": "192.0.2.1"}
            ),
        )
        target.before.extend(target.state())
        yield target
        assert target.state() == target.before
    finally:
        session.close()
        service.kill()


@pytest.fixture
def target(hostile_service: Target) -> Iterator[Target]:
    """The service. Its leases must be the same after the test as before."""
    yield hostile_service
    assert hostile_service.service.is_healthy()
    assert hostile_service.state(*STATE[:1]) == hostile_service.before[:1]
