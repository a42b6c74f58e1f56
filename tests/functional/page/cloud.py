"""A service whose people log in at a real Keystone, and pages of other sites."""

from __future__ import annotations

import base64
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests

from tests.functional.page.service import Document
from tests.servers.keystone import PASSWORD, Keystone, User
from tests.servers.reservation import ReservationService

_LIMIT = 30
_PERIOD = 30

#: Makes a page from the query of its address.
MakePage = Callable[[dict[str, list[str]]], str]


class Sites:
    """Pages of other sites on a free port of this machine, by their paths.

    Under the name ``127.0.0.1`` they are of the same site as the service but of another origin, as Keystone's are;
    under ``localhost`` they are of a foreign site.
    """

    def __init__(self) -> None:
        pages: dict[str, MakePage] = {}

        class Handler(BaseHTTPRequestHandler):
            """Answers all requests."""

            def do_GET(self) -> None:
                """Answer one request."""
                url = urlsplit(self.path)
                page = pages.get(url.path)
                content = b"" if page is None else page(parse_qs(url.query)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.pages = pages
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, name: str = "127.0.0.1") -> str:
        """Return the address of the pages."""
        return f"http://{name}:{self._server.server_port}"

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


def form(action: str, token: str) -> str:
    """Return the page that Keystone answers at the end of a WebSSO login (``sso_callback_template.html``)."""
    return (
        '<!doctype html><title></title><link rel="icon" href="data:,">'
        f'<form id="sso" action="{escape(action)}" method="post"><input type="hidden" name="token" '
        f'value="{escape(token)}"></form><script>document.getElementById("sso").submit()</script>'
    )


def _passcode(key: bytes, now: int) -> str:
    """Return the time-based one-time passcode of RFC 6238 with its defaults, which are Keystone's."""
    digest = hmac.digest(key, (now // _PERIOD).to_bytes(8), "sha1")
    offset = digest[-1] & 15
    return f"{(int.from_bytes(digest[offset : offset + 4]) & 0x7FFFFFFF) % 1_000_000:06}"


class Cloud:
    """The service, with Keystone in front, and users.

    :ivar person: a member of two projects, without a default project
    :ivar first: the project of the person that comes first by name
    :ivar second: the other one
    :ivar stranger: a member of another project
    """

    def __init__(self, folder: Path, keystone: Keystone, sites: Sites, more: str = "") -> None:
        self.keystone = keystone
        self.sites = sites
        service = keystone.user("reservation", keystone.project("service"), "service")
        admin = keystone.user("operator", keystone.project("operators"), "admin")
        self.first, self.second = keystone.project("alpha"), keystone.project("beta")
        self.person = keystone.user("person", self.first, "member")
        keystone.give_role(self.person.id, self.second, "member")
        self.stranger = keystone.user("stranger", keystone.project("others"), "member")
        file = folder / "cloud.conf"
        self.service = ReservationService(folder, options=["--config-file", str(file)])
        file.write_text(
            f"[api]\nauth_strategy = keystone\n[simulated_cloud]\nhosts = 4\n{keystone.middleware(service)}"
            # So that a token that is revoked, or expires, is refused at once.
            "token_cache_time = -1\n"
            f"[page]\nwebsso = openid:Example Login\nwebsso_url = {sites.url()}/identity\n"
            f"public_url = {self.service.url}/\n{more}"
        )
        self.service.start()
        self._admin = keystone.token(admin)
        for number in range(1, 5):
            self.ask(self._admin, "POST", "os-hosts", {"name": f"compute-{number}"})

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"{self.service.url}/"

    def log(self) -> str:
        """Return the log of the service."""
        return self.service.log.read_text()

    def ask(self, token: str, method: str, path: str, body: Document | None = None) -> Document:
        """Send a request below ``/v1/`` and return the body of the answer, which must not be an error."""
        headers = {"X-Auth-Token": token, "OpenStack-API-Version": "reservation latest"}
        answer = requests.request(method, f"{self.service.url}/v1/{path}", json=body, headers=headers, timeout=_LIMIT)
        assert answer.status_code < 300, answer.text
        found: Document = answer.json() if answer.content else {}
        return found

    def lease(self, user: User, name: str) -> None:
        """Book one whole host for an hour from now on."""
        body = {"name": name, "kind": "immediate", "duration": 3600, "nodes": [{"count": 1, "exclusive": True}]}
        self.ask(self.keystone.token(user), "POST", "leases", body)

    def is_valid(self, token: str) -> bool:
        """Return whether Keystone accepts a token."""
        headers = {"X-Auth-Token": token, "X-Subject-Token": token}
        return requests.get(f"{self.keystone.url}/auth/tokens", headers=headers, timeout=_LIMIT).ok

    def unscoped(self, user: User) -> str:
        """Return an unscoped token of a user, as Keystone makes at the end of a WebSSO login."""
        password = {"user": {"id": user.id, "password": PASSWORD}}
        body: Document = {"auth": {"identity": {"methods": ["password"], "password": password}, "scope": "unscoped"}}
        answer = requests.post(f"{self.keystone.url}/auth/tokens", json=body, timeout=_LIMIT)
        answer.raise_for_status()
        return answer.headers["X-Subject-Token"]

    def application_credential(self, user: User, name: str) -> str:
        """Create an application credential whose secret is that of all users, and return its id."""
        body = {"application_credential": {"name": name, "secret": PASSWORD}}
        headers = {"X-Auth-Token": self.keystone.token(user)}
        url = f"{self.keystone.url}/users/{user.id}/application_credentials"
        answer = requests.post(url, json=body, headers=headers, timeout=_LIMIT)
        answer.raise_for_status()
        return str(answer.json()["application_credential"]["id"])

    def needs_passcode(self, user: User) -> Callable[[], str]:
        """Have Keystone ask a user for a passcode too; return a function that makes one which is valid for seconds."""
        key = secrets.token_bytes(20)
        blob = base64.b32encode(key).decode().rstrip("=")
        credential = {"type": "totp", "blob": blob, "user_id": user.id}
        self.keystone.ask("POST", "credentials", {"credential": credential})
        rules = {"multi_factor_auth_enabled": True, "multi_factor_auth_rules": [["password", "totp"]]}
        self.keystone.ask("PATCH", f"users/{user.id}", {"user": {"options": rules}})

        def passcode() -> str:
            left = _PERIOD - time.time() % _PERIOD
            if left < _PERIOD / 3:
                time.sleep(left)
            return _passcode(key, int(time.time()))

        return passcode

    def close(self) -> None:
        """End the service."""
        self.service.kill()
