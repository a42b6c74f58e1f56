"""Images of leases are in the caches of their hosts before servers boot, on a real Nova (haizea F60-F65, 7.2)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence

import pytest

from tests.functional.lab.service import (
    LIMIT,
    PREPARATION,
    QUARTER,
    Document,
    Service,
    host_of,
    in_epoch,
    in_seconds,
    running_service,
)
from tests.servers.base import wait_until
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.notifications import Notification, NotificationRecorder

pytestmark = pytest.mark.slow

#: Planned seconds for bringing an image to a host.
_SECONDS = 4

#: Seconds by which the engine may act late on a busy machine.
_PROMPT = 10.0


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    """The service, with pre-caching of images turned on."""
    settings: dict[str, dict[str, object]] = {
        "image_transfer": {"lease_preparation": "imagetransfer", "force_imagetransfer_time": _SECONDS}
    }
    with running_service(lab, settings=settings) as started:
        yield started


@pytest.fixture
def image(service: Service) -> Iterator[str]:
    """An image that is in no host's cache."""
    description = {"name": f"image-{uuid.uuid4()}", "disk_format": "raw", "container_format": "bare"}
    made = service.admin.image("POST", "/v2/images", {**description, "visibility": "public"})["id"]
    service.admin.upload(made, bytes(1024))
    yield made
    service.admin.image("DELETE", f"/v2/images/{made}")


def _reserve(service: Service, image: str, seconds: float, hosts: Sequence[str] = (), lasts: int = 20) -> Document:
    """Reserve two whole hosts with a server on each; return the lease with its start."""
    (start_date, start), (end_date, _) = in_seconds(seconds), in_seconds(seconds + lasts)
    nodes: Document = {"count": 2, "exclusive": True, "resources": QUARTER}
    template = {"name": "web", "image_id": image, "networks": "none"}
    lease = service.lease(
        service.ada,
        kind="reservation",
        start_date=start_date,
        end_date=end_date,
        nodes=[{**nodes, "properties": _named(hosts)} if hosts else nodes],
        servers=[template],
    )
    return {**lease, "starts": start}


def _named(hosts: Sequence[str]) -> str:
    """Return a resource property query for these hosts."""
    return json.dumps(["or", *(["==", "$hypervisor_hostname", host] for host in hosts)])


def _hosts_of_servers(service: Service) -> set[str | None]:
    return {host_of(server) for server in service.servers(service.ada)}


def _cached_on(service: Service, image: str) -> set[str]:
    """Return the hosts whose hypervisors have an image in their cache."""
    lab = service.lab
    return {host.name for host in lab.hosts if image in lab.computes_of(host.name).cached_images(host.name)}


def _brought(recorder: NotificationRecorder, image: str) -> list[Notification]:
    """Return Nova's notifications of hosts that cached an image on request."""
    heard = recorder.heard("aggregate.cache_images.progress")
    return [each for each in heard if image in (*each.payload["images_cached"], *each.payload["images_failed"])]


def test_an_image_is_there_before_its_lease_and_is_brought_once(
    service: Service, image: str, leases: list[Document], recorder: NotificationRecorder
) -> None:
    """Exactly the lease's hosts get it; a second lease of the image goes to these without a transfer."""
    chosen = ("node2", "node4")
    first = _reserve(service, image, PREPARATION + 3 * _SECONDS + 15, chosen)
    leases.append(first)
    assert service.state(first) in ("ready", "preparing")

    service.becomes(first, "preparing")
    service.becomes(first, "active")

    boot = first["starts"] - PREPARATION
    brought = _brought(recorder, image)
    assert sorted(each.payload["host"] for each in brought) == list(chosen)
    assert [each.payload["images_failed"] for each in brought] == [[], []]
    # As late as possible, and in time.
    assert all(boot - 2 * _SECONDS - 2 <= each.at <= boot + 1 for each in brought), [each.at - boot for each in brought]
    assert _cached_on(service, image) == set(chosen)
    changes = [(entry["to"], in_epoch(entry["time"])) for entry in service.history(first)]
    states = [state for state, _ in changes]
    assert states[-4:] == ["ready", "preparing", "ready", "active"], changes
    assert changes[-2][1] <= boot + _PROMPT
    assert changes[-1][1] <= first["starts"] + _PROMPT
    assert _hosts_of_servers(service) == set(chosen)
    service.becomes(first, "done")

    second = _reserve(service, image, PREPARATION + 2 * _SECONDS + 5)
    leases.append(second)
    service.becomes(second, "active")

    assert _hosts_of_servers(service) == set(chosen)
    assert len(_brought(recorder, image)) == len(chosen)
    assert "preparing" not in [entry["to"] for entry in service.history(second)]


def test_an_engine_is_killed_while_an_image_is_brought(
    service: Service, image: str, leases: list[Document], recorder: NotificationRecorder
) -> None:
    """The next engine has it transferred again; the lease starts in time, and nothing is left."""
    chosen = ("node1", "node3")
    for host in chosen:
        service.lab.set_delays(host, {"cache_image": 6})
    try:
        lease = _reserve(service, image, PREPARATION + 2 * _SECONDS + 30, chosen)
        leases.append(lease)
        recorder.wait_for("aggregate.cache_images.start")
        service.end_engine()
        assert any(each["name"].startswith("lease-precache-") for each in _aggregates(service))
        service.start_engine()

        service.becomes(lease, "active")
    finally:
        for host in chosen:
            service.lab.set_delays(host, {})
    assert in_epoch(service.history(lease)[-1]["time"]) <= lease["starts"] + _PROMPT
    assert _hosts_of_servers(service) == set(chosen)
    assert _cached_on(service, image) == set(chosen)
    assert wait_until(
        lambda: not any(each["name"].startswith("lease-precache-") for each in _aggregates(service)), LIMIT
    )


def test_an_image_that_is_deleted_meanwhile_harms_nobody_else(
    service: Service, image: str, leases: list[Document], recorder: NotificationRecorder
) -> None:
    """Nova cannot fetch it; a lease of another image starts in time."""
    description = {"name": "gone", "disk_format": "raw", "container_format": "bare", "visibility": "public"}
    gone = service.admin.image("POST", "/v2/images", description)["id"]
    service.admin.upload(gone, bytes(1024))
    lost = _reserve(service, gone, PREPARATION + 3 * _SECONDS + 20, ("node1", "node2"))
    kept = _reserve(service, image, PREPARATION + 3 * _SECONDS + 22, ("node3", "node4"))
    leases += [lost, kept]
    service.admin.image("DELETE", f"/v2/images/{gone}")

    service.becomes(kept, "active")

    assert in_epoch(service.history(kept)[-1]["time"]) <= kept["starts"] + _PROMPT
    assert _cached_on(service, image) == {"node3", "node4"}
    service.becomes(lost, "failed")


def _aggregates(service: Service) -> list[Document]:
    found: list[Document] = service.admin.compute("GET", "/os-aggregates")["aggregates"]
    return found
