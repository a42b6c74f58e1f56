"""Many clients at once, as in Blazar's tempest plug-in."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import requests

from tests.compat.shell import TOKEN, ReservationService

CLIENTS = 10


def test_ten_parallel_lists_all_succeed(reservation_service: ReservationService) -> None:
    together = threading.Barrier(CLIENTS)

    def list_leases(_: int) -> int:
        together.wait(60)
        url = f"{reservation_service.url}/v1/leases"
        return requests.get(url, headers={"X-Auth-Token": TOKEN}, timeout=60).status_code

    with ThreadPoolExecutor(CLIENTS) as clients:
        assert list(clients.map(list_leases, range(CLIENTS))) == [200] * CLIENTS
