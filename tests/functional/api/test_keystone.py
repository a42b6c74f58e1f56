"""The programs as in a real cloud: identities from Keystone, requests over RabbitMQ, leases in MariaDB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
import xmlrpc.client
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from werkzeug.test import Client

from lease_scheduler.cmd import configuration
from tests.functional.api.keystone_site import DAY, LIMIT, Site, body_of, running_site
from tests.functional.commands.programs import run
from tests.servers.base import OwnProcess, free_port, wait_until
from tests.servers.keystone import PASSWORD, REGION, Keystone, User
from tests.servers.mariadb import MariaDB
from tests.servers.preloaded import run_preloaded
from tests.servers.rabbitmq import RabbitMQ

Document = dict[str, Any]

_BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def site(
    tmp_path_factory: pytest.TempPathFactory, keystone: Keystone, mariadb_server: MariaDB, rabbitmq_server: RabbitMQ
) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site"), keystone, mariadb_server, rabbitmq_server) as made:
        yield made


@pytest.mark.parametrize("path", ["", "v1", "v1/openapi.json", "healthcheck", "main.js"])
def test_open_to_everybody(site: Site, path: str) -> None:
    """Version documents, description, health check and the files of the page need no token."""
    answer = site.send("GET", path, {})
    assert answer.status_code in (200, 300), answer.text
    if path != "healthcheck":
        assert answer.content


def test_who_it_is(site: Site) -> None:
    """Without a valid token for a project the answer is 401, whatever other headers claim."""
    claimed = {
        "X-Identity-Status": "Confirmed",
        "X-User-Id": site.admin.id,
        "X-Project-Id": site.admin.project_id,
        "X-Roles": "admin",
    }
    for headers in ({}, {"X-Auth-Token": "none-that-exists"}, {"X-Auth-Token": ""}, claimed):
        for method, path in (("GET", "leases"), ("POST", "leases"), ("GET", "os-hosts"), ("GET", "calendar")):
            answer = site.send(method, f"v1/{path}", headers, body_of() if method == "POST" else None)
            assert answer.status_code == 401, (headers, answer.text)
            assert answer.json()["error_code"] == 401
            assert site.keystone.url in answer.headers["WWW-Authenticate"]
    good = {"X-Auth-Token": site.token(site.reader)}
    # Claims in the headers have no effect beside a token either.
    assert site.send("GET", "v1/os-hosts", claimed | good).status_code == 403
    assert site.send("GET", "v1/leases", good).status_code == 200


def test_projects_and_roles(site: Site) -> None:
    """A reader reads and a member makes leases, both in their own project; an administrator sees all of them."""
    ours, theirs = site.lease(site.member), site.lease(site.stranger)
    assert (ours["project_id"], ours["user_id"]) == (site.member.project_id, site.member.id)
    assert ours["id"] in site.ids(site.member)
    assert ours["id"] in site.ids(site.reader)
    assert theirs["id"] not in site.ids(site.member) | site.ids(site.reader)
    assert ours["id"] not in site.ids(site.stranger)
    path = f"leases/{ours['id']}"
    for method, body in (("GET", None), ("PUT", {"name": "mine now"}), ("DELETE", None)):
        assert site.ask(site.stranger, method, path, body).status_code == 403
    assert site.ask(site.member, "GET", "leases?all_projects=true").status_code == 403
    for method, where, body in (("POST", "leases", body_of()), ("PUT", path, {"name": "x"}), ("DELETE", path, None)):
        assert site.ask(site.reader, method, where, body).status_code == 403
    for user in (site.reader, site.member):
        assert site.ask(user, "GET", "os-hosts").status_code == 403
        assert site.ask(user, "POST", "os-hosts", {"name": "compute-1"}).status_code == 403
    assert {ours["id"], theirs["id"]} <= site.ids(site.admin, "?all_projects=true")
    assert not {ours["id"], theirs["id"]} & site.ids(site.admin)
    assert len(site.ask(site.admin, "GET", "os-hosts").json()["hosts"]) == 2
    for user, lease in ((site.member, ours), (site.admin, theirs)):
        assert site.ask(user, "DELETE", f"leases/{lease['id']}").ok
    assert not site.ids(site.admin, "?all_projects=true") & {ours["id"], theirs["id"]}


def test_origin(site: Site) -> None:
    """The role of peers decides, not the request. A lease keeps its origin, and its project may change and end it."""
    local, theirs = site.lease(site.member), site.lease(site.peer)
    assert (local["origin"], theirs["origin"]) == (None, site.peer.name)
    for user in (site.member, site.peer):
        for origin in (None, "another"):
            refused = site.ask(user, "POST", "leases", body_of(origin=origin))
            assert (refused.status_code, refused.json()["field"]) == (400, "origin")
    claims = {"X-User-Name": site.peer.name, "X-Roles": site.peer_role, "X-Auth-Token": site.token(site.member)}
    claimed = site.send("POST", "v1/leases", claims, body_of())
    assert (claimed.status_code, claimed.json()["lease"]["origin"]) == (201, None)
    for user, lease in ((site.member, theirs), (site.peer, local)):
        refused = site.ask(user, "PUT", f"leases/{lease['id']}", {"origin": "another"})
        assert (refused.status_code, refused.json()["field"]) == (400, "origin")
        changed = site.ask(user, "PUT", f"leases/{lease['id']}", {"name": "renamed", "duration": 2 * DAY})
        assert changed.json()["lease"]["origin"] == lease["origin"], changed.text
    start, end = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(time.time() + days * DAY)) for days in (30, 31))
    offered = {"name": "offered", "nodes": body_of()["nodes"], "hold": True, "start_date": start, "end_date": end}
    held = site.ask(site.peer, "POST", "quotes", offered).json()["quote"]["lease_id"]
    accepted = site.ask(site.member, "POST", f"leases/{held}/action", {"accept": {}})
    assert accepted.json()["lease"]["origin"] == site.peer.name, accepted.text
    shown = _openstack(site, site.member, "lease", "show", theirs["id"], "--all", "-f", "json")
    assert json.loads(shown.stdout)["origin"] == site.peer.name, shown.stderr
    for lease_id in (local["id"], theirs["id"], claimed.json()["lease"]["id"], held):
        assert site.ask(site.member, "DELETE", f"leases/{lease_id}").ok


def test_for_whom_a_peer_asks(site: Site) -> None:
    """Only a peer says so, and only it and those who see all hosts are told what the site has and does."""
    said = {"on_behalf_of": {"project": "physics", "user": "ada"}, "path": ["east", "west"]}
    newest = {"OpenStack-API-Version": "reservation latest"}

    def create(user: User, **terms: Any) -> requests.Response:
        headers = {"X-Auth-Token": site.token(user), **newest}
        return site.send("POST", "v1/leases", headers, body_of(**terms))

    made = create(site.peer, **said)
    assert made.status_code == 201, made.text
    lease = made.json()["lease"]
    assert {key: lease[key] for key in said} == said
    shown = _openstack(site, site.member, "lease", "show", lease["id"], "--all", "-f", "json")
    assert {key: json.loads(shown.stdout)[key] for key in said} == said, shown.stderr
    for key, value in said.items():
        refused = create(site.member, **{key: value})
        assert (refused.status_code, refused.json()["field"]) == (403, key)
    refused = create(site.peer, path=["default"])
    assert (refused.status_code, refused.json()["reason_code"]) == (409, "loop")
    for user, origin, sees in (
        (site.peer, site.peer.name, True),
        (site.admin, None, True),
        (site.member, None, False),
    ):
        headers = {"X-Auth-Token": site.token(user), **newest}
        found = site.send("GET", "v1/member", headers).json()["member"]
        assert (found["origin"], found["capacity"] is not None, found["load"] is not None) == (origin, sees, sees)
    assert site.ask(site.member, "DELETE", f"leases/{lease['id']}").ok


def test_host_in_use(site: Site) -> None:
    """The operator's command does not remove a host from the pool while a lease holds it."""
    lease = site.lease(site.member, nodes=[{"count": 2, "resources": {"VCPU": 8}}])
    words = ["--config-file", str(site.programs.configuration_file), "host", "remove", "compute-1"]
    refused = run("manage", *words, folder=site.programs.folder)
    assert refused.status == 2
    assert f"compute-1 is held by lease {lease['id']}" in refused.errors.strip().splitlines()[-1]
    assert len(site.ask(site.admin, "GET", "os-hosts").json()["hosts"]) == 2
    assert site.ask(site.member, "DELETE", f"leases/{lease['id']}").ok


