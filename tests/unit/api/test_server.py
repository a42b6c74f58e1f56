"""The HTTP server ends without losing an answer."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from lease_scheduler.api.server import Server, ServerSettings
from tests.servers.base import wait_until


class Slow:
    """An application that answers when it is allowed to."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.may_answer = threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.asked.release()
        assert self.may_answer.wait(10)
        start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
        return [b"done"]


def _get(url: str) -> bytes:
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)) as connection:
        connection.request("GET", "/")
        return connection.getresponse().read()


def _refuses(url: str) -> bool:
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname, address.port), timeout=10).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        # It waited to be accepted when the server ceased to listen.
        return False
    return False


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_that_ends_finishes_its_answers_first(host: str, caplog: pytest.LogCaptureFixture) -> None:
    app = Slow()
    server = Server(app, ServerSettings(host, 0, threads=4, connections=100, maximum_body=1000))
    server.start()
    with ThreadPoolExecutor(5) as pool:
        answers = [pool.submit(_get, server.url) for _ in range(4)]
        for _ in answers:
            assert app.asked.acquire(timeout=10)
        ending = pool.submit(server.stop)
        # It accepts no more connections, and finishes its answers.
        assert wait_until(lambda: _refuses(server.url), 10)
        assert not ending.done()
        app.may_answer.set()
        assert [answer.result() for answer in answers] == [b"done"] * 4
        ending.result(10)
    with pytest.raises(ConnectionRefusedError):
        _get(server.url)
    # A request waits briefly if a thread is not running yet.
    assert [record for record in caplog.records if record.name != "waitress.queue"] == []


def test_a_server_that_ends_sends_whole_answers_or_none(caplog: pytest.LogCaptureFixture) -> None:
    """Every client gets the whole answer or none, and nothing is logged as a fault."""
    app = Slow()
    app.may_answer.set()
    server = Server(app, ServerSettings("127.0.0.1", 0, threads=4, connections=100, maximum_body=1000))
    server.start()

    def ask_on() -> int:
        answered = 0
        while True:
            try:
                answer = _get(server.url)
            except (http.client.HTTPException, OSError):
                return answered
            assert answer == b"done"
            answered += 1

    with ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(ask_on) for _ in range(8)]
        assert app.asked.acquire(timeout=10)
        server.stop()
        assert sum(each.result(10) for each in asking) > 0
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_long_answer_to_a_slow_reader_is_sent_to_its_end() -> None:
    length = 30_000_000

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Length", str(length))])
        return [b"x" * length]

    server = Server(app, ServerSettings("127.0.0.1", 0, threads=1, connections=100, maximum_body=1000))
    server.start()
    with closing(http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)) as connection:
        connection.request("GET", "/")
        answer = connection.getresponse()
        with ThreadPoolExecutor(1) as pool:
            ending = pool.submit(server.stop)
            time.sleep(0.3)
            assert not ending.done()
            assert len(answer.read()) == length
            ending.result(10)
