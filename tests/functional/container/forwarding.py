"""Makes servers that listen on loopback reachable for containers."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

#: Of Linux's ``in.h``; Python has no name for it.
_IP_FREEBIND = 15


class _Forwarder(socketserver.ThreadingTCPServer):
    """Listens at an address, which need not exist yet, and forwards to the same port of loopback."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
        super().server_bind()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a container that is killed leaves broken connections."""


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        port = self.request.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as target:
            back = threading.Thread(target=_copy, args=(target, self.request), daemon=True)
            back.start()
            _copy(self.request, target)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def forwarded(address: str, ports: Iterable[int]) -> Iterator[None]:
    """Let whoever reaches this address reach these ports of loopback."""
    with ExitStack() as stack:
        for port in ports:
            server = stack.enter_context(_Forwarder((address, port), _Connection))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
        yield
