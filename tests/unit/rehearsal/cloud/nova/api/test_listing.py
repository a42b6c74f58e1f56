from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from novaclient.exceptions import BadRequest, Forbidden

from lease_scheduler.cloud.nova.api.listing import all_servers
from lease_scheduler.rehearsal.cloud.nova.api import context
from lease_scheduler.rehearsal.cloud.options import Options
from tests.unit.rehearsal.cloud.site import LONG, Site


@pytest.fixture
def servers(site: Site) -> list[Any]:
    """Three servers, the oldest first."""
    nova = site.nova("mallory")
    made = [nova.servers.create(f"job-{number}", site.image, site.flavor, nics="none") for number in range(3)]
    site.clock.run(LONG)
    return [nova.servers.get(each.id) for each in made]


def _ids(found: list[Any]) -> list[str]:
    return [each.id for each in found]


def test_the_youngest_come_first_and_administrators_see_all(site: Site, servers: list[Any]) -> None:
    expected = _ids(servers[::-1])
    assert _ids(site.nova("mallory").servers.list()) == expected
    assert site.nova(project="service").servers.list() == []
    assert _ids(all_servers(site.nova(project="service"))) == expected


def test_pages(site: Site, servers: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "PAGE", 1)
    assert _ids(all_servers(site.nova())) == _ids(servers[::-1])
    with pytest.raises(BadRequest):
        site.nova().servers.list(marker="nobody")


def test_what_servers_are_found_by(site: Site, servers: list[Any]) -> None:
    first, second, third = servers
    nova = site.nova()
    first.set_tags(["a", "b"])
    nova.servers.lock(second)
    nova.servers.stop(third)
    site.clock.run(LONG)
    queries = [
        ({"tags": "a,b"}, [first]),
        ({"tags": "a,c"}, []),
        ({"locked": "true"}, [second]),
        ({"status": "SHUTOFF"}, [third]),
        ({"uuid": second.id}, [second]),
        ({"host": site.record(second).host}, None),
        ({"flavor": "elsewhere"}, []),
    ]
    for query, expected in queries:
        found = _ids(all_servers(nova, **query))
        assert second.id in found if expected is None else found == _ids(expected), query


def test_deleted_servers_are_listed_on_request(site: Site, servers: list[Any]) -> None:
    nova, since = site.nova(), datetime.fromtimestamp(site.clock.now, UTC) - timedelta(seconds=1)
    site.cloud.nova.options = Options(reclaim_instance_interval=3600)
    servers[0].delete()
    site.clock.run(LONG)
    site.cloud.nova.options = Options()
    servers[1].delete()
    site.clock.run(LONG)
    assert _ids(all_servers(nova)) == [servers[2].id]
    assert set(_ids(all_servers(nova, deleted=True))) == set(_ids(servers[:2]))
    assert _ids(all_servers(nova, deleted="true", status="SOFT_DELETED")) == [servers[0].id]
    assert set(_ids(all_servers(nova, **{"changes-since": since.isoformat()}))) == set(_ids(servers[:2]))
    with pytest.raises(Forbidden):
        site.nova("mallory").servers.list(search_opts={"deleted": 1})
