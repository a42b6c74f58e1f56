from __future__ import annotations

from typing import Any

import pytest
from novaclient.exceptions import BadRequest

from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorCall, HypervisorError, Proceed
from lease_scheduler.rehearsal.cloud.options import Options
from tests.unit.rehearsal.cloud.site import HOSTS, LONG, Site


@pytest.fixture
def moved(site: Site) -> tuple[Any, str, str]:
    """A server that was resized: the server, the host that it has left, and its new host."""
    site.cloud.add_flavor("large", 2048, 2, 1, id="large")
    server = site.boot(site.nova())
    old = str(site.record(server).host)
    server.resize("large")
    site.clock.run(LONG)
    return server, old, str(site.record(server).host)


def test_both_hosts_are_taken_until_a_resize_is_confirmed(site: Site, moved: tuple[Any, str, str]) -> None:
    server, old, new = moved
    nova = site.nova()
    assert (nova.servers.get(server.id).status, site.used(old), site.used(new)) == ("VERIFY_RESIZE", 1024, 2048)
    (migration,) = nova.migrations.list(instance_uuid=server.id)
    assert (migration.migration_type, migration.status) == ("resize", "finished")
    assert (migration.source_compute, migration.dest_compute) == (old, new)
    assert site.cloud.placement.held(migration.uuid)
    server.confirm_resize()
    with pytest.raises(BadRequest):
        server.confirm_resize()
    site.clock.run(LONG)
    found = nova.servers.get(server.id)
    assert (found.status, found.flavor["original_name"]) == ("ACTIVE", "large")
    assert (site.used(old), site.used(new)) == (0, 2048)


def test_a_resize_is_reverted(site: Site, moved: tuple[Any, str, str]) -> None:
    server, old, new = moved
    server.revert_resize()
    site.clock.run(LONG)
    found = site.nova().servers.get(server.id)
    assert (found.status, found.flavor["original_name"], site.record(server).host) == ("ACTIVE", "small", old)
    assert (site.used(old), site.used(new)) == (1024, 0)


def test_a_deletion_confirms_a_resize(site: Site, moved: tuple[Any, str, str]) -> None:
    server, old, new = moved
    server.delete()
    site.clock.run(LONG)
    assert (site.used(old), site.used(new)) == (0, 0)


def test_a_stopped_server_is_stopped_where_it_was_migrated_to(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    server.stop()
    site.clock.run(LONG)
    target = next(host for host in HOSTS if host != site.record(server).host)
    server.migrate(target)
    site.clock.run(LONG)
    server.confirm_resize()
    site.clock.run(LONG)
    assert (nova.servers.get(server.id).status, site.record(server).host) == ("SHUTOFF", target)


def test_a_resize_that_finds_no_host_changes_nothing(site: Site) -> None:
    site.cloud.add_flavor("huge", 80_000, 2, 1, id="huge")
    nova = site.nova()
    server = site.boot(nova)
    before = [site.used(host) for host in HOSTS]
    server.resize("huge")
    site.clock.run(LONG)
    assert nova.servers.get(server.id).status == "ACTIVE"
    assert [site.used(host) for host in HOSTS] == before
    assert nova.migrations.list() == []
    action = nova.instance_action.list(server)[0]
    assert {each["result"] for each in nova.instance_action.get(server, action.request_id).events} == {"Error"}


def test_a_resize_may_stay_on_its_host_if_it_is_allowed_to(site: Site) -> None:
    site.cloud.nova.options = Options(allow_resize_to_same_host=True)
    site.cloud.add_flavor("large", 2048, 2, 1, id="large")
    nova = site.nova()
    server = site.boot(nova)
    host = str(site.record(server).host)
    for service in nova.services.list():
        if service.host != host:
            nova.services.disable(service.id)
    server.resize("large")
    site.clock.run(LONG)
    assert (nova.servers.get(server.id).status, site.used(host)) == ("VERIFY_RESIZE", 3072)


def test_a_resize_whose_server_was_reset_meanwhile_fails_and_gives_its_old_room_back(site: Site) -> None:
    """Nova then shows it on its new host, although it has the room of the old one."""
    site.cloud.add_flavor("large", 2048, 2, 1, id="large")
    nova = site.nova()
    server = site.boot(nova)
    old = str(site.record(server).host)
    held: list[Proceed] = []
    site.cloud.computes.hypervisor = lambda call, proceed: held.append(proceed)
    server.resize("large")
    site.clock.run(LONG)
    nova.servers.reset_state(server, "active")
    held[0](None)
    new = site.record(server).host
    assert new not in (None, old)
    assert nova.servers.get(server.id).status == "ERROR"
    assert (site.used(old), site.used(str(new))) == (1024, 0)
    assert [each.status for each in nova.migrations.list()] == ["error"]


def test_a_server_without_claims_on_its_host_has_none_to_hand_over(site: Site) -> None:
    """Our driver has released them, for example."""
    nova = site.nova()
    server = site.boot(nova)
    old = str(site.record(server).host)
    site.cloud.placement.release(server.id)
    server.live_migrate(None, "auto")
    site.clock.run(LONG)
    new = str(site.record(server).host)
    assert new != old
    assert (site.used(old), site.used(new)) == (0, 1024)
    assert site.cloud.placement.consumers.keys() == {server.id}


@pytest.mark.parametrize("call", ["confirm_resize", "revert_resize"])
def test_a_resize_whose_end_fails_is_an_error(site: Site, moved: tuple[Any, str, str], call: str) -> None:
    server, _, _ = moved
    site.cloud.computes.hypervisor = lambda call, proceed: proceed(HypervisorError("it cannot"))
    getattr(server, call)()
    site.clock.run(LONG)
    assert site.nova().servers.get(server.id).status == "ERROR"
    assert [each.status for each in site.nova().migrations.list()] == ["error"]


def test_a_running_server_is_migrated(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    old = str(site.record(server).host)
    server.live_migrate(None, "auto")
    assert nova.servers.get(server.id).status == "MIGRATING"
    site.clock.run(LONG)
    new = str(site.record(server).host)
    assert (nova.servers.get(server.id).status, site.used(old), site.used(new)) == ("ACTIVE", 0, 1024)
    (migration,) = nova.migrations.list(source_compute=old)
    assert (migration.migration_type, migration.status) == ("live-migration", "completed")


def test_a_live_migration_that_fails_is_rolled_back(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    old = site.record(server).host

    def hypervisor(call: HypervisorCall, proceed: Proceed) -> None:
        proceed(HypervisorError("it cannot") if call.method == "live_migration" else None)

    site.cloud.computes.hypervisor = hypervisor
    server.live_migrate(None, "auto")
    site.clock.run(LONG)
    assert (nova.servers.get(server.id).status, site.record(server).host) == ("ACTIVE", old)
    assert sum(site.used(host) for host in HOSTS) == 1024


def test_what_placement_refuses_to_release_stays_and_is_an_error(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    old = str(site.record(server).host)
    site.cloud.computes.releases = lambda consumer_id: False
    server.live_migrate(None, "auto")
    site.clock.run(LONG)
    assert nova.servers.get(server.id).status == "ERROR"
    assert (site.record(server).host != old, site.used(old)) == (True, 1024)


@pytest.mark.parametrize("call", ["migrate", "live_migrate"])
def test_a_host_that_is_not_there_is_refused(site: Site, call: str) -> None:
    server = site.boot(site.nova())
    said = ("nowhere", "auto") if call == "live_migrate" else ("nowhere",)
    with pytest.raises(BadRequest):
        getattr(server, call)(*said)
