"""An operator deletes what belongs to a lease, and it is recreated; the service is uninstalled without a trace."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.records.trust_marks import SAFE_AGE, TrustMark
from tests.functional.lab.service import QUARTER, Document, Service, running_service
from tests.servers.base import wait_until
from tests.servers.openstack.lab import OUR_USER, Lab

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

_LIMIT = 240.0


@pytest.fixture
def service(lab: Lab) -> Iterator[Service]:
    """The service, which reconciles only when told to."""
    with running_service(lab, settings={"engine": {"reconcile_interval": 3_600}}) as started:
        yield started


def _command(service: Service, *words: str) -> list[str]:
    program = str(Path(sys.executable).with_name("lease-scheduler-manage"))
    return [program, *words, "--config-file", str(service.programs.configuration_file)]


def _manage(service: Service, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(_command(service, *words), capture_output=True, text=True, timeout=600, check=False)


def _agrees(service: Service) -> bool:
    found = _manage(service, "reconcile", "--dry-run")
    print(found)
    return found.returncode == 0


def _damages(service: Service, lease: Document) -> dict[str, Callable[[], Any]]:
    """Mistakes of an operator, by the kind of difference that each of them causes."""
    admin, lease_id = service.admin, lease["id"]
    flavor_id, resource_class = names.flavor_id(lease_id, 0), names.slot_class(lease_id, 0)
    consumer = names.consumer(lease_id, 0)
    (provider,) = admin.placement("GET", f"/allocations/{consumer}")["allocations"]
    (host,) = admin.placement("GET", f"/resource_providers?uuid={provider}")["resource_providers"]
    slots = names.slots_provider_id(host["name"])
    aggregate = next(
        each
        for each in admin.compute("GET", "/os-aggregates")["aggregates"]
        if each["name"] == names.aggregate(lease_id, exclusive=False)
    )

    def remove_aggregate() -> None:
        path = f"/os-aggregates/{aggregate['id']}"
        for each in admin.compute("GET", path)["aggregate"]["hosts"]:
            admin.compute("POST", f"{path}/action", {"remove_host": {"host": each}})
        admin.compute("DELETE", path)

    said = {"set_metadata": {"metadata": {"lease:project_id": "somebody"}}}
    access = {"removeTenantAccess": {"tenant": service.ada.project_id}}
    return {
        "consumer": lambda: admin.placement("DELETE", f"/allocations/{consumer}"),
        "inventory": lambda: admin.placement("DELETE", f"/resource_providers/{slots}/inventories/{resource_class}"),
        "access": lambda: admin.compute("POST", f"/flavors/{flavor_id}/action", access),
        "extra_specs": lambda: admin.compute("DELETE", f"/flavors/{flavor_id}/os-extra_specs/lease:id"),
        "metadata": lambda: admin.compute("POST", f"/os-aggregates/{aggregate['id']}/action", said),
        "flavor": lambda: admin.compute("DELETE", f"/flavors/{flavor_id}"),
        "aggregate": remove_aggregate,
    }


def test_what_is_deleted_is_told_and_made_again(service: Service) -> None:
    """While the engine is away, so that no notification is heard."""
    lease = service.lease(service.ada, kind="immediate", duration=3_600, nodes=[{"count": 2, "resources": QUARTER}])
    service.becomes(lease, "active")
    assert wait_until(lambda: _agrees(service), _LIMIT), _manage(service, "reconcile", "--dry-run")
    damages = _damages(service, lease)
    service.end_engine(signal.SIGTERM)
    for damage in damages.values():
        damage()
    told = _manage(service, "reconcile", "--dry-run")
    assert told.returncode == 1, told
    kinds = {line.split()[0] for line in told.stdout.splitlines() if lease["id"] in line}
    # Parts of something that is missing are not reported separately.
    assert kinds == damages.keys() - {"access", "extra_specs", "metadata"}, told.stdout
    service.start_engine()
    assert wait_until(lambda: _agrees(service), _LIMIT), (_manage(service, "reconcile", "--dry-run"), service.said())
    assert service.state(lease) == "active"
    server = service.client(service.ada).boot("web", names.flavor_id(lease["id"], 0))
    assert service.client(service.ada).wait_for(server, "ACTIVE")
    service.remove_servers([server])
    service.is_cancelled(lease)
    service.nothing_left()


def _trust(service: Service, uses: int | None) -> str:
    """Return the id of a trust of ada to the service's user that no lease has.

    :param uses: how often it may be used
    """
    keystone, ada = service.lab.keystone, service.ada
    (trustee,) = keystone.ask("GET", f"users?name={OUR_USER}")["users"]
    trust: Document = {
        "trustor_user_id": ada.id,
        "trustee_user_id": trustee["id"],
        "project_id": ada.project_id,
        "impersonation": True,
        "remaining_uses": uses,
        "roles": [{"name": "member"}],
    }
    answer = requests.post(
        f"{keystone.url}/OS-TRUST/trusts",
        json={"trust": trust},
        headers={"X-Auth-Token": keystone.token(ada)},
        timeout=_LIMIT,
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["trust"]["id"])


def test_trusts_that_an_api_process_left_by_dying_are_removed(service: Service) -> None:
    """Not before a day has passed, and not those of others, such as another region."""
    now, old = int(time.time()), int(time.time()) - 86_400 - SAFE_AGE
    mark, other = TrustMark("default"), TrustMark("default", "RegionTwo")
    abandoned, *kept = (_trust(service, uses) for uses in (mark.uses(old), mark.uses(now), other.uses(old), None))
    told = _manage(service, "reconcile", "--dry-run")
    lines = [line for line in told.stdout.splitlines() if line.startswith("trust")]
    assert len(lines) == 1, told
    assert abandoned in lines[0] and "it was given for a lease that was not made" in lines[0]
    assert _manage(service, "reconcile").returncode == 0
    left = {each["id"] for each in service.trusts()}
    assert abandoned not in left
    assert left >= set(kept)
    assert _agrees(service)


def _everything(service: Service) -> dict[str, list[str]]:
    """Return the names of everything in the cloud."""
    admin = service.admin
    lists: dict[str, list[Document]] = {
        "aggregates": admin.compute("GET", "/os-aggregates")["aggregates"],
        "flavors": admin.compute("GET", "/flavors?is_public=None")["flavors"],
        "groups": admin.compute("GET", "/os-server-groups?all_projects=1")["server_groups"],
        "servers": admin.compute("GET", "/servers?all_tenants=1")["servers"],
        "providers": admin.placement("GET", "/resource_providers")["resource_providers"],
        "classes": admin.placement("GET", "/resource_classes")["resource_classes"],
        "images": admin.image("GET", "/v2/images")["images"],
    }
    found = {kind: sorted(str(each["name"]) for each in each_list) for kind, each_list in lists.items()}
    found["trusts"] = sorted(str(each["id"]) for each in service.trusts())
    found["used"] = [f"{host}: {used}" for host, used in service.usages().items() if any(used.values())]
    return found


def test_nothing_is_left_after_leaving(lab: Lab) -> None:
    """With live leases only if told so; killed in the middle; without an engine, and with one."""
    settings = {"engine": {"reconcile_interval": 3_600}}
    with running_service(lab, hosts=[], settings=settings) as service:
        service._remove_pool()
        ours = "-lease-slots"
        before = _everything(service)
        before["providers"] = [name for name in before["providers"] if not name.endswith(ours)]
        service.begin([host.name for host in lab.hosts])
        nodes = [{"count": 2, "resources": QUARTER}]
        managed = service.lease(
            service.ada, kind="best-effort", duration=3_600, nodes=nodes, servers=[service.template()]
        )
        shared = service.lease(service.bob, kind="immediate", duration=3_600, nodes=nodes)
        for lease in (managed, shared):
            service.becomes(lease, "active")
        refused = _manage(service, "uninstall")
        assert (refused.returncode, "2 leases are not over" in refused.stderr) == (2, True), refused
        listed = _manage(service, "uninstall", "--dry-run")
        assert listed.returncode == 0, listed
        for text in (f"lease {managed['id']}", "host node1", f"flavor {names.flavor_id(shared['id'], 0)}", "trust "):
            assert text in listed.stdout
        assert {service.state(managed), service.state(shared)} == {"active"}
        service.end_engine()
        with subprocess.Popen(_command(service, "uninstall", "--end-leases"), stdout=subprocess.PIPE) as first:
            assert first.stdout is not None
            # It has started, and is not finished.
            first.stdout.readline()
            first.kill()
        again = _manage(service, "uninstall", "--end-leases")
        assert (again.returncode, "nothing is left in the cloud" in again.stdout) == (0, True), again
        assert _everything(service) == before
        assert {service.state(managed), service.state(shared)} == {"cancelled"}
        # An engine that comes back recreates nothing.
        service.start_engine()
        assert wait_until(lambda: _agrees(service), _LIMIT)
        assert _everything(service) == before
        with_engine = _manage(service, "uninstall")
        assert (with_engine.returncode, "stop the engines" in with_engine.stdout) == (0, True), with_engine
        assert _everything(service) == before
    for computes in lab.computes:
        # nova-compute forgets the providers that are gone.
        computes.stop()
    lab.ensure_running()


def test_pool_commands_without_an_engine_say_so_at_once(service: Service) -> None:
    service.end_engine()
    begun = time.monotonic()
    assert _manage(service, "db", "version").returncode == 0
    start = time.monotonic() - begun
    begun = time.monotonic()
    refused = _manage(service, "host", "remove", service.lab.hosts[0].name)
    assert (refused.returncode, "no engine leads" in refused.stderr) == (2, True), refused
    # In addition to the time that a command takes to start.
    assert time.monotonic() - begun < 3 * start + 5
