"""Leases of a gateway in the projects of its tenants: Keystone, a site as in a real cloud, and the gateway."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import openstack
import pytest
import requests
from openstack.connection import Connection

from lease_scheduler.cloud.peers.rest import RestMember
from lease_scheduler.federation.asks import lease_id_at
from tests.functional.api.keystone_site import DAY, LIMIT, Site, body_of, running_site
from tests.functional.federation.contract import ProjectsContract
from tests.functional.federation.sites import SiteBehind
from tests.functional.gateway.process import GatewayProcess
from tests.servers.base import wait_until
from tests.servers.keystone import PASSWORD, Keystone, User
from tests.servers.mariadb import MariaDB
from tests.servers.rabbitmq import RabbitMQ

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

Document = dict[str, Any]


class Federation:
    """A site, two peers of it in a project of their own, and tenants of two projects.

    :ivar peer: the user of the gateway
    :ivar other_peer: another one with the same role in the same project
    :ivar colleague: an ordinary member of the project of the peers
    """

    def __init__(self, site: Site, keystone: Keystone) -> None:
        self.site = site
        gateways = keystone.project("gateways")
        self.peer, self.other_peer, self.colleague = (
            keystone.user(name, gateways, "member") for name in ("gateway", "other-gateway", "colleague")
        )
        for user in (self.peer, self.other_peer):
            keystone.give_role(user.id, gateways, site.peer_role)
        # As production has it: the service reads projects.
        keystone.give_role(site.service.id, site.service.project_id, "admin")
        self.tenant, self.stranger = site.member, site.stranger
        self.closed = keystone.project("chemistry")

    def allow(self, peer: User, projects: object) -> None:
        """Let a peer request leases for projects of the site."""
        answer = self.site.ask(self.site.admin, "PUT", f"peers/{peer.name}", {"projects": projects})
        assert answer.ok, answer.text

    def cloud(self, user: User) -> Document:
        """Return the entry in clouds.yaml with which a user reaches the site."""
        login = {
            "auth_url": self.site.keystone.url,
            "username": user.name,
            "password": PASSWORD,
            "project_id": user.project_id,
            "user_domain_id": "default",
        }
        return {"auth": login, "reservation_endpoint_override": f"{self.site.url}/v1"}

    def live(self) -> set[str]:
        """Return the ids of all leases at the site that are not over."""
        return self.site.ids(self.site.admin, "?all_projects=true&live=true")

    def owner(self, lease_id: str) -> str:
        """Return the project of a lease at the site."""
        answer = self.site.ask(self.site.admin, "GET", f"leases/{lease_id}")
        assert answer.ok, answer.text
        return str(answer.json()["lease"]["project_id"])


@pytest.fixture(scope="module")
def federation(
    tmp_path_factory: pytest.TempPathFactory, keystone: Keystone, mariadb_server: MariaDB, rabbitmq_server: RabbitMQ
) -> Iterator[Federation]:
    folder = tmp_path_factory.mktemp("site")
    with running_site(folder, keystone, mariadb_server, rabbitmq_server) as site:
        yield Federation(site, keystone)


@pytest.fixture
def connection(federation: Federation) -> Iterator[Connection]:
    entry = federation.cloud(federation.peer)
    with openstack.connect(load_yaml_config=False, load_envvars=False, **entry) as found:
        yield found


class TestRestMember(ProjectsContract):
    """A site that takes the caller for a peer which may request leases for two projects."""

    @pytest.fixture
    def site(self, federation: Federation, connection: Connection) -> Iterator[SiteBehind]:
        projects = [federation.tenant.project_id, federation.stranger.project_id]
        federation.allow(federation.peer, projects)

        def wait(holds: Any) -> None:
            assert wait_until(holds, LIMIT)

        found = SiteBehind(
            RestMember("north", connection),
            lambda: int(time.time()),
            wait,
            projects=projects,
            foreign=federation.closed,
            owner=federation.owner,
        )
        yield found
        found.clear()


def _gateway(federation: Federation, folder: Path, lines: str) -> GatewayProcess:
    """Return a gateway whose callers the site's Keystone authenticates, with its tables."""
    middleware = federation.site.keystone.middleware(federation.site.service)
    made = GatewayProcess(folder, {"north": federation.cloud(federation.peer)}, middleware + lines)
    assert made.manage("db", "sync").returncode == 0
    return made


