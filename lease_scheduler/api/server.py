"""The HTTP server in front of the application. Its own errors look like those of the application.

Waitress answers a body that is too large in plain text, and closes the connection while the client may still be
sending. Here such a body is read to its end but not kept, and the application refuses it.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from waitress import wasyncore
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer, create_server
from waitress.task import ErrorTask, ThreadedTaskDispatcher

from lease_scheduler.api.errors import FrameworkError
from lease_scheduler.api.microversions import MINIMUM, SERVICE_TYPE

#: Bytes of a body after which reading stops and the connection is closed.
_MAXIMUM_READ = 1 << 30

#: Paths that have their own threads, so that they answer while all other threads are busy; and the number of these
#: threads.
_QUICK_PATHS = frozenset({"/healthcheck"})
_QUICK_THREADS = 2

#: When the server stops: seconds that clients have to receive their answers, and seconds between two checks of that.
_PATIENCE = 5.0
_PAUSE = 0.02


@dataclass(frozen=True)
class ServerSettings:
    """Settings of the server.

    :ivar port: 0 means any free port
    :ivar threads: number of requests that are served at the same time
    :ivar connections: maximum number of open connections
    :ivar maximum_body: maximum size of a body that is kept, in bytes
    :ivar behind_proxy: whether the headers of a proxy about the request are passed to the application
    """

    host: str
    port: int
    threads: int
    connections: int
    maximum_body: int
    behind_proxy: bool = False


class Server:
    """A server that listens when it is created, and serves in its own threads between ``start`` and ``stop``.

    :raises OSError: the server cannot listen on the address
    """

    def __init__(self, app: Callable[..., Any], settings: ServerSettings) -> None:
        self._dispatchers: dict[int, Any] = {}
        self._server = create_server(
            app,
            map=self._dispatchers,
            host=settings.host,
            port=settings.port,
            threads=settings.threads,
            connection_limit=settings.connections,
            asyncore_use_poll=True,
            ident="lease-scheduler",
            # The name in links for clients that send no Host header.
            server_name=settings.host,
            clear_untrusted_proxy_headers=not settings.behind_proxy,
            max_request_body_size=_MAXIMUM_READ,
        )
        # A name such as localhost may stand for several addresses.
        self._sockets = [each for each in self._dispatchers.values() if isinstance(each, BaseWSGIServer)]
        self._quick = ThreadedTaskDispatcher()
        self._quick.set_thread_count(_QUICK_THREADS)
        for each in self._sockets:
            each.channel_class = _channel_class(settings.maximum_body)
            each.add_task = self._add_task
        self._thread = threading.Thread(target=self._server.run, name="rest", daemon=True)

    def _add_task(self, channel: HTTPChannel) -> None:
        """Pass the next request of a connection to the threads that serve its path."""
        is_quick = bool(channel.requests) and getattr(channel.requests[0], "path", "") in _QUICK_PATHS
        (self._quick if is_quick else self._server.task_dispatcher).add_task(channel)

    @property
    def url(self) -> str:
        """URL at which the server listens."""
        host, port = self._sockets[0].effective_host, self._sockets[0].effective_port
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def start(self) -> None:
        """Start serving."""
        self._thread.start()

    def stop(self) -> None:
        """Accept no more connections, wait some seconds for running requests, and close all connections.

        Nothing is closed that another thread may still use, because its file descriptor would be given to the next
        file that is opened.
        """
        trigger = self._sockets[0].trigger
        trigger.pull_trigger(self._refuse)
        end_at = time.monotonic() + _PATIENCE
        self._server.task_dispatcher.shutdown(timeout=_PATIENCE)
        self._quick.shutdown(timeout=max(0.0, end_at - time.monotonic()))
        while self._is_sending() and time.monotonic() < end_at:
            time.sleep(_PAUSE)
        left: dict[int, Any] = {}

        def end() -> None:
            left.update(self._dispatchers)
            self._dispatchers.clear()

        # The loop of waitress ends when it has no sockets to wait for.
        trigger.pull_trigger(end)
        self._thread.join()
        for each in left.values():
            # Closing a connection also closes its temporary files, which have what does not fit into memory.
            each.handle_close() if isinstance(each, HTTPChannel) else each.close()

    def _is_sending(self) -> bool:
        connections = [each for each in list(self._dispatchers.values()) if isinstance(each, HTTPChannel)]
        return any(connection.total_outbufs_len > 0 for connection in connections)

    def _refuse(self) -> None:
        for each in self._sockets:
            wasyncore.dispatcher.close(each)


def _channel_class(maximum_body: int) -> type:
    class Channel(HTTPChannel):  # type: ignore[misc]
        """A connection that uses the parser and the error task of this module."""

        error_task_class = _ErrorTask

        @staticmethod
        def parser_class(adjustments: Any) -> _Parser:
            """Return a parser for one request."""
            return _Parser(adjustments, maximum_body)

    return Channel


class _Parser(HTTPRequestParser):  # type: ignore[misc]
    """A parser of requests that does not keep a body that is too large."""

    def __init__(self, adjustments: Any, maximum_body: int) -> None:
        super().__init__(adjustments)
        self._maximum_body = maximum_body

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the request line and the headers."""
        super().parse_header(header_plus)
        if self.body_rcv is not None:
            self.body_rcv.buf = _BoundedBuffer(self.adj.inbuf_overflow, self._maximum_body)


class _BoundedBuffer(OverflowableBuffer):  # type: ignore[misc]
    """A buffer that counts all bytes of a body, but keeps none beyond the limit.

    The application refuses the request because of the length. That is in the WSGI environment even if the client sent
    none.
    """

    def __init__(self, overflow: int, maximum: int) -> None:
        super().__init__(overflow)
        self._maximum = maximum
        self._received = 0

    def __len__(self) -> int:
        return self._received

    def append(self, data: bytes) -> None:
        """Take the next part of the body."""
        self._received += len(data)
        if self._received <= self._maximum:
            super().append(data)


class _ErrorTask(ErrorTask):  # type: ignore[misc]
    """The answer to a request that is not HTTP, or whose header is too large."""

    def execute(self) -> None:
        """Write the answer."""
        error = self.request.error
        body = json.dumps(FrameworkError(error.code, f"{error.reason}: {error.body}").body()).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers.extend(
            [
                ("Content-Type", "application/json"),
                ("OpenStack-API-Version", f"{SERVICE_TYPE} {MINIMUM}"),
                ("Vary", "OpenStack-API-Version"),
                ("X-Openstack-Request-Id", f"req-{uuid.uuid4()}"),
                ("X-Content-Type-Options", "nosniff"),
            ]
        )
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)
