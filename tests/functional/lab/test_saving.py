"""Images of servers before the end of their lease, on a real Nova and Glance (Blazar's ``before_end``)."""

from __future__ import annotations

import pytest

from tests.functional.lab.service import LIMIT, PREPARATION, QUARTER, Document, Service, in_seconds
from tests.servers.base import wait_until

pytestmark = pytest.mark.slow

#: Seconds from the start to the images, and to the end.
_BEFORE_END, _LASTS = 25, 70


def _images(service: Service, server: str) -> list[Document]:
    """Return the images of a server that its project sees."""
    images: list[Document] = service.client(service.ada).image("GET", f"/v2/images?lease_server={server}")["images"]
    return images


def _remove(service: Service, images: list[Document]) -> None:
    for image in images:
        service.admin.image("DELETE", f"/v2/images/{image['id']}")


@pytest.mark.parametrize("is_killed", [False, True], ids=["quiet", "engine killed"])
def test_before_the_end_of_a_reservation_of_hosts(service: Service, leases: list[Document], is_killed: bool) -> None:
    """One complete image of the right server and project; it exists before the server is deleted, and stays."""
    start = PREPARATION + 8
    lease = service.lease(
        service.ada,
        start_date=in_seconds(start)[0],
        end_date=in_seconds(start + _LASTS)[0],
        before_end_date=in_seconds(start + _BEFORE_END)[0],
        reservations=[
            {
                "resource_type": "physical:host",
                "min": 1,
                "max": 1,
                "hypervisor_properties": "",
                "resource_properties": "",
                "before_end": "snapshot",
            }
        ],
    )
    leases.append(lease)
    service.becomes(lease, "active")
    tenant = service.client(service.ada)
    server = tenant.boot("work", service.lab.flavors["small"], {"lease": lease["id"]})
    assert service.settled([server]) == {server: "ACTIVE"}
    if is_killed:
        # Nova gets the request, and then the engine dies.
        assert wait_until(lambda: _images(service, server) != [], LIMIT), service.said()
        service.end_engine()
        service.start_engine()
    assert wait_until(lambda: [each["status"] for each in _images(service, server)] == ["active"], LIMIT), (
        _images(service, server),
        service.said(),
    )
    service.becomes(lease, "done")
    images = _images(service, server)
    try:
        ((name, status, owner, size),) = [
            (each["name"], each["status"], each["owner"], each["size"]) for each in images
        ]
        assert (name, status, owner) == ("reserved_work", "active", service.ada.project_id)
        assert size > 0
        assert service.servers(service.ada) == []
    finally:
        _remove(service, images)


def test_instances_at_their_end(service: Service, leases: list[Document]) -> None:
    """For servers booted with the lease's flavor; without a trust the service hands the image over to the project."""
    terms = {"kind": "immediate", "duration": 600, "on_end": "snapshot"}
    lease = service.lease(service.ada, nodes=[{"count": 1, "resources": QUARTER}], **terms)
    leases.append(lease)
    service.becomes(lease, "active")
    flavors = service.client(service.ada).compute("GET", "/flavors?is_public=None")["flavors"]
    (flavor,) = [each["id"] for each in flavors if each["name"].startswith(f"lease-{lease['id']}")]
    server = service.client(service.ada).boot("work", flavor)
    assert service.settled([server]) == {server: "ACTIVE"}
    assert service.ask(service.ada, "POST", f"leases/{lease['id']}/action", {"end": {}}).ok
    service.becomes(lease, "done")
    assert wait_until(lambda: not service.exists(server), LIMIT), service.said()
    images = _images(service, server)
    try:
        assert [(each["name"], each["status"], each["owner"]) for each in images] == [
            (f"work-{server}", "active", service.ada.project_id)
        ]
    finally:
        _remove(service, images)