@pytest.fixture
def gateway(federation: Federation, tmp_path: Path) -> Iterator[GatewayProcess]:
    """A gateway that leases for any project of the site."""
    federation.allow(federation.peer, "all")
    made = _gateway(federation, tmp_path, "[gateway]\nprojects = own\n")
    made.start()
    yield made
    made.kill()
    for lease_id in federation.site.ids(federation.site.admin, "?all_projects=true"):
        federation.site.ask(federation.site.admin, "DELETE", f"leases/{lease_id}")


def _ask(
    gateway: GatewayProcess, federation: Federation, user: User, method: str, path: str, body: Document | None = None
) -> requests.Response:
    return gateway.ask(method, path, body, federation.site.token(user))


def _lease(gateway: GatewayProcess, federation: Federation, user: User, **terms: Any) -> Document:
    answer = _ask(gateway, federation, user, "POST", "leases", body_of(**terms))
    assert answer.status_code == 201, answer.text
    made: Document = answer.json()["lease"]
    return made


def test_tenants_have_leases_of_their_own_projects_and_are_kept_apart(
    federation: Federation, gateway: GatewayProcess
) -> None:
    site, tenant, stranger = federation.site, federation.tenant, federation.stranger
    mine, theirs = (_lease(gateway, federation, user) for user in (tenant, stranger))
    for made, user in ((mine, tenant), (theirs, stranger)):
        assert made["site_project_id"] == made["project_id"] == user.project_id
        assert federation.owner(made["site_lease_id"]) == user.project_id
    at_site = f"leases/{mine['site_lease_id']}"
    shown = site.ask(tenant, "GET", at_site).json()["lease"]
    assert (shown["origin"], shown["project_id"]) == (federation.peer.name, tenant.project_id)
    assert mine["site_lease_id"] in site.ids(tenant)
    assert theirs["site_lease_id"] not in site.ids(tenant)
    # They use it at the site as their own, and nobody else does.
    assert site.ask(tenant, "PUT", at_site, {"name": "mine"}).ok
    for user in (stranger, federation.other_peer, federation.colleague):
        for method, path, body in (
            ("GET", at_site, None),
            ("PUT", at_site, {"name": "stolen"}),
            ("POST", f"{at_site}/action", {"end": {}}),
            ("DELETE", at_site, None),
        ):
            assert site.ask(user, method, path, body).status_code == 403
    for user in (stranger, federation.colleague):
        assert _ask(gateway, federation, user, "GET", f"leases/{mine['id']}").status_code == 403
    # What they do there is seen at the gateway, which also ends what its tenant ends.
    assert site.ask(tenant, "POST", f"{at_site}/action", {"end": {}}).ok
    assert wait_until(
        lambda: (
            _ask(gateway, federation, tenant, "GET", f"leases/{mine['id']}").json()["lease"]["state"]
            in ("done", "cancelled")
        ),
        LIMIT,
    )
    assert _ask(gateway, federation, stranger, "DELETE", f"leases/{theirs['id']}").status_code == 204
    assert wait_until(lambda: theirs["site_lease_id"] not in site.ids(stranger, "?live=true"), LIMIT)


def test_a_lease_left_over_in_a_project_is_found_by_its_origin(federation: Federation, gateway: GatewayProcess) -> None:
    """It is ended; a lease that the tenant has made there is not."""
    site, tenant = federation.site, federation.tenant
    own = site.lease(tenant)
    made = _lease(gateway, federation, tenant)
    assert _ask(gateway, federation, tenant, "DELETE", f"leases/{made['id']}").status_code == 204
    # What a database of the gateway from a backup would not know: the lease lives on at the site.
    lost = _lease(gateway, federation, tenant)
    gateway.kill()
    assert gateway.manage("gateway", "reconcile", "--dry-run").stdout == "nothing differs\n"
    gateway.forget_grant(lost["id"])
    found = gateway.manage("gateway", "reconcile")
    assert (found.returncode, "left over" in found.stdout) == (0, True), found.stdout + found.stderr
    assert wait_until(lambda: lost["site_lease_id"] not in site.ids(tenant, "?live=true"), LIMIT)
    assert own["id"] in site.ids(tenant, "?live=true")


