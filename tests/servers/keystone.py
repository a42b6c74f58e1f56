"""A real Keystone: OpenStack's identity service, on SQLite and with Fernet tokens, in an environment of its own."""

from __future__ import annotations

import fcntl
import getpass
import grp
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from tests.servers.base import MissingServerError, OwnProcess, Server

#: What stays installed for as long as these lines stay the same.
REQUIREMENTS = Path(__file__).with_name("keystone-requirements.txt")

REGION = "RegionOne"
PASSWORD = "not-a-secret"

_INSTALL_LIMIT_SECONDS = 400
_HTTP_LIMIT_SECONDS = 30
_DONE = "requirements.txt"

# Keystone reads the command line itself. With SQLite it opens a second connection within a transaction, so requests
# must not be served side by side.
_SERVE = """
import sys
from waitress import serve
port = int(sys.argv.pop())
from keystone.wsgi.api import application
serve(application, host="127.0.0.1", port=port, threads=1, connection_limit=1000, asyncore_use_poll=True)
"""
_MANAGE = "from keystone.cmd.manage import main; main()"


def install(cache: Path) -> Path:
    """The interpreter of an environment that has Keystone, made from the package index unless it is there.

    :param cache: folder that is kept from run to run, maybe used by several runs at once
    :raises MissingServerError: it cannot be had
    """
    folder = cache / f"environment-{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    python = folder / "bin" / "python"
    # Who comes second waits, and finds it installed.
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = REQUIREMENTS.read_text()
        done = folder / _DONE
        if done.exists() and done.read_text() == wanted and python.exists():
            return python
        if folder.exists():
            shutil.rmtree(folder)
        _run_installer(sys.executable, "-m", "venv", str(folder))
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run_installer(*pip, "--requirement", str(REQUIREMENTS))
        done.write_text(wanted)
    return python


def _run_installer(*command: str) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_LIMIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingServerError(f"Keystone cannot be installed: {error}") from error
    if ended.returncode:
        raise MissingServerError(f"Keystone cannot be installed: {ended.stderr.strip()[-1000:]}")


@dataclass(frozen=True)
class User:
    """Somebody with a role in one project; all have the same password.

    :ivar name: with which he logs in
    :ivar project: name of his project
    """

    name: str
    id: str
    project: str
    project_id: str


class Keystone(Server):
    """Keystone with one administrator, whose name is ``admin``, and whatever the tests add.

    :param python: interpreter of an environment that has it
    """

    name = "keystone"

    def __init__(self, folder: Path, python: Path) -> None:
        super().__init__(folder)
        self._python = python
        self._token: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v3"

    def project(self, name: str) -> str:
        """Make a project; gives its id."""
        return str(self._new("project", name=f"{name}-{uuid.uuid4().hex}", domain_id="default")["id"])

    def user(self, name: str, project_id: str, role: str) -> User:
        """Make a user who has a role, which is there already, in a project."""
        made = self._new("user", name=f"{name}-{uuid.uuid4().hex}", domain_id="default", password=PASSWORD)
        self.give_role(made["id"], project_id, role)
        project = self.ask("GET", f"projects/{project_id}")["project"]
        return User(made["name"], made["id"], project["name"], project_id)

    def give_role(self, user_id: str, project_id: str, role: str) -> None:
        """Give a user a role in a project as well."""
        (found,) = self.ask("GET", f"roles?name={role}")["roles"]
        self.ask("PUT", f"projects/{project_id}/users/{user_id}/roles/{found['id']}")

    def service(self, kind: str, url: str) -> str:
        """Enter a service into the catalogue, with the same URL for everybody; gives its id."""
        made = self._new("service", type=kind, name=kind)
        for interface in ("public", "internal", "admin"):
            self._new("endpoint", service_id=made["id"], interface=interface, url=url, region_id=REGION)
        return str(made["id"])

    def remove_service(self, service_id: str) -> None:
        """Take a service and its endpoints out of the catalogue."""
        self.ask("DELETE", f"services/{service_id}")

    def token(self, user: User) -> str:
        """A token for a user's project."""
        return self._log_in(user.name, {"id": user.project_id})

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Body of the answer to a request of the administrator.

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

    def _log_in(self, name: str, project: dict[str, Any]) -> str:
        user = {"name": name, "domain": {"id": "default"}, "password": PASSWORD}
        identity = {"methods": ["password"], "password": {"user": user}}
        body: Any = {"auth": {"identity": identity, "scope": {"project": project}}}
        answer = requests.post(f"{self.url}/auth/tokens", json=body, timeout=_HTTP_LIMIT_SECONDS)
        answer.raise_for_status()
        return answer.headers["X-Subject-Token"]

    def _prepare(self) -> None:
        configuration = self.folder / "keystone.conf"
        if configuration.exists():
            return
        configuration.write_text(
            "[DEFAULT]\nuse_stderr = true\n"
            f"[database]\nconnection = sqlite:///{self.folder}/keystone.sqlite\n"
            f"[fernet_tokens]\nkey_repository = {self.folder}/keys\n"
            f"[fernet_receipts]\nkey_repository = {self.folder}/keys\n"
            f"[credential]\nkey_repository = {self.folder}/credentials\n"
            "[cache]\nbackend = dogpile.cache.memory\n"
            # Most of the time of a log-in otherwise; the passwords are known anyway.
            "[identity]\npassword_hash_rounds = 4\n"
        )
        owner = ["--keystone-user", getpass.getuser(), "--keystone-group", grp.getgrgid(os.getgid()).gr_name]
        self._manage("db_sync")
        self._manage("fernet_setup", *owner)
        urls = [word for kind in ("public", "internal", "admin") for word in (f"--bootstrap-{kind}-url", self.url)]
        self._manage("bootstrap", "--bootstrap-password", PASSWORD, "--bootstrap-region-id", REGION, *urls)

    def _manage(self, *words: str) -> None:
        command = [str(self._python), "-c", _MANAGE, "--config-file", str(self.folder / "keystone.conf"), *words]
        self._run(command)

    def _launch(self) -> list[OwnProcess]:
        environment = os.environ | {"OS_KEYSTONE_CONFIG_DIR": str(self.folder)}
        command = [str(self._python), "-c", _SERVE, str(self.port)]
        return [OwnProcess(self.name, command, self.log, environment)]

    def _answers(self) -> bool:
        try:
            return requests.get(self.url, timeout=5).status_code == 200
        except requests.RequestException:
            return False

    def _end(self, process: OwnProcess) -> None:
        process.end(signal.SIGTERM, 30)
