"""The sources of needs that ask Prometheus and Gnocchi, on a real HTTP server that answers as these do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from lease_scheduler.cloud.needs.base import NeedsOptions
from lease_scheduler.cloud.needs.gnocchi import GnocchiNeeds, NoMeasuresError
from lease_scheduler.cloud.needs.prometheus import PrometheusNeeds
from lease_scheduler.cloud.prometheus import NoFiguresError
from lease_scheduler.model.errors import InvalidValueError
from tests.servers.base import free_port


class _Server(ThreadingHTTPServer):
    """Answers every request with what a test has put into ``answer``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer: tuple[int, Any] = (200, {})
        self.requests: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.requests.append((self.path, body))
        status, answer = self.server.answer
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[_Server]:
    made = _Server()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


class _Cloud:
    def servers_of(self, leases: Any) -> Any:
        raise AssertionError("the caller knows the servers")

    def cpu_time(self, server_id: str) -> float | None:
        raise AssertionError("the cloud is not asked")

    def cpu_times(self) -> Any:
        raise AssertionError("agents are not asked")


def _prometheus(url: str) -> PrometheusNeeds:
    values = {
        "prometheus_url": url,
        "prometheus_query": "rate(libvirt_domain_vcpu_time_seconds_total[2m])",
        "prometheus_label": "uuid",
        "prometheus_timeout": 5.0,
        "prometheus_cafile": "",
        "prometheus_user": "",
        "prometheus_password": "",
    }
    return PrometheusNeeds(NeedsOptions(values, _Cloud()))


def _gnocchi(url: str) -> GnocchiNeeds:
    session = Session(auth=Token(url, "token"))
    values = {"gnocchi_granularity": 300, "gnocchi_timeout": 5.0}
    return GnocchiNeeds(
        NeedsOptions(values, _Cloud(), lambda service_type: Adapter(session, service_type=service_type))
    )


def test_prometheus_is_asked_for_the_cpus_of_servers(server: _Server) -> None:
    series = [
        {"metric": {"uuid": key}, "value": [1_435_781_451.781, value]}
        for key, value in {"a": "1.5", "b": "NaN", "other": "3"}.items()
    ]
    server.answer = (200, {"status": "success", "data": {"resultType": "vector", "result": series}})
    found = _prometheus(server.url).cpus(["a", "b", "c"])
    assert sorted(found) == ["a", "b"]
    assert found["a"] == 1.5
    server.answer = (503, b"out of order")
    with pytest.raises(NoFiguresError, match="does not answer"):
        _prometheus(server.url).cpus(["a"])
    with pytest.raises(NoFiguresError, match="does not answer"):
        _prometheus(f"http://127.0.0.1:{free_port()}").cpus(["a"])
    with pytest.raises(InvalidValueError, match=r"needs\.prometheus_url: is needed"):
        _prometheus("")


def test_gnocchi_is_asked_for_the_last_points_of_all_servers_at_once(server: _Server) -> None:
    """Points are of 300 s: 450 s of CPU time are 1.5 CPUs. Counters that seem to fall, and no points, tell nothing."""

    def points(*grown: float) -> Any:
        return {"cpu": {"rate:mean": [[f"2026-11-26T08:0{n}:00+00:00", 300.0, each] for n, each in enumerate(grown)]}}

    server.answer = (
        200,
        {"measures": {"a": points(1e9, 450e9), "b": points(1e9, -5e9), "c": points(), "other": points(1e9)}},
    )
    assert _gnocchi(server.url).cpus(["c", "a", "b"]) == {"a": 1.5}
    ((path, body),) = server.requests
    parts = urlsplit(path)
    query = parse_qs(parts.query)
    assert (parts.path, query["granularity"], list(query)) == ("/v1/aggregates", ["300"], ["granularity", "start"])
    assert json.loads(body) == {
        "operations": "(metric cpu rate:mean)",
        "resource_type": "instance",
        "search": {"in": {"id": ["a", "b", "c"]}},
    }
    assert _gnocchi(server.url).cpus([]) == {}
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ((404, {"description": "Metrics not found"}), "no cpu with the aggregation rate:mean"),
        ((500, b"out of order"), "does not answer"),
        ((200, b"[]"), "something else than its API"),
        ((200, {"measures": {"a": {"memory": {}}}}), "something else than its API"),
        ((200, {"measures": {"a": {"cpu": {"rate:mean": [["now", 0, 1]]}}}}), "something else than its API"),
    ],
)
def test_what_gnocchi_says_is_checked(server: _Server, answer: tuple[int, Any], complaint: str) -> None:
    server.answer = answer
    with pytest.raises(NoMeasuresError, match=complaint):
        _gnocchi(server.url).cpus(["a"])


def test_gnocchi_that_is_away(server: _Server) -> None:
    with pytest.raises(NoMeasuresError, match="does not answer"):
        _gnocchi(f"http://127.0.0.1:{free_port()}").cpus(["a"])
    with pytest.raises(InvalidValueError, match=r"needs\.source: gnocchi needs an OpenStack"):
        GnocchiNeeds(NeedsOptions({"gnocchi_granularity": 300, "gnocchi_timeout": 5.0}, _Cloud()))