def test_life_of_a_lease(site: Site) -> None:
    """The API accepts a lease, the engine starts and ends it, and the API shows each state."""
    lease = site.lease(site.member, duration=5)

    def shown() -> Document:
        found: Document = site.ask(site.member, "GET", f"leases/{lease['id']}").json()["lease"]
        return found

    assert wait_until(lambda: shown()["state"] == "done", LIMIT), shown()
    answer = site.ask(site.member, "GET", f"leases/{lease['id']}/history")
    assert answer.status_code == 200, answer.text
    assert "active" in answer.text


def _openstack(site: Site, user: User, *words: str) -> subprocess.CompletedProcess[str]:
    login = {
        "OS_AUTH_URL": site.keystone.url,
        "OS_IDENTITY_API_VERSION": "3",
        "OS_REGION_NAME": REGION,
        "OS_USERNAME": user.name,
        "OS_PASSWORD": PASSWORD,
        "OS_PROJECT_NAME": user.project,
        "OS_USER_DOMAIN_ID": "default",
        "OS_PROJECT_DOMAIN_ID": "default",
        "OS_CLIENT_CONFIG_FILE": "/nonexistent",
    }
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    return run_preloaded("openstack", *words, folder=Path.cwd(), limit=LIMIT, environment=ours | login)


