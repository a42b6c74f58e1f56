"""A real Keystone: OpenStack's identity service, on SQLite and with Fernet tokens, in an environment of its own."""

from __future__ import annotations

import getpass
import grp
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from tests.servers.openstack import environment
from tests.servers.openstack.wsgi import WsgiServer

REGION = "RegionOne"
PASSWORD = "not-a-secret"

_HTTP_LIMIT_SECONDS = 30
_INTERFACES = ("public", "internal", "admin")


@dataclass(frozen=True)
class User:
    """A user with a role in one project; all users have the same password.

    :ivar name: user name for logging in
    :ivar project: name of the user's project
    """

    name: str
    id: str
    project: str
    project_id: str


class Keystone(WsgiServer):
    """Keystone with one administrator, whose name is ``admin``, and whatever the tests add."""

    name = "keystone"
    module = "keystone.wsgi.api"
    # With SQLite, Keystone opens a second connection within a transaction, so requests must not be served concurrently.
    threads = 1

    def __init__(self, folder: Path, python: Path) -> None:
        super().__init__(folder, python)
        self._token: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v3"

    def project(self, name: str) -> str:
        """Create a project and return its id."""
        return str(self._new("project", name=f"{name}-{uuid.uuid4().hex}", domain_id="default")["id"])

    def user(self, name: str, project_id: str, role: str) -> User:
        """Create a user with an existing role in a project."""
        made = self._new("user", name=f"{name}-{uuid.uuid4().hex}", domain_id="default", password=PASSWORD)
        self.give_role(made["id"], project_id, role)
        project = self.ask("GET", f"projects/{project_id}")["project"]
        return User(made["name"], made["id"], project["name"], project_id)

    def give_role(self, user_id: str, project_id: str, role: str) -> None:
        """Give a user a role in another project."""
        (found,) = self.ask("GET", f"roles?name={role}")["roles"]
        self.ask("PUT", f"projects/{project_id}/users/{user_id}/roles/{found['id']}")

    def role(self, name: str) -> str:
        """Create a role and return its full name."""
        return str(self._new("role", name=f"{name}-{uuid.uuid4().hex}")["name"])

    def ensure_user(self, name: str, project: str, roles: Sequence[str]) -> User:
        """Return a user of exactly this name with roles in a project of exactly this name; create what is missing."""
        project_id = str(self._ensure("project", project)["id"])
        user_id = str(self._ensure("user", name, password=PASSWORD)["id"])
        for role in roles:
            self.give_role(user_id, project_id, role)
        return User(name, user_id, project, project_id)

    def middleware(self, service: User) -> str:
        """Return configuration lines with which an API validates tokens as this user."""
        return (
            f"[keystone_authtoken]\nauth_type = password\nauth_url = {self.url}\n"
            f"www_authenticate_uri = {self.url}\nuser_domain_id = default\nproject_domain_id = default\n"
            f"project_name = {service.project}\nusername = {service.name}\npassword = {PASSWORD}\n"
        )

    def service(self, kind: str, url: str) -> str:
        """Add a service to the catalogue, with the same URL for all interfaces, and return its id."""
        made = self._new("service", type=kind, name=kind)
        for interface in _INTERFACES:
            self._new("endpoint", service_id=made["id"], interface=interface, url=url, region_id=REGION)
        return str(made["id"])

    def ensure_service(self, kind: str, url: str) -> str:
        """Add a service to the catalogue, or change its URL if it exists; return its id."""
        found = self.ask("GET", f"services?type={kind}")["services"]
        if not found:
            return self.service(kind, url)
        service_id = str(found[0]["id"])
        for endpoint in self.ask("GET", f"endpoints?service_id={service_id}")["endpoints"]:
            if endpoint["url"] != url:
                self.ask("PATCH", f"endpoints/{endpoint['id']}", {"endpoint": {"url": url}})
        return service_id

    def remove_service(self, service_id: str) -> None:
        """Remove a service and its endpoints from the catalogue."""
        self.ask("DELETE", f"services/{service_id}")

    def token(self, user: User) -> str:
        """Return a token for a user's project."""
        return self._log_in(user.name, {"id": user.project_id})

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request of the administrator and return the body of the answer.

        :param path: below ``/v3/``
        :raises requests.HTTPError: it was refused
        """
        if self._token is None:
            self._token = self._log_in("admin", {"name": "admin", "domain": {"id": "default"}})
        headers = {"X-Auth-Token": self._token}
        answer = requests.request(method, f"{self.url}/{path}", json=body, headers=headers, timeout=_HTTP_LIMIT_SECONDS)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def _new(self, what: str, **values: Any) -> dict[str, Any]:
        made: dict[str, Any] = self.ask("POST", f"{what}s", {what: values})[what]
        return made

    def _ensure(self, what: str, name: str, **values: Any) -> dict[str, Any]:
        found: list[dict[str, Any]] = self.ask("GET", f"{what}s?name={name}&domain_id=default")[f"{what}s"]
        return found[0] if found else self._new(what, name=name, domain_id="default", **values)

    def _log_in(self, name: str, project: dict[str, Any]) -> str:
        user = {"name": name, "domain": {"id": "default"}, "password": PASSWORD}
        identity = {"methods": ["password"], "password": {"user": user}}
        body: Any = {"auth": {"identity": identity, "scope": {"project": project}}}
        answer = requests.post(f"{self.url}/auth/tokens", json=body, timeout=_HTTP_LIMIT_SECONDS)
        answer.raise_for_status()
        return answer.headers["X-Subject-Token"]

    def prepare(self) -> None:
        """Create its database and keys unless they exist, and write its configuration.

        :raises ServerError: that failed
        """
        configuration = self.folder / "keystone.conf"
        configuration.write_text(
            "[DEFAULT]\nuse_stderr = true\n"
            f"[database]\nconnection = sqlite:///{self.folder}/keystone.sqlite\n"
            f"[fernet_tokens]\nkey_repository = {self.folder}/keys\n"
            f"[fernet_receipts]\nkey_repository = {self.folder}/keys\n"
            f"[credential]\nkey_repository = {self.folder}/credentials\n"
            "[cache]\nbackend = dogpile.cache.memory\n"
            # The usual ones, and one-time passcodes.
            "[auth]\nmethods = external,password,token,oauth1,mapped,application_credential,totp\n"
            # Longer than a lab runs without getting a new token.
            "[token]\nexpiration = 86400\n"
            # Hashing would be most of the time of a log-in, and these passwords are no secret.
            "[identity]\npassword_hash_rounds = 4\n"
        )
        done = self.folder / "done"
        if done.exists():
            return
        program = [str(self._python), str(environment.PROGRAMS / "make_databases.py"), "keystone", str(configuration)]
        self._run([*program, PASSWORD, REGION, self.url, getpass.getuser(), grp.getgrgid(os.getgid()).gr_name])
        done.touch()

    def _prepare(self) -> None:
        self.prepare()

    def _variables(self) -> dict[str, str]:
        return environment.variables(OS_KEYSTONE_CONFIG_DIR=str(self.folder))