def test_what_a_tenant_does_at_the_site_first_gains_nothing(federation: Federation, gateway: GatewayProcess) -> None:
    """A tenant can compute the id that a lease will get at the site, and take it. The gateway leaves it."""
    site, tenant = federation.site, federation.tenant
    chosen = str(uuid4())
    taken = site.lease(tenant, id=lease_id_at("north", chosen))
    refused = _ask(gateway, federation, tenant, "POST", "leases", body_of(id=chosen))
    assert (refused.status_code, refused.json()["reason_code"]) == (409, "id-taken")
    for method, body in (("GET", None), ("PUT", {"name": "x"}), ("DELETE", None)):
        answer = site.ask(federation.peer, method, f"leases/{taken['id']}", body)
        assert answer.status_code == 403
    assert site.ask(tenant, "GET", f"leases/{taken['id']}").json()["lease"]["origin"] is None
    assert taken["id"] in site.ids(tenant, "?live=true")
    # And it does not try for ever to end it.
    assert wait_until(lambda: gateway.due() == [], LIMIT)


def test_a_peer_that_lies_is_refused(federation: Federation) -> None:
    site, peer, other = federation.site, federation.peer, federation.other_peer
    before = federation.live()
    federation.allow(peer, [federation.tenant.project_id, str(uuid4().hex)])
    site.ask(site.admin, "DELETE", f"peers/{other.name}")

    def behalf(project_id: str) -> Document:
        return {"project": "physics", "user": "ada", "project_id": project_id}

    mine, closed = federation.tenant.project_id, federation.closed
    for user, project_id in ((peer, closed), (other, mine), (peer, mine.upper())):
        for path, more in (("leases", {}), ("quotes", {}), ("quotes", {"hold": True})):
            refused = site.ask(user, "POST", path, body_of(on_behalf_of=behalf(project_id), **more))
            said = refused.json()
            assert (refused.status_code, said["reason_code"], said["field"]) == (
                403,
                "project",
                "on_behalf_of.project_id",
            )
            assert project_id in said["error_message"]
    for user in (federation.tenant, federation.colleague, site.admin):
        refused = site.ask(user, "POST", "leases", body_of(on_behalf_of=behalf(mine)))
        assert (refused.status_code, refused.json()["field"]) == (403, "on_behalf_of")
    assert federation.live() <= before


def test_a_project_that_is_gone_or_disabled_gets_no_lease(federation: Federation) -> None:
    site, keystone = federation.site, federation.site.keystone
    before = federation.live()
    federation.allow(federation.peer, "all")
    disabled = keystone.project("disabled")
    keystone.ask("PATCH", f"projects/{disabled}", {"project": {"enabled": False}})
    for project_id in (disabled, uuid4().hex, "default", "../users"):
        said = {"project": "physics", "project_id": project_id}
        refused = site.ask(federation.peer, "POST", "leases", body_of(on_behalf_of=said))
        assert (refused.status_code, refused.json()["reason_code"]) == (403, "project"), refused.text
    assert federation.live() <= before


def test_tables_map_projects_of_separate_clouds(federation: Federation, tmp_path: Path) -> None:
    tenant, stranger = federation.tenant, federation.stranger
    federation.allow(federation.peer, [federation.closed])
    table = f"[gateway]\nprojects = mapped\n[gateway:north]\nprojects = {tenant.project_id}:{federation.closed}\n"
    gateway = _gateway(federation, tmp_path, table)
    gateway.start()
    try:
        made = _lease(gateway, federation, tenant, duration=DAY)
        assert (made["project_id"], made["site_project_id"]) == (tenant.project_id, federation.closed)
        assert federation.owner(made["site_lease_id"]) == federation.closed
        refused = _ask(gateway, federation, stranger, "POST", "leases", body_of())
        assert (refused.status_code, refused.json()["reason_code"]) == (409, "project")
        assert "north: has no project for yours" in refused.json()["error_message"]
        # The operator of the site has the last word.
        federation.allow(federation.peer, [])
        refused = _ask(gateway, federation, tenant, "POST", "leases", body_of())
        assert (refused.status_code, refused.json()["reason_code"]) == (409, "project")
        assert f"may not request leases for project {federation.closed}" in refused.json()["error_message"]
        # What it has granted stays the gateway's to end.
        assert _ask(gateway, federation, tenant, "DELETE", f"leases/{made['id']}").status_code == 204
        assert wait_until(lambda: made["site_lease_id"] not in federation.live(), LIMIT)
    finally:
        gateway.kill()
