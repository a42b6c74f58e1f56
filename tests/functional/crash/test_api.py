"""The whole service is killed during requests. What it confirmed is there, and nothing else."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import requests

from tests.functional.crash.cloud_record import overfull, watch_holds
from tests.servers.base import wait_until
from tests.servers.reservation import ReservationService

_HEADERS = {"X-Auth-Token": "anything", "OpenStack-API-Version": "reservation latest"}
_LEASES = 40
_ATTEMPTS = 200


def _post(service: ReservationService, name: str) -> tuple[str, int]:
    """Request a lease until there is an answer; return its id and the number of attempts."""
    body: Any = {
        "name": name,
        "kind": "best-effort",
        "duration": 3600,
        "nodes": [{"count": 1, "resources": {"VCPU": 8}}],
    }
    for attempt in range(1, _ATTEMPTS):
        try:
            answer = requests.post(f"{service.url}/v1/leases", json=body, headers=_HEADERS, timeout=30)
        except requests.RequestException:
            wait_until(service.is_healthy, 30)
            continue
        if answer.status_code == 503:
            continue
        assert answer.status_code < 300, answer.text
        return str(answer.json()["lease"]["id"]), attempt
    raise AssertionError("never answered")


def test_what_was_answered_is_kept(reservation_service: ReservationService) -> None:
    service, random = reservation_service, Random(3)
    for number in range(1, 5):
        host = {"name": f"compute-{number}"}
        assert requests.post(f"{service.url}/v1/os-hosts", json=host, headers=_HEADERS, timeout=30).status_code < 300

    cloud = next(Path(service.folder).rglob("simulated-cloud.sqlite"))
    watch_holds(cloud, {"VCPU": 8})

    def count() -> int:
        return len(requests.get(f"{service.url}/v1/leases", headers=_HEADERS, timeout=30).json()["leases"])

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(_post, service, f"lease {number}") for number in range(_LEASES)]
        for share in sorted(random.uniform(0.1, 0.8) for _ in range(2)):
            assert wait_until(lambda share=share: count() >= share * _LEASES, 60)  # type: ignore[misc]
            service.kill()
            service.start()
        answered = [each.result() for each in asked]
    found = requests.get(f"{service.url}/v1/leases", headers=_HEADERS, timeout=30).json()["leases"]
    ids = [lease["id"] for lease in found]
    assert len(set(ids)) == len(ids)
    assert {lease_id for lease_id, _ in answered} <= set(ids)
    names = Counter(lease["name"] for lease in found)
    for number, (_, attempts) in enumerate(answered):
        # A request whose answer was lost may have made a lease; each attempt makes at most one.
        assert 1 <= names.pop(f"lease {number}") <= attempts
    assert not names
    assert sum(lease["state"] == "active" for lease in found) <= 4
    assert overfull(cloud) == []
