from __future__ import annotations

import pytest

from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorError
from lease_scheduler.rehearsal.cloud.options import Options
from tests.unit.rehearsal.cloud.site import HOSTS, LONG, Site


def test_an_image_belongs_to_who_asks_and_is_shared_with_the_owner(site: Site) -> None:
    server = site.boot(site.nova("mallory"))
    mine = site.nova("mallory").servers.create_image(server, "mine", {"lease_id": "L1"})
    image = site.cloud.glance.images[mine]
    assert (image.status, image.owner, image.visibility) == ("queued", site.project, "private")
    assert (image.properties["instance_uuid"], image.properties["lease_id"]) == (server.id, "L1")
    site.clock.run(LONG)
    assert image.status == "active"
    theirs = site.cloud.glance.images[site.nova(project="service").servers.create_image(server, "theirs")]
    assert (theirs.owner, theirs.visibility, list(theirs.members)) == (
        site.service_project,
        "shared",
        [site.project],
    )


def test_an_image_that_fails_is_removed(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    site.cloud.computes.hypervisor = lambda call, proceed: proceed(HypervisorError("it cannot"))
    made = nova.servers.create_image(server, "mine")
    site.clock.run(LONG)
    assert made not in site.cloud.glance.images
    assert nova.servers.get(server.id).status == "ACTIVE"


def test_as_many_backups_are_kept_as_are_asked_for(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    for number in range(3):
        nova.servers.backup(server, f"backup {number}", "daily", 2)
        site.clock.run(LONG)
    assert sorted(each.name for each in site.cloud.glance.images.values()) == ["backup 1", "backup 2", "tiny"]


@pytest.mark.parametrize(("offload", "status"), [(0, "SHELVED_OFFLOADED"), (-1, "SHELVED"), (2000, "SHELVED")])
def test_a_shelved_server_leaves_its_host_when_it_is_configured_to(site: Site, offload: int, status: str) -> None:
    site.cloud.nova.options = Options(shelved_offload_time=offload)
    nova = site.nova()
    server = site.boot(nova)
    host = str(site.record(server).host)
    server.shelve()
    site.clock.run(LONG)
    assert nova.servers.get(server.id).status == status
    assert site.used(host) == (0 if offload == 0 else 1024)
    site.clock.run(2000)
    assert nova.servers.get(server.id).status == ("SHELVED" if offload == -1 else "SHELVED_OFFLOADED")
    server.unshelve()
    site.clock.run(LONG)
    assert nova.servers.get(server.id).status == "ACTIVE"
    assert sum(site.used(host) for host in HOSTS) == 1024
    assert [each.name for each in site.cloud.glance.images.values()] == ["tiny"]


def test_an_offload_is_told_by_the_host_that_it_leaves(site: Site) -> None:
    server = site.boot(site.nova())
    host = site.record(server).host
    server.shelve()
    site.clock.run(LONG)
    ((publisher, _, payload, _),) = [each for each in site.heard if each[1] == "instance.shelve_offload.end"]
    assert (publisher, payload["nova_object.data"]["host"]) == (f"nova-compute:{host}", None)


def test_a_server_that_finds_no_host_stays_shelved(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    server.shelve()
    site.clock.run(LONG)
    for service in nova.services.list():
        nova.services.disable(service.id)
    server.unshelve()
    site.clock.run(LONG)
    found = nova.servers.get(server.id)
    assert (found.status, getattr(found, "OS-EXT-STS:task_state")) == ("SHELVED_OFFLOADED", None)
    assert nova.instance_action.list(server)[0].message == "Error"


def test_an_administrator_chooses_the_host(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    for host in HOSTS:
        server.shelve()
        site.clock.run(LONG)
        nova.servers.unshelve(server, host=host)
        site.clock.run(LONG)
        assert site.record(server).host == host
