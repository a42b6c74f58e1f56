from __future__ import annotations

import pytest
from novaclient.exceptions import BadRequest, Forbidden

from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorCall, HypervisorError, Proceed
from lease_scheduler.rehearsal.cloud.options import Options
from tests.unit.rehearsal.cloud.site import HOSTS, LONG, Site


def test_a_server_is_built_where_there_is_most_room(site: Site) -> None:
    nova = site.nova()
    servers = [site.boot(nova) for _ in HOSTS]
    assert {site.record(each).host for each in servers} == set(HOSTS)
    assert [site.used(host) for host in HOSTS] == [1024] * 3
    assert site.events().count("instance.create.end") == 3


def test_there_is_no_host(site: Site) -> None:
    nova = site.nova()
    for service in nova.services.list():
        nova.services.disable(service.id)
    found = site.boot(nova)
    assert (found.status, found.fault["message"][:19]) == ("ERROR", "No valid host was f")
    assert "compute_task.build_instances.error" in site.events()


def test_another_host_is_tried(site: Site) -> None:
    failed: list[str] = []

    def hypervisor(call: HypervisorCall, proceed: Proceed) -> None:
        if not failed:
            failed.append(call.host)
            proceed(HypervisorError("it cannot"))
        else:
            proceed(None)

    site.cloud.computes.hypervisor = hypervisor
    server = site.boot(site.nova())
    assert server.status == "ACTIVE"
    assert site.used(failed[0]) == 0
    assert site.used(str(site.record(server).host)) == 1024


def test_three_hosts_are_tried_at_most(site: Site) -> None:
    site.cloud.computes.hypervisor = lambda call, proceed: proceed(HypervisorError("it cannot"))
    server = site.boot(site.nova())
    assert (server.status, site.record(server).host) == ("ERROR", None)
    assert "maximum number of retries" in server.fault["message"]
    assert not any(site.used(host) for host in HOSTS)


def test_a_server_that_is_deleted_before_it_is_built_leaves_nothing(site: Site) -> None:
    nova = site.nova()
    for seconds in (0.0, 0.05, 0.5, 1.0, 1.2, 2.0, 5.0):
        server = nova.servers.create("job", site.image, site.flavor, nics="none")
        site.clock.run(seconds)
        server.delete()
        site.clock.run(LONG)
        assert site.record(server).deleted
        assert not any(site.used(host) for host in HOSTS), seconds


def test_an_image_must_be_there_and_fit(site: Site) -> None:
    nova = site.nova("mallory")
    large = site.cloud.add_image("large", min_disk=50)
    theirs = site.cloud.add_image("theirs", owner=site.service_project, visibility="private")
    half = site.cloud.add_image("half")
    half.status = "queued"
    for image in ("nowhere", large.id, theirs.id, half.id):
        with pytest.raises(BadRequest):
            nova.servers.create("job", image, site.flavor, nics="none")


def test_a_quota_is_used_up(site: Site) -> None:
    site.cloud.nova.options = Options(instances_quota=2)
    nova = site.nova("mallory")
    nova.servers.create("job", site.image, site.flavor, nics="none", min_count=2)
    with pytest.raises(Forbidden, match="Quota exceeded"):
        nova.servers.create("job", site.image, site.flavor, nics="none")


def test_a_rebuild_keeps_the_host_and_takes_another_image(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    host, other = site.record(server).host, site.cloud.add_image("other").id
    server.stop()
    site.clock.run(LONG)
    server.rebuild(other)
    assert nova.servers.get(server.id).status == "REBUILD"
    site.clock.run(LONG)
    found = nova.servers.get(server.id)
    assert (found.status, found.image["id"], site.record(server).host) == ("SHUTOFF", other, host)


def test_a_rebuild_that_fails_is_an_error(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    site.cloud.computes.hypervisor = lambda call, proceed: proceed(HypervisorError("it cannot"))
    server.rebuild(site.image)
    site.clock.run(LONG)
    assert nova.servers.get(server.id).status == "ERROR"


def test_an_evacuated_server_has_both_hosts_until_the_old_one_is_back(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    old = str(site.record(server).host)
    site.cloud.computes.stop(old)
    site.clock.run(LONG)
    nova.servers.evacuate(server)
    site.clock.run(LONG)
    new = str(site.record(server).host)
    assert (site.used(old), site.used(new)) == (1024, 1024)
    site.cloud.computes.start(old)
    assert (site.used(old), site.used(new)) == (0, 1024)
