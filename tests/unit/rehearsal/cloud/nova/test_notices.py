"""Notifications as the listener of our driver reads them."""

from __future__ import annotations

from lease_scheduler.cloud.nova.api.hints import AggregateHint, CacheHint, Hint, ServerHint, ServiceHint, read
from tests.unit.rehearsal.cloud.site import LONG, Site


def _hints(site: Site) -> list[Hint]:
    return [hint for told in site.heard if (hint := read(*told)) is not None]


def test_a_server_of_a_lease_is_known_by_its_flavor(site: Site) -> None:
    nova = site.nova("mallory")
    site.cloud.add_flavor("lease-L1-0", 64, 1, 1, id="mine", extra_specs={"lease:id": "L1"})
    lease = site.nova().aggregates.create("lease-L1", None)
    lease.add_host("host2")
    lease.set_metadata({"lease:id": "L1", "lease:project_id": site.project, "lease:exclusive": "true"})
    site.heard.clear()
    server = nova.servers.create("job", site.image, "mine", nics="none")
    site.clock.run(LONG)
    server.delete()
    site.clock.run(LONG)
    assert _hints(site) == [
        ServerHint("instance.create.end", server.id, "L1", "host2", site.member_id),
        ServerHint("instance.delete.end", server.id, "L1", "host2", site.member_id),
    ]


def test_a_server_that_finds_no_host_is_told_of(site: Site) -> None:
    specs = {"lease:id": "L1"}
    site.cloud.add_flavor("lease-L1-0", 640_000, 1, 1, id="mine", extra_specs=specs)
    server = site.nova("mallory").servers.create("job", site.image, "mine", nics="none")
    site.clock.run(LONG)
    assert _hints(site) == [ServerHint("compute_task.build_instances.error", server.id, "L1", user_id=site.member_id)]


def test_services_and_aggregates_are_told_of(site: Site) -> None:
    nova = site.nova()
    (service,) = nova.services.list(host="host2")
    nova.services.disable(service.id)
    made = nova.aggregates.create("pool", None)
    made.add_host("host2")
    assert _hints(site) == [ServiceHint("host2"), *[AggregateHint(made.id, site.admin_id)] * 2]


def test_images_that_are_fetched_are_told_of_by_their_request(site: Site) -> None:
    nova = site.nova()
    made = nova.aggregates.create("pool", None)
    made.add_host("host2")
    (request_id, *_) = nova.aggregates.cache_images(made, [site.image]).request_ids
    site.clock.run(LONG)
    found = [each for each in _hints(site) if isinstance(each, CacheHint)]
    assert [each.phase for each in found] == ["start", "progress", "end"]
    assert found[1] == CacheHint("progress", "pool", request_id, "host2", frozenset({site.image}))
