"""The programs of a gateway, over two embedded sites."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.functional.embedded.rest import Rest, date, until
from tests.functional.gateway.process import SECONDS, GatewayProcess, command_of, open_cloud
from tests.servers.reservation import ReservationService

HOSTS = 1


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ReservationService]]:
    with ExitStack() as stack:
        found = {}
        for name in ("north", "south"):
            settings = f"[simulated_cloud]\nhosts = {HOSTS}\n"
            found[name] = service = ReservationService(tmp_path_factory.mktemp(name), configuration=settings)
            stack.callback(service.kill)
            service.start()
            Rest(service).register(HOSTS)
        yield found


@pytest.fixture
def gateway(sites: dict[str, ReservationService], tmp_path: Path) -> Iterator[GatewayProcess]:
    made = GatewayProcess(tmp_path, {name: open_cloud(service.url) for name, service in sites.items()})
    assert made.manage("db", "sync").returncode == 0
    made.start()
    yield made
    made.kill()
    for service in sites.values():
        for lease in Rest(service).get("leases?live=true")["leases"]:
            Rest(service).ask("DELETE", f"leases/{lease['id']}")


def _lease(sites: dict[str, ReservationService], name: str) -> dict[str, Any]:
    now = Rest(sites["north"]).now()
    return {
        "name": name,
        "start_date": date(now + 86_400),
        "duration": "2h",
        "nodes": [{"count": 1, "resources": {"VCPU": 8}}],
    }


def test_tenants_ask_once_and_get_a_lease_at_one_of_the_sites(
    gateway: GatewayProcess, sites: dict[str, ReservationService]
) -> None:
    made = []
    body = _lease(sites, "anywhere")
    for site in sites:
        answer = gateway.ask("POST", "leases", body)
        assert answer.status_code == 201, answer.text
        lease = answer.json()["lease"]
        assert lease["site"] == site
        at_site = Rest(sites[site]).get(f"leases/{lease['site_lease_id']}")["lease"]
        assert (at_site["start_date"], at_site["end_date"]) == (lease["start_date"], lease["end_date"])
        made.append(lease)
    refused = gateway.ask("POST", "leases", body)
    assert refused.status_code == 409
    for site in sites:
        assert f"{site}: " in refused.json()["error_message"]
    quote = gateway.ask("POST", "quotes", body).json()["quote"]
    assert (quote["granted"], quote["unanswered"]) == (False, [])
    compared = gateway.manage("gateway", "reconcile", "--dry-run")
    assert (compared.returncode, compared.stdout) == (0, "nothing differs\n"), compared.stderr
    # What its site does with a lease is seen at the gateway.
    first, second = made
    Rest(sites["north"]).post(f"leases/{first['site_lease_id']}/action", {"end": {}})
    until(lambda: gateway.ask("GET", f"leases/{first['id']}").json()["lease"]["state"] == "cancelled")
    # A gateway that was killed knows its leases when it is back.
    gateway.kill()
    gateway.start()
    assert gateway.ask("DELETE", f"leases/{second['id']}").status_code == 204
    assert Rest(sites["south"]).get("leases?live=true")["leases"] == []


def test_a_site_that_is_killed_is_out_of_reach_and_its_leases_are_not_lost(
    gateway: GatewayProcess, sites: dict[str, ReservationService]
) -> None:
    body = _lease(sites, "mine")
    lease = gateway.ask("POST", "leases", body).json()["lease"]
    assert lease["site"] == "north"
    sites["north"].kill()

    def shown() -> dict[str, Any]:
        found: dict[str, Any] = gateway.ask("GET", f"leases/{lease['id']}").json()["lease"]
        return found

    try:
        until(lambda: shown()["unreachable"])
        other = gateway.ask("POST", "leases", body)
        assert other.json()["lease"]["site"] == "south"
        assert gateway.manage("gateway", "reconcile", "--dry-run").returncode == 2
    finally:
        sites["north"].start()
    until(lambda: not shown()["unreachable"])
    assert shown()["state"] not in ("failed", "cancelled")


def test_best_effort_work_overflows_from_home(gateway: GatewayProcess, sites: dict[str, ReservationService]) -> None:
    """Home, which is north, is the first site, and has one host."""
    nodes = [{"count": 1, "resources": {"VCPU": 8}}]
    work = {"name": "work", "kind": "best-effort", "duration": "1h", "nodes": nodes}
    assert gateway.ask("POST", "quotes", work).json()["quote"]["site"] == "north"
    own = {"name": "own", "kind": "immediate", "duration": "2h", "nodes": nodes}
    Rest(sites["north"]).post("leases", own)
    assert gateway.ask("POST", "quotes", work).json()["quote"]["site"] == "south"
    assert gateway.ask("POST", "leases", work).json()["lease"]["site"] == "south"
    # A request that names a site goes there, whatever that means for it.
    assert gateway.ask("POST", "leases", work | {"site": "north"}).json()["lease"]["site"] == "north"
    assert [each["leases"] for each in gateway.ask("GET", "sites").json()["sites"]] == [1, 1]


def test_a_gateway_without_sites_does_not_start(tmp_path: Path) -> None:
    made = GatewayProcess(tmp_path, {})
    ended = subprocess.run(
        [*command_of("gateway"), "--config-file", str(made.configuration)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=made.environment,
        check=False,
    )
    assert ended.returncode != 0
    assert "gateway.members: names no site" in ended.stderr
