from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import requests
from werkzeug.wrappers import Request, Response

from lease_scheduler.rehearsal.runtime.processes import Process
from lease_scheduler.rehearsal.runtime.rest import URL, RestServers, session
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from tests.unit.rehearsal.runtime.conftest import Start


def _app(environ: Any, start_response: Any) -> Iterable[bytes]:
    """Answer with what was asked, after the seconds in the query."""
    request = Request(environ)
    time.sleep(float(request.args.get("seconds", 0)))
    said = f"{request.method} {request.path} {request.host} {request.headers.get('X-Word')} {request.get_data()!r}"
    return Response(said, 201, {"X-Answer": "yes"}, mimetype="text/plain")(environ, start_response)


@pytest.fixture
def servers(scheduler: Scheduler) -> RestServers:
    return RestServers(scheduler)


@pytest.fixture
def server(start: Start, servers: RestServers) -> Process:
    process = start(lambda: None, "api")
    servers.add(process, _app)
    return process


def _ask(scheduler: Scheduler, start: Start, main: Callable[[requests.Session], object]) -> Process:
    return start(lambda: main(session()), "client")


def test_a_request_is_answered_by_a_thread_of_the_server(scheduler: Scheduler, start: Start, server: Process) -> None:
    answers: list[requests.Response] = []
    _ask(
        scheduler,
        start,
        lambda rest: answers.append(rest.put(f"{URL}/v1/things?seconds=2", headers={"X-Word": "w"}, json={"a": 1})),
    )
    scheduler.run(1)
    assert (answers, len(server.threads)) == ([], 1)
    scheduler.run(5)
    (answer,) = answers
    assert (answer.status_code, answer.reason, answer.headers["x-answer"]) == (201, "CREATED", "yes")
    assert answer.text == """PUT /v1/things lease-scheduler w b'{"a": 1}'"""


def _fails(scheduler: Scheduler, start: Start, error: type[Exception], seconds: float) -> list[float]:
    """Have a request fail that takes a minute, and return when it did."""
    ends: list[float] = []

    def main(rest: requests.Session) -> None:
        with pytest.raises(error):
            rest.get(f"{URL}/?seconds=60", timeout=seconds)
        ends.append(scheduler.now)
        # What the server does later must not disturb the client.
        time.sleep(100)
        ends.append(scheduler.now)

    _ask(scheduler, start, main)
    return ends


def test_a_client_does_not_wait_longer_than_it_says(scheduler: Scheduler, start: Start, server: Process) -> None:
    ends = _fails(scheduler, start, requests.ReadTimeout, 5)
    scheduler.run(200)
    assert ends == [5.0, 105.0]


def test_a_killed_server_breaks_its_connections(scheduler: Scheduler, start: Start, server: Process) -> None:
    ends = _fails(scheduler, start, requests.ConnectionError, 500)
    scheduler.run(7)
    server.kill()
    scheduler.run(200)
    assert ends == [7.0, 107.0]


def test_without_a_server_there_is_no_connection(scheduler: Scheduler, start: Start, servers: RestServers) -> None:
    ends = _fails(scheduler, start, requests.ConnectionError, 5)
    scheduler.run(1)
    assert ends == [0.0]


def test_a_server_behind_a_partition_is_passed_over(
    scheduler: Scheduler, start: Start, servers: RestServers, server: Process
) -> None:
    asked: list[str] = []

    def other(environ: Any, start_response: Any) -> Iterable[bytes]:
        asked.append("other")
        return _app(environ, start_response)

    servers.add(start(lambda: None, "other"), other)

    def main(rest: requests.Session) -> None:
        for _ in range(4):
            rest.get(URL)

    _ask(scheduler, start, main)
    scheduler.run(1)
    assert len(asked) == 2
    servers.is_away = lambda client, to: to is server
    _ask(scheduler, start, main)
    scheduler.run(1)
    assert len(asked) == 6
    assert scheduler.crashes == []
