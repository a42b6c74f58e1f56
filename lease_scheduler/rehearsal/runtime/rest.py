"""REST interface within a world: an adapter of requests that calls the WSGI application of a simulated process."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from werkzeug.test import EnvironBuilder, run_wsgi_app

from lease_scheduler.rehearsal.runtime import current
from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.scheduler import GreenThread, Scheduler

Application = Callable[..., Any]

#: URL of the REST interface in a world.
URL = "http://lease-scheduler"


class _Exchange:
    """A request that is being answered.

    :ivar answer: status, headers and body; None while there is no answer
    """

    def __init__(self, scheduler: Scheduler, client: GreenThread) -> None:
        self._scheduler = scheduler
        self._client: GreenThread | None = client
        self.answer: tuple[str, Any, bytes] | None = None
        self.is_over = False

    def end(self) -> None:
        """Have the client go on."""
        self.is_over = True
        if self._client is not None:
            self._scheduler.wake(self._client)

    def abandon(self) -> None:
        """Note that the client waits no longer. It may wait for something else soon."""
        self._client = None


class RestServers:
    """The processes that serve the REST interface, behind a balancer that takes turns.

    :ivar is_away: tells whether a client cannot reach a server: client, server. May be replaced at any time
    """

    #: Its address among the services of a world.
    ADDRESS = "rest"

    def __init__(self, scheduler: Scheduler) -> None:
        self.is_away: Callable[[Process, Process], bool] = lambda client, server: False
        self._scheduler = scheduler
        self._servers: list[tuple[Process, Application]] = []
        scheduler.services[self.ADDRESS] = self

    def add(self, process: Process, app: Application) -> None:
        """Serve an application until its process is killed."""
        server = (process, app)
        self._servers.append(server)
        process.on_death.append(lambda: self._servers.remove(server))

    def ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, seconds: float | None
    ) -> tuple[str, Any, bytes]:
        """Have a request answered by a thread of a server.

        :param seconds: maximum true seconds to wait; None for no limit
        :return: status line, headers, body
        :raises requests.ConnectionError: no server can be reached, or it was killed before it answered
        :raises requests.ReadTimeout: there was no answer in time
        """
        client = self._scheduler.current
        if client is None or not client.process.is_alive:
            raise requests.ConnectionError("only a live process of the world can send requests")
        self._scheduler.pause()
        reachable = [each for each in self._servers if not self.is_away(client.process, each[0])]
        if not reachable:
            raise requests.ConnectionError("no server answers")
        process, app = reachable[0]
        self._servers.append(self._servers.pop(self._servers.index(reachable[0])))
        exchange = _Exchange(self._scheduler, client)

        def serve() -> None:
            exchange.answer = _called(app, method, url, headers, body)
            exchange.end()

        process.on_death.append(exchange.end)
        process.start(serve)
        if not exchange.is_over:
            self._scheduler.park(seconds)
        exchange.abandon()
        if process.is_alive:
            process.on_death.remove(exchange.end)
        if exchange.answer is not None:
            return exchange.answer
        if exchange.is_over:
            raise requests.ConnectionError("the server has gone")
        raise requests.ReadTimeout("the server has not answered in time")


def _called(app: Application, method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[str, Any, bytes]:
    parts = urlsplit(url)
    builder = EnvironBuilder(
        path=parts.path,
        base_url=URL,
        query_string=parts.query,
        method=method,
        headers=list(headers.items()),
        data=body,
        environ_base={"REMOTE_ADDR": "127.0.0.1"},
    )
    chunks, status, found = run_wsgi_app(app, builder.get_environ(), buffered=True)
    return status, found, b"".join(chunks)


class RehearsalAdapter(BaseAdapter):
    """Adapter of requests for ``URL``."""

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """See ``BaseAdapter.send``. The timeout is that of the answer."""
        scheduler = current.scheduler()
        seconds = timeout[1] if isinstance(timeout, tuple) else timeout
        body: Any = request.body or b""
        content = body.encode() if isinstance(body, str) else bytes(body)
        method, url = request.method or "GET", request.url or URL
        servers: Any = scheduler.services[RestServers.ADDRESS]
        assert isinstance(servers, RestServers)
        asked = {str(name): str(value) for name, value in request.headers.items()}
        status, headers, text = servers.ask(method, url, asked, content, seconds)
        scheduler.trace.note(f"{scheduler.now:.6f} {method} {url} {content!r} {status} {text!r}")
        return _response(request, status, headers, text)

    def close(self) -> None:
        """See ``BaseAdapter.close``."""


def _response(request: requests.PreparedRequest, status: str, headers: Any, text: bytes) -> requests.Response:
    code, _, reason = status.partition(" ")
    response = requests.Response()
    response.status_code, response.reason = int(code), reason
    response.headers = requests.structures.CaseInsensitiveDict(headers.items())
    response.encoding = requests.utils.get_encoding_from_headers(response.headers)
    response.raw = io.BytesIO(text)
    response.url, response.request = request.url or URL, request
    return response


def session() -> requests.Session:
    """Return a session whose requests to ``URL`` stay in the world."""
    made = requests.Session()
    # Settings of the machine, such as proxies, are none of the world.
    made.trust_env = False
    made.mount(URL, RehearsalAdapter())
    return made
