from __future__ import annotations

import pytest
from novaclient.exceptions import BadRequest, Conflict, NotFound

from lease_scheduler.cloud.nova.api.aggregates import Aggregates
from tests.unit.rehearsal.cloud.site import LONG, Site


def test_an_aggregate_lives_and_is_told_of(site: Site) -> None:
    aggregates = Aggregates(site.nova())
    aggregates.ensure("pool", {"lease:pool": "true"}, ["host1", "host2"])
    aggregates.ensure("pool", {"lease:pool": "yes"}, ["host2"])
    found = aggregates.find("pool")
    assert found is not None
    assert (set(found.hosts), dict(found.metadata)) == ({"host2"}, {"lease:pool": "yes"})
    aggregates.remove("pool")
    assert aggregates.all() == []
    told = {event for event in site.events() if event.startswith("aggregate.")}
    assert told == {
        f"aggregate.{each}.end" for each in ("create", "add_host", "remove_host", "update_metadata", "delete")
    }


def test_what_nova_refuses(site: Site) -> None:
    nova = site.nova()
    made = nova.aggregates.create("pool", None)
    with pytest.raises(Conflict):
        nova.aggregates.create("pool", None)
    with pytest.raises(NotFound):
        made.add_host("nobody")
    with pytest.raises(NotFound):
        made.remove_host("host1")
    made.add_host("host1")
    with pytest.raises(Conflict):
        made.add_host("host1")
    with pytest.raises(BadRequest):
        made.delete()


def test_a_host_with_servers_keeps_its_zone(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova, availability_zone="nova:host1")
    east, west = (nova.aggregates.create(name, name) for name in ("east", "west"))
    with pytest.raises(Conflict, match="instances"):
        east.add_host("host1")
    server.delete()
    site.clock.run(LONG)
    east.add_host("host1")
    with pytest.raises(Conflict, match="already in availability zone"):
        west.add_host("host1")
    assert {each.host: each.zone for each in nova.services.list()} == {
        "host1": "east",
        "host2": "nova",
        "host3": "nova",
    }
    site.boot(nova, availability_zone="east")
    with pytest.raises(Conflict, match="instances"):
        east.remove_host("host1")


def test_images_are_fetched_and_it_is_told(site: Site) -> None:
    nova = site.nova()
    made = nova.aggregates.create("pool", None)
    for host in ("host1", "host2"):
        made.add_host(host)
    nova.aggregates.cache_images(made, [site.image])
    site.cloud.computes.stop("host2")
    site.clock.run(LONG)
    assert [host.name for host in site.cloud.nova.hosts.values() if site.image in host.cached_images] == ["host1"]
    told = [(event, payload["nova_object.data"]) for _, event, payload, _ in site.heard if "cache_images" in event]
    assert [event.rpartition(".")[2] for event, _ in told] == ["start", "progress", "progress", "end"]
    assert sorted((each["host"], each["images_cached"]) for event, each in told if event.endswith("progress")) == [
        ("host1", [site.image]),
        ("host2", []),
    ]
