"""Receivers of notifications to projects: a web server and a mail server on loopback."""

from __future__ import annotations

import asyncio
import json
import ssl
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult

from tests.servers.base import free_port
from tests.servers.certificates import self_signed


@dataclass(frozen=True)
class Request:
    """A request that a receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """The body, parsed."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def event_type(self) -> str:
        """The event type."""
        return str(self.document["event_type"])


class WebReceiver:
    """A web server that records requests, and can be stopped and started again on the same port.

    :ivar got: the requests, in order
    :ivar status: status of the answers
    :ivar goes_on: answers are given only while this is set
    """

    def __init__(self) -> None:
        self.port = free_port()
        self.got: list[Request] = []
        self.status = 204
        self.goes_on = Event()
        self.goes_on.set()
        self._server: ThreadingHTTPServer | None = None
        self._thread: Thread | None = None

    @property
    def url(self) -> str:
        """The URL at which it listens."""
        return f"http://127.0.0.1:{self.port}/leases"

    def start(self) -> None:
        """Listen."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(Request(self.path, dict(self.headers.items()), body))
                receiver.goes_on.wait()
                self.send_response(receiver.status)
                self.end_headers()

            def handle(self) -> None:
                try:
                    super().handle()
                except ConnectionError:
                    # The service was killed, or did not wait for the answer.
                    self.close_connection = True

            def log_message(self, format: str, *arguments: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def stop(self) -> None:
        """Listen no more."""
        self.goes_on.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = None


class _Session(SMTP):
    """A connection of a mail client, whose transport is kept: that of TLS comes later and needs no end of its own."""

    tcp: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport."""
        if self.tcp is None and isinstance(transport, asyncio.WriteTransport):
            self.tcp = transport
        super().connection_made(transport)


class MailReceiver(Controller):
    """A mail server that records mails. Its certificate is for localhost, and is its own authority.

    :param folder: for its certificate
    :ivar got: the mails, in order
    :ivar code: reply to every recipient
    """

    def __init__(self, folder: Path) -> None:
        self.got: list[EmailMessage] = []
        self._sessions: list[_Session] = []
        self.code = "250 OK"
        self.certificate, key = self_signed(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        super().__init__(
            self,
            hostname="127.0.0.1",
            port=free_port(),
            tls_context=context,
            require_starttls=True,
            authenticator=self._login,
            auth_required=True,
        )

    @property
    def settings(self) -> str:
        """Lines of the group ``tenant_notifications`` with which the service sends its mails here."""
        return (
            f"mail_host = localhost\nmail_port = {self.port}\nmail_starttls = true\nmail_cafile = {self.certificate}\n"
            "mail_user = leases\nmail_password = open sesame\nmail_sender = leases@example.org\n"
        )

    def factory(self) -> SMTP:
        """Return the protocol of a new connection."""
        session = _Session(self.handler, **self.SMTP_kwargs)
        self._sessions.append(session)
        return session

    def stop(self, no_assert: bool = False) -> None:
        """End all connections, which the library leaves open, and listen no more."""
        asyncio.run_coroutine_threadsafe(self._end_sessions(), self.loop).result()
        super().stop(no_assert)

    async def _end_sessions(self) -> None:
        # The server is not closed yet: it could give no transport to connections that it has accepted already.
        for listening in getattr(self.server, "sockets", ()):
            self.loop.remove_reader(listening.fileno())
        # An accepted connection gets its transport a round later, and a transport closes its socket in the next.
        for _ in range(5):
            for session in self._sessions:
                if session.tcp is not None:
                    session.tcp.abort()
            await asyncio.sleep(0)

    def _login(self, server: object, session: object, envelope: object, mechanism: str, data: Any) -> AuthResult:
        return AuthResult(success=(data.login, data.password) == (b"leases", b"open sesame"))

    async def handle_RCPT(self, server: object, session: object, envelope: Any, address: str, options: object) -> str:
        """Take a recipient, or refuse it."""
        if self.code.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.code

    async def handle_DATA(self, server: object, session: object, envelope: Any) -> str:
        """Keep a mail."""
        found = message_from_bytes(envelope.content, policy=policy.default)
        found["X-Recipients"] = ",".join(envelope.rcpt_tos)
        self.got.append(found)
        return "250 OK"
