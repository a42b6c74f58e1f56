from __future__ import annotations

import pytest
from novaclient.exceptions import NotFound

from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorError
from lease_scheduler.rehearsal.cloud.options import Options
from tests.unit.rehearsal.cloud.site import HOSTS, LONG, Site


def test_a_deleted_server_is_gone_and_its_actions_stay(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    server.delete()
    site.clock.run(LONG)
    with pytest.raises(NotFound):
        nova.servers.get(server.id)
    assert [each.action for each in nova.instance_action.list(server)] == ["delete", "create"]
    assert not any(site.used(host) for host in HOSTS)


def test_a_server_is_restored_while_nova_keeps_it(site: Site) -> None:
    site.cloud.nova.options = Options(reclaim_instance_interval=2000)
    nova = site.nova()
    server = site.boot(nova)
    server.delete()
    site.clock.run(LONG)
    assert (nova.servers.get(server.id).status, sum(site.used(host) for host in HOSTS)) == ("SOFT_DELETED", 1024)
    server.restore()
    site.clock.run(4000)
    assert nova.servers.get(server.id).status == "ACTIVE"
    server.delete()
    site.clock.run(4000)
    assert site.record(server).deleted
    assert not any(site.used(host) for host in HOSTS)


def test_a_server_that_has_never_run_is_not_kept(site: Site) -> None:
    site.cloud.nova.options = Options(reclaim_instance_interval=2000)
    nova = site.nova()
    for service in nova.services.list():
        nova.services.disable(service.id)
    server = site.boot(nova)
    assert server.status == "ERROR"
    server.delete()
    assert site.record(server).deleted


def test_a_deletion_by_force_does_not_keep_it(site: Site) -> None:
    site.cloud.nova.options = Options(reclaim_instance_interval=2000)
    server = site.boot(site.nova())
    server.force_delete()
    site.clock.run(LONG)
    assert site.record(server).deleted


def test_a_server_whose_host_is_down_is_deleted_at_once(site: Site) -> None:
    server = site.boot(site.nova())
    site.cloud.computes.stop(str(site.record(server).host))
    site.clock.run(LONG)
    server.delete()
    assert site.record(server).deleted
    assert not any(site.used(host) for host in HOSTS)


def test_a_second_deletion_is_ignored_while_the_first_goes_on(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    site.cloud.computes.hypervisor = lambda call, proceed: None
    server.delete()
    site.clock.run(LONG)
    server.delete()
    assert [each.action for each in nova.instance_action.list(server)] == ["delete", "create"]


def test_a_deletion_that_fails_is_an_error(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    site.cloud.computes.hypervisor = lambda call, proceed: proceed(HypervisorError("it cannot"))
    server.delete()
    site.clock.run(LONG)
    assert nova.servers.get(server.id).status == "ERROR"
    assert sum(site.used(host) for host in HOSTS) == 1024


def test_the_image_of_a_shelved_server_goes_with_it_unless_it_is_protected(site: Site) -> None:
    nova = site.nova()
    for is_protected in (False, True):
        server = site.boot(nova)
        server.shelve()
        site.clock.run(LONG)
        image = site.cloud.glance.images[str(site.record(server).shelved_image)]
        image.protected = is_protected
        server.delete()
        site.clock.run(LONG)
        assert (image.id in site.cloud.glance.images) is is_protected
