"""A project that is deleted in Keystone while it has leases and a weight (shirako S10)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from tests.functional.api.keystone_site import DAY, LIMIT, Document, Site, running_site
from tests.servers.base import wait_until
from tests.servers.keystone import Keystone, User
from tests.servers.mariadb import MariaDB
from tests.servers.rabbitmq import RabbitMQ


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, keystone: Keystone, mariadb_server: MariaDB, rabbitmq_server: RabbitMQ
) -> Iterator[Site]:
    """A site of two hosts that is shared among projects."""
    lines = "[scheduling]\npolicy_queueing = winks\n"
    with running_site(tmp_path_factory.mktemp("site"), keystone, mariadb_server, rabbitmq_server, lines) as made:
        yield made


def _flow(site: Site, user: User, **body: float) -> Document:
    """Show the flow of a user's project, or set its weight, as an administrator."""
    answer = site.ask(site.admin, "PUT" if body else "GET", f"flows/{user.project_id}", body or None)
    assert answer.ok, answer.text
    shown: Document = answer.json()["flow"]
    return shown


def _state(site: Site, lease: Document) -> str:
    return str(site.ask(site.admin, "GET", f"leases/{lease['id']}").json()["lease"]["state"])


def _gets_a_token(site: Site, user: User) -> bool:
    try:
        site.keystone.token(user)
    except requests.HTTPError:
        return False
    return True


def test_leases_of_a_deleted_project_end_by_their_terms(site: Site) -> None:
    """Its lease runs, the queued ones get their turns, administrators see and end them, and its weight stays."""
    member, other = site.stranger, site.member
    assert _flow(site, member, weight=3)["weight_source"] == "set"
    both = [{"count": 2, "resources": {"VCPU": 8}}]
    first = site.lease(member, nodes=both, duration=DAY)
    assert wait_until(lambda: _state(site, first) == "active", LIMIT)
    queued, last = (site.lease(member, nodes=both, duration=duration) for duration in (DAY, 2))
    theirs = site.lease(other, nodes=both, duration=DAY)
    before = _flow(site, member)
    assert (before["queued"], before["share"]) == (2, 0.75)

    site.keystone.ask("DELETE", f"projects/{member.project_id}")

    assert wait_until(lambda: not _gets_a_token(site, member), LIMIT)
    after = _flow(site, member)
    assert {key: after[key] for key in ("weight", "share", "queued", "name")} == {
        key: before[key] for key in ("weight", "share", "queued", "name")
    }
    listed = {flow["name"] for flow in site.ask(site.admin, "GET", "flows?all_projects=true").json()["flows"]}
    assert member.project_id in listed
    assert {first["id"], queued["id"], last["id"]} <= site.ids(site.admin, "?all_projects=true")
    assert _state(site, first) == "active"

    # Its weight can be changed and removed: the service keeps no list of projects.
    assert _flow(site, member, weight=7)["weight"] == 7
    assert site.ask(site.admin, "DELETE", f"leases/{queued['id']}").ok
    assert _flow(site, member)["queued"] == 1
    # The other project is served first, as the first lease of this one has used nothing of its share so far.
    assert site.ask(site.admin, "DELETE", f"leases/{first['id']}").ok
    running = [theirs, last]
    assert wait_until(lambda: any(_state(site, each) in ("active", "done") for each in running), LIMIT)
    if _state(site, theirs) == "active":
        assert site.ask(site.admin, "DELETE", f"leases/{theirs['id']}").ok
    assert wait_until(lambda: _state(site, last) == "done", LIMIT), _state(site, last)

    cleared = site.ask(site.admin, "PUT", f"flows/{member.project_id}", {"weight": None}).json()["flow"]
    assert (cleared["weight_source"], cleared["queued"], cleared["share"]) == ("default", 0, 0.0)
    assert site.ask(site.admin, "GET", f"flows/{member.project_id}").ok
    assert site.ask(other, "GET", f"flows/{member.project_id}").status_code == 403