@pytest.mark.parametrize("words", [("lease", "list"), ("reservation", "lease", "list")])
def test_openstack_client(site: Site, words: tuple[str, ...]) -> None:
    """OpenStackClient finds the service in the catalogue, with our commands and with those of Blazar's client."""
    lease = site.lease(site.member)
    listed = _openstack(site, site.member, *words, "-f", "json")
    assert listed.returncode == 0, listed.stderr
    assert lease["name"] in {row.get("Name", row.get("name")) for row in json.loads(listed.stdout)}
    site.ask(site.member, "DELETE", f"leases/{lease['id']}")


def test_openstack_client_makes_and_ends(site: Site) -> None:
    """A lease is created, shown and deleted from the command line; users without permission get an error."""
    name = f"lease-{uuid.uuid4()}"
    create = ["lease", "create", name, "--kind", "best-effort", "--nodes", "count=1,VCPU=8", "--duration", "1h"]
    refused = _openstack(site, site.reader, *create)
    assert refused.returncode == 1
    assert "403" in refused.stderr
    made = _openstack(site, site.member, *create, "-f", "json")
    assert made.returncode == 0, made.stderr
    lease_id = json.loads(made.stdout)["id"]
    assert lease_id in site.ids(site.reader)
    ended = _openstack(site, site.member, "lease", "delete", name)
    assert ended.returncode == 0, ended.stderr
    assert lease_id not in site.ids(site.reader)


_XML = (
    '<lease preemptible="true"><nodes><node-set numnodes="1"><res type="CPU" amount="100"/>'
    '<res type="Memory" amount="512"/></node-set></nodes><start/><duration time="01:00:00"/></lease>'
)


@contextmanager
def _front(site: Site, user: User, folder: Path, password: str = PASSWORD) -> Iterator[Any]:
    """Run Haizea's XML-RPC interface with a user's credentials; it finds the service in the catalogue."""
    port = free_port()
    configuration_file, log = folder / f"{port}.conf", folder / f"{port}.log"
    configuration_file.write_text(
        f"[haizea]\nport = {port}\nauth_type = password\nauth_url = {site.keystone.url}\nusername = {user.name}\n"
        f"password = {password}\nproject_name = {user.project}\nuser_domain_id = default\n"
        "project_domain_id = default\n"
    )
    words = [str(_BIN / "lease-scheduler-haizea-front"), "--config-file", str(configuration_file)]
    process = OwnProcess("lease-scheduler-haizea-front", words, log)
    try:
        assert wait_until(lambda: not process.is_running() or "listening" in log.read_text(), LIMIT)
        assert process.is_running(), log.read_text()
        with xmlrpc.client.ServerProxy(f"http://127.0.0.1:{port}", allow_none=True) as proxy:
            yield proxy
    finally:
        process.kill()


def test_haizea_s_way_in(site: Site, tmp_path: Path) -> None:
    """A front end may do what its own credentials allow, in their project (haizea F21-F24)."""
    with _front(site, site.member, tmp_path) as front:
        number = front.create_lease(_XML)
        (lease,) = site.ask(site.member, "GET", f"leases?number={number}").json()["leases"]
        assert (lease["project_id"], lease["user_id"]) == (site.member.project_id, site.member.id)
        with _front(site, site.stranger, tmp_path) as theirs:
            assert theirs.get_leases() == []
            with pytest.raises(xmlrpc.client.Fault):
                theirs.cancel_lease(number)
        with _front(site, site.reader, tmp_path) as only_reads:
            assert len(only_reads.get_leases()) == 1
            with pytest.raises(xmlrpc.client.Fault, match="403"):
                only_reads.create_lease(_XML)
        with _front(site, site.member, tmp_path, password="wrong") as unknown:
            with pytest.raises(xmlrpc.client.Fault) as refused:
                unknown.get_leases()
            assert "wrong" not in refused.value.faultString
        assert front.cancel_lease(number) == 0
        assert front.get_leases() == []


