"""Ends of leases on a real Nova and Glance, whose owners would like to keep their hosts for longer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.functional.lab.attacks import repeated
from tests.functional.lab.service import LIMIT, PREPARATION, QUARTER, Document, Service, in_seconds
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS

pytestmark = pytest.mark.slow

#: Seconds that the first lease lasts.
_LASTS = 30

#: Seconds after the planned start for which the next lease may wait, on a machine that is busy: servers are stopped and
#: hosts change hands. An owner who could delay that would do so for up to [nova] image_timeout, half an hour.
_LATE = 60.0


@contextmanager
def _slow_uploads(service: Service) -> Iterator[None]:
    """Within the block, the image of a server takes some seconds."""
    try:
        for host in service.lab.hosts:
            service.lab.set_delays(host.name, {"snapshot": 3})
        yield
    finally:
        for host in service.lab.hosts:
            service.lab.set_delays(host.name, {})


@pytest.mark.parametrize("attack", ["posts images", "makes images"])
def test_images_do_not_keep_hosts_from_the_next_lease(service: Service, leases: list[Document], attack: str) -> None:
    """The owner posts images with all properties that ours would have, or begins one image after the other."""
    begins = PREPARATION + 10
    starts = in_seconds(begins)[0]
    ends, ends_at = in_seconds(begins + _LASTS)
    first = service.lease(
        service.ada,
        kind="reservation",
        start_date=starts,
        end_date=ends,
        nodes=[{"count": 1, "exclusive": True, "resources": QUARTER}],
        on_end="snapshot",
    )
    leases.append(first)
    following = service.lease(
        service.bob,
        kind="reservation",
        start_date=ends,
        end_date=in_seconds(begins + _LASTS + 180)[0],
        nodes=[{"count": len(LAB_HOSTS), "exclusive": True, "resources": QUARTER}],
    )
    leases.append(following)
    service.becomes(first, "active")
    tenant = service.client(service.ada)
    server = tenant.boot("work", service.lab.flavors["small"], {"lease": first["id"]})
    assert service.settled([server]) == {server: "ACTIVE"}

    def post() -> None:
        said = {"lease_server": server, "lease_moment": "end", "lease_id": first["id"]}
        genuine = tenant.image("GET", f"/v2/images?lease_server={server}")["images"]
        keys = [each["lease_image"] for each in genuine if "lease_image" in each]
        said |= {"lease_image": keys[0]} if keys else {}
        tenant.image("POST", "/v2/images", {"name": f"work-{server}", **said})

    def make() -> None:
        tenant.compute("POST", f"/servers/{server}/action", {"createImage": {"name": "mine"}})

    attacks = {"posts images": ([post], 1.0), "makes images": ([make], 0.05)}
    with _slow_uploads(service), repeated(*attacks[attack]):
        service.becomes(following, "active")
        late = service.became(following, "active") - ends_at
        assert late <= _LATE, (late, service.said())
        assert service.show(following)["degraded"] is False
        assert wait_until(lambda: not service.exists(server), 2 * LIMIT), service.said()
    images = tenant.image("GET", "/v2/images?visibility=private&limit=200")["images"]
    images += tenant.image("GET", "/v2/images?visibility=shared&limit=200")["images"]
    try:
        whole = [each for each in images if each["status"] == "active" and each.get("lease_image")]
        # An owner who makes one image after the other may be faster than the engine, and has the loss.
        assert [each["lease_server"] for each in whole] == [server] or attack == "makes images"
    finally:
        for each in {image["id"]: image for image in images}.values():
            service.admin.image("DELETE", f"/v2/images/{each['id']}")
