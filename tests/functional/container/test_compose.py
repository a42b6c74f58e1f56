"""The image and the compose file as ``containers.rst`` prints them: from nothing to leases on a real Nova.

Where no registry can be reached, the base images are stand-ins from Debian's packages. With
``LEASE_SCHEDULER_OFFICIAL_IMAGES=1`` they are the official ones.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.functional.container import base_images
from tests.functional.container.compose_project import ComposeProject
from tests.functional.container.forwarding import forwarded
from tests.functional.container.podman import Podman
from tests.servers.base import MissingServerError, wait_until
from tests.servers.fixtures import missing
from tests.servers.keystone import PASSWORD, User
from tests.servers.openstack.lab import Lab

pytestmark = pytest.mark.slow

Document = dict[str, Any]

OFFICIAL_IMAGES = "LEASE_SCHEDULER_OFFICIAL_IMAGES"
LIMIT = 300.0
#: Of the endpoints at the address that the containers reach.
_REGION = "Containers"


class Site:
    """The containers on the cloud of the lab, and a member of a project."""

    def __init__(self, project: ComposeProject, podman: Podman, lab: Lab) -> None:
        self.project, self.podman, self.lab = project, podman, lab
        physics = lab.keystone.project("physics")
        self.member = lab.keystone.user("ada", physics, "member")

    def ask(self, user: User, method: str, path: str, body: Document | None = None) -> requests.Response:
        """Send a user's request to the API."""
        headers = {"X-Auth-Token": self.lab.keystone.token(user), "OpenStack-API-Version": "reservation latest"}
        return requests.request(method, f"{self.project.url}/v1/{path}", json=body, headers=headers, timeout=60)

    def book(self) -> str:
        """Book a lease from now on and return its id."""
        body = {
            "name": f"lease-{uuid.uuid4()}",
            "kind": "immediate",
            "duration": 86_400,
            "nodes": [{"count": 1, "resources": {"VCPU": 1, "MEMORY_MB": 512}}],
        }
        answers: list[requests.Response] = []

        def is_booked() -> bool:
            # Until an engine leads, the answer is 503.
            answers.append(self.ask(self.member, "POST", "leases", body))
            return answers[-1].status_code != 503

        assert wait_until(is_booked, LIMIT)
        assert answers[-1].status_code == 201, answers[-1].text
        return str(answers[-1].json()["lease"]["id"])

    def state(self, lease: str) -> str:
        """Return the state of a lease."""
        answer = self.ask(self.member, "GET", f"leases/{lease}")
        assert answer.ok, answer.text
        return str(answer.json()["lease"]["state"])

    def is_ready(self) -> None:
        """Wait until the API is healthy."""
        assert wait_until(self.project.answers, LIMIT), self.project.log("api")

    def becomes_active(self, lease: str) -> None:
        """Wait until a lease is active."""
        assert wait_until(lambda: self.state(lease) == "active", LIMIT), self.project.log("engine")[-8_000:]


@pytest.fixture(scope="module")
def podman(request: pytest.FixtureRequest) -> Iterator[Podman]:
    if os.geteuid() != 0:
        missing("networks and storage of the containers are made as root")
    try:
        started = Podman(request.config.cache.mkdir("containers"))
    except MissingServerError as error:
        missing(str(error))
    try:
        yield started
    finally:
        started.close()


@pytest.fixture
def project(tmp_path: Path, podman: Podman) -> ComposeProject:
    try:
        if os.environ.get(OFFICIAL_IMAGES) != "1":
            base_images.make(podman)
        return ComposeProject(tmp_path, podman)
    except MissingServerError as error:
        missing(str(error))


@pytest.fixture
def site(project: ComposeProject, podman: Podman, lab: Lab) -> Iterator[Site]:
    lab.ensure_running()

    def seen_by_containers(url: str) -> str:
        return url.replace("127.0.0.1", project.gateway)

    login = {"auth_url": seen_by_containers(lab.keystone.url), "password": PASSWORD, "region_name": _REGION}
    project.write({"keystone_authtoken": login | {"www_authenticate_uri": lab.keystone.url}, "nova": login})
    _enter_endpoints(lab, seen_by_containers)
    with forwarded(project.gateway, {urlsplit(url).port or 80 for url in lab.urls.values()}):
        try:
            yield Site(project, podman, lab)
        finally:
            project.compose("down", "--volumes")


def _enter_endpoints(lab: Lab, seen_by_containers: Callable[[str], str]) -> None:
    keystone = lab.keystone
    keystone.ask("POST", "regions", {"region": {"id": _REGION}})
    for kind, url in lab.urls.items():
        (service,) = keystone.ask("GET", f"services?type={kind}")["services"]
        for interface in ("public", "internal", "admin"):
            endpoint = {
                "service_id": service["id"],
                "interface": interface,
                "url": seen_by_containers(url),
                "region_id": _REGION,
            }
            keystone.ask("POST", "endpoints", {"endpoint": endpoint})


def test_the_image_has_neither_sources_nor_passwords(project: ComposeProject, podman: Podman) -> None:
    project.write({})
    project.compose("build")
    run = ("run", "--rm", "--network", "none")
    assert podman.run(*run, "lease-scheduler", "id", "--user", "--name").strip() == "lease-scheduler"
    find = ("find", "/", "-xdev", "-name", ".git", "-o", "-xdev", "-name", "lease-scheduler.conf")
    # Only root sees all folders.
    assert podman.run(*run, "--user", "root", "lease-scheduler", *find) == ""
    assert "upgrade" in podman.run(*run, "lease-scheduler", "lease-scheduler-status", "--help")


def test_from_nothing_to_a_lease_that_outlives_the_containers(site: Site) -> None:
    project, podman = site.project, site.podman
    project.compose("up", "--build", "--detach")
    site.is_ready()
    project.in_engine("lease-scheduler-status", "upgrade", "check")
    for host in site.lab.hosts[:2]:
        project.in_engine("lease-scheduler-manage", "host", "add", host.name)
    first = site.book()
    site.becomes_active(first)

    # As the kernel does that has no memory left: for Podman, unlike an end that it was asked for.
    engine = project.container("engine")
    before = podman.inspect(engine)["State"]["Pid"]
    os.kill(before, signal.SIGKILL)
    assert wait_until(lambda: podman.inspect(engine)["State"]["Pid"] not in (0, before), LIMIT)
    assert site.state(first) == "active"
    second = site.book()
    site.becomes_active(second)

    project.compose("down")
    assert project.left("container", "network") == set()
    volumes = project.left("volume")
    assert all(each.startswith(project.name) for each in volumes), "volumes that no later container uses"

    project.compose("up", "--detach")
    site.is_ready()
    assert [site.state(each) for each in (first, second)] == ["active", "active"]
    site.becomes_active(site.book())
    assert project.left("volume") == volumes

    project.compose("down", "--volumes")
    assert project.left("container", "network", "volume") == set()