# The library under keystonemiddleware uses a module that later versions of Python do not have.
@pytest.mark.filterwarnings("ignore:'cgi' is deprecated")
def test_own_credentials_are_wrong(site: Site, tmp_path: Path) -> None:
    """If the service itself cannot log in, it answers neither that users' tokens are bad nor lets anyone in."""
    from lease_scheduler.cmd.identity import with_tokens

    path = tmp_path / "service.conf"
    path.write_text(site.programs.configuration_file.read_text().replace(f"password = {PASSWORD}", "password = wrong"))
    asked: list[str] = []

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        asked.append(environ["PATH_INFO"])
        start_response("200 OK", [])
        return []

    client = Client(with_tokens(application, configuration.load(["--config-file", str(path)])))
    answer = client.get("/v1/leases", headers={"X-Auth-Token": site.token(site.member)})
    assert (answer.status_code, asked) == (503, [])
    assert answer.headers["Retry-After"].isdigit()
    assert client.get("/v1").status_code == 200


def test_api_is_killed_while_it_is_asked(site: Site) -> None:
    """Each lease that was confirmed exists once; one without an answer exists at most as often as it was requested."""
    attempts: Counter[str] = Counter()

    def insist(name: str) -> str:
        body = body_of(name=name)
        for _ in range(200):
            attempts[name] += 1
            try:
                answer = site.ask(site.member, "POST", "leases", body)
            except requests.RequestException:
                assert wait_until(site.is_healthy, LIMIT)
                continue
            assert answer.status_code == 201, answer.text
            return str(answer.json()["lease"]["id"])
        raise AssertionError(f"{name} is never answered")

    site.token(site.member)
    names = [f"asked-{number}" for number in range(24)]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(insist, name) for name in names]
        for share in (4, 12):
            assert wait_until(lambda share=share: sum(each.done() for each in asked) >= share, LIMIT)  # type: ignore[misc]
            site.api.kill()
            site.start_api()
        answered = [each.result() for each in asked]
    assert site.engine.is_running()
    leases = site.ask(site.member, "GET", "leases").json()["leases"]
    assert len(set(answered)) == len(names)
    assert set(answered) <= {lease["id"] for lease in leases}
    made = Counter(lease["name"] for lease in leases)
    assert all(1 <= made[name] <= attempts[name] for name in names), (made, attempts)
    for lease in leases:
        if lease["name"] in names:
            assert site.ask(site.member, "DELETE", f"leases/{lease['id']}").status_code == 204


def test_feeds_need_no_token(site: Site) -> None:
    """Calendar programs send none. A bad one does not matter either, nor whether the identity service answers."""
    site.lease(site.member, name="in the feed")
    made = site.ask(site.member, "POST", "feeds", {"name": "phone"})
    assert made.status_code == 201, made.text
    feed = made.json()["feed"]
    assert site.ask(site.reader, "POST", "feeds", {"name": "phone"}).status_code == 403
    assert [each["id"] for each in site.ask(site.reader, "GET", "feeds").json()["feeds"]] == [feed["id"]]
    assert site.ask(site.stranger, "GET", f"feeds/{feed['id']}").status_code == 403
    assert site.ask(site.stranger, "DELETE", f"feeds/{feed['id']}").status_code == 403
    for headers in ({}, {"X-Auth-Token": "nonsense"}, {"X-Project-Id": "other", "X-Roles": "admin"}):
        answer = requests.get(feed["url"], headers=headers, timeout=LIMIT)
        assert (answer.status_code, "in the feed" in answer.text) == (200, True), answer.text
    site.keystone.kill()
    try:
        assert requests.get(feed["url"], timeout=LIMIT).status_code == 200
    finally:
        site.keystone.ensure_running()
    assert site.ask(site.member, "DELETE", f"feeds/{feed['id']}").status_code == 204
    assert requests.get(feed["url"], timeout=LIMIT).status_code == 404
    log = site.log.read_text()
    assert feed["url"].split("/")[-2] not in log


def test_identity_service_is_away(site: Site) -> None:
    """A new token cannot be validated: 503 and no access. Paths without tokens work; later everything does again."""
    fresh = {"X-Auth-Token": site.keystone.token(site.member)}
    site.keystone.kill()
    try:
        refused = site.send("GET", "v1/leases", fresh)
        assert refused.status_code == 503, refused.text
        assert refused.json()["error_code"] == 503
        assert site.send("GET", "v1", {}).status_code == 200
    finally:
        site.keystone.ensure_running()
    assert wait_until(lambda: site.send("GET", "v1/leases", fresh).status_code == 200, LIMIT)
