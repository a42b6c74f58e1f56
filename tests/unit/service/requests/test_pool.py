"""Hosts and addresses are added to the pool, change and are removed; what leases hold or were selected by stays."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.model.errors import RefusedError
from tests.site_engine import hypervisors


def _names(core: Any) -> set[str]:
    return {host.name for host in core.site.records.hosts.values()}


def _refused(call: Any, *arguments: Any) -> tuple[int, str]:
    with pytest.raises(RefusedError) as caught:
        call({}, *arguments)
    return caught.value.code, caught.value.message


def test_a_host_is_written_down_and_planned_with(core: Any, store: Any) -> None:
    core.cloud.add_hypervisors(hypervisors(["compute-3"]))
    assert core.pool.create_host({}, {"name": "compute-3", "gpu": 4}) == {"host_id": "3"}
    record = store.commits[-1].hosts[3]
    assert (record.name, record.properties) == ("compute-3", {"gpu": "4"})
    assert core.lease(core.ask(count=3)).holdings[0].assignment


def test_hosts_that_cannot_come(core: Any) -> None:
    assert _refused(core.pool.create_host, {"name": "compute-9"})[0] == 404
    assert _refused(core.pool.create_host, {"name": "compute-1"}) == (409, "host compute-1 is in the pool already")
    core.cloud.add_hypervisors(hypervisors(["compute-3"]))
    assert _refused(core.pool.create_hosts, ["compute-3", "compute-1"])[0] == 409
    assert _names(core) == {"compute-1", "compute-2"}, "all of them or none"
    assert _refused(core.pool.create_host, {"name": "compute-3", "vcpus": 9})[0] == 409


def test_a_host_that_comes_back_has_another_id(core: Any) -> None:
    core.pool.delete_host({}, "2")
    assert _names(core) == {"compute-1"}
    assert core.pool.create_host({}, {"name": "compute-2"}) == {"host_id": "3"}


def test_a_host_that_is_held_does_not_leave(core: Any, store: Any) -> None:
    lease_id = core.ask(count=2)
    before = len(store.commits)
    assert _refused(core.pool.delete_host, "1") == (
        409,
        f"host compute-1 is held by lease {lease_id}; move or delete it first",
    )
    assert len(store.commits) == before
    core.leases.delete({}, lease_id, "")
    core.pool.delete_host({}, "1")
    assert store.commits[-1].hosts == {1: None}


def test_properties_of_a_host(core: Any) -> None:
    core.pool.update_host({}, "1", {"gpu": "yes", "rack": "a"})
    assert core.site.records.hosts[1].properties == {"gpu": "yes", "rack": "a"}
    core.pool.update_host({}, "1", {"rack": None})
    assert core.site.records.hosts[1].properties == {"gpu": "yes"}
    assert _refused(core.pool.update_host, "1", {"rack": None})[0] == 404
    assert _refused(core.pool.update_host, "7", {"rack": "b"})[0] == 404
    assert _refused(core.pool.update_host, "1", {"x" * 65: "b"})[0] == 400


def test_a_property_by_which_a_host_was_chosen_stays(core: Any) -> None:
    core.pool.update_host({}, "1", {"gpu": "yes", "rack": "a"})
    reservation = {
        "id": "r",
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "resource_properties": '["=", "$gpu", "yes"]',
    }
    lease_id = core.ask(reservations=[reservation])
    assert _refused(core.pool.update_host, "1", {"gpu": "no"}) == (409, f"property gpu is needed by lease {lease_id}")
    core.pool.update_host({}, "1", {"rack": "b"})


def test_a_host_that_is_not_reservable_offers_nothing(core: Any) -> None:
    core.pool.update_host({}, "2", {"reservable": "no"})
    with pytest.raises(RefusedError, match="Not enough hosts"):
        core.ask(count=2)
    core.pool.update_host({}, "2", {"reservable": True})
    core.ask(count=2)


def test_a_private_property(core: Any, store: Any) -> None:
    core.pool.update_host({}, "1", {"gpu": "yes"})
    core.pool.update_property({}, "physical:host", "gpu", True)
    assert store.commits[-1].private_properties == {("physical:host", "gpu"): True}
    assert core.site.pool(None, hides_private=True).hidden == frozenset({"gpu"})
    assert core.site.pool(None).hidden == frozenset()
    core.pool.update_property({}, "physical:host", "gpu", False)
    assert core.site.pool(None, hides_private=True).hidden == frozenset()
    assert _refused(core.pool.update_property, "physical:host", "rack", True)[0] == 404


def test_addresses(core: Any, store: Any) -> None:
    values = {"floating_network_id": "net", "floating_ip_address": "192.0.2.7"}
    made = core.pool.create_floatingip({}, values)["floatingip_id"]
    assert store.commits[-1].floating_ips[made].floating_ip_address == "192.0.2.7"
    assert _refused(core.pool.create_floatingip, values)[0] == 409
    assert _refused(core.pool.create_floatingip, {**values, "floating_ip_address": "nowhere"})[0] == 400
    reservation = {
        "id": "r",
        "resource_type": "virtual:floatingip",
        "network_id": "net",
        "amount": 1,
        "required_floatingips": [],
    }
    lease_id = core.ask(reservations=[reservation])
    assert _refused(core.pool.delete_floatingip, made) == (409, "floating IP 192.0.2.7 is held by a lease")
    core.leases.delete({}, lease_id, "")
    core.pool.delete_floatingip({}, made)
    assert store.commits[-1].floating_ips == {made: None}
    assert _refused(core.pool.delete_floatingip, made)[0] == 404


def test_hosts_that_somebody_has_put_into_the_pool_in_the_cloud(core: Any) -> None:
    core.cloud.add_hypervisors(hypervisors(["compute-3"]))
    core.cloud.set_pool(["compute-1", "compute-2", "compute-3"])
    core.pool.discover()
    assert _names(core) == {"compute-1", "compute-2", "compute-3"}
    core.pool.discover()
    assert len(core.site.records.hosts) == 3
