"""The meter that asks Prometheus, on a real HTTP server that speaks its documented API."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

from lease_scheduler.cloud.facts import LeaseOnHosts, LeaseServer, Power
from lease_scheduler.cloud.meters.base import Activity, MeterOptions
from lease_scheduler.cloud.meters.prometheus import PrometheusMeter
from lease_scheduler.cloud.prometheus import NoFiguresError
from lease_scheduler.model.errors import InvalidValueError

_IDLE, _USED, _UNKNOWN = Activity.IDLE, Activity.USED, Activity.UNKNOWN
_QUERY = "rate(ceilometer_cpu[10m]) / 1e9"


class _Prometheus(ThreadingHTTPServer):
    """Answers instant queries: with ``values`` by server, or with what a test puts into ``answer``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.values: Mapping[str, str] = {}
        self.answer: tuple[int, bytes] | None = None
        self.pause = 0.0
        self.requests: list[tuple[str, dict[str, list[str]], str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: _Prometheus

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        assert self.headers["Content-Type"] == "application/x-www-form-urlencoded"
        self.server.requests.append((self.path, parse_qs(body), self.headers.get("Authorization")))
        time.sleep(self.server.pause)
        status, answer = self.server.answer or (200, json.dumps(_vector(self.server.values)).encode())
        # A client that waits no longer has closed the connection.
        with suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def _vector(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer to an instant query, as the documentation of Prometheus describes it."""
    series = [
        {"metric": {"__name__": "cpu", "resource": key}, "value": [1435781451.781, value]}
        for key, value in values.items()
    ]
    return {"status": "success", "data": {"resultType": "vector", "result": series}}


class _Cloud:
    def __init__(self, **servers: Sequence[LeaseServer]) -> None:
        self.servers = servers

    def servers_of(self, leases: Any) -> Mapping[str, Sequence[LeaseServer]]:
        return self.servers

    def cpu_time(self, server_id: str) -> float | None:
        raise AssertionError("Prometheus is asked, not the cloud")


@pytest.fixture
def prometheus() -> Iterator[_Prometheus]:
    server = _Prometheus()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _meter(url: str, cloud: _Cloud, **values: Any) -> PrometheusMeter:
    defaults = {
        "prometheus_url": url,
        "prometheus_query": _QUERY,
        "prometheus_label": "resource",
        "prometheus_threshold": 0.02,
        "prometheus_timeout": 5.0,
        "prometheus_cafile": "",
        "prometheus_user": "",
        "prometheus_password": "",
    }
    return PrometheusMeter(MeterOptions({**defaults, **values}, cloud))


def _server(server_id: str, power: Power = Power.ON) -> LeaseServer:
    return LeaseServer(server_id, power)


def _leases(cloud: _Cloud) -> list[LeaseOnHosts]:
    return [LeaseOnHosts(lease_id, "project") for lease_id in cloud.servers]


def test_one_query_tells_of_all_leases(prometheus: _Prometheus) -> None:
    cloud = _Cloud(
        busy=[_server("s1"), _server("s2")],
        idle=[_server("s3"), _server("off", Power.OFF)],
        without=[],
        missing=[_server("s4")],
        strange=[_server("s5")],
        shelved=[_server("s6", Power.UNKNOWN)],
    )
    prometheus.values = {"s1": "0.5", "s2": "0", "s3": "0.02", "s5": "NaN", "s6": "0", "someone else's": "1"}
    found = _meter(f"{prometheus.url}/", cloud).measure(_leases(cloud))
    assert found == {
        "busy": _USED,
        "idle": _IDLE,
        "without": _IDLE,
        "missing": _UNKNOWN,
        "strange": _UNKNOWN,
        "shelved": _UNKNOWN,
    }
    ((path, asked, authorization),) = prometheus.requests
    assert (path, asked, authorization) == ("/api/v1/query", {"query": [_QUERY], "timeout": ["5s"]}, None)


def test_of_several_values_of_a_server_the_largest_counts(prometheus: _Prometheus) -> None:
    cloud = _Cloud(a=[_server("s")])
    series = _vector({"s": "0"})
    series["data"]["result"] += _vector({"s": "1"})["data"]["result"] + _vector({"s": "0"})["data"]["result"]
    series["data"]["result"].append({"metric": {}, "value": [1.0, "7"]})
    prometheus.answer = (200, json.dumps(series).encode())
    assert _meter(prometheus.url, cloud).measure(_leases(cloud)) == {"a": _USED}
    series["data"]["result"] += _vector({"s": "NaN"})["data"]["result"]
    prometheus.answer = (200, json.dumps(series).encode())
    assert _meter(prometheus.url, cloud).measure(_leases(cloud)) == {"a": _UNKNOWN}


def test_leases_without_servers_need_no_query(prometheus: _Prometheus) -> None:
    cloud = _Cloud(a=[])
    assert _meter(prometheus.url, cloud).measure(_leases(cloud)) == {"a": _IDLE}
    assert prometheus.requests == []


def test_credentials_are_sent(prometheus: _Prometheus) -> None:
    cloud = _Cloud(a=[_server("s")])
    meter = _meter(prometheus.url, cloud, prometheus_user="ada", prometheus_password="secret")
    meter.measure(_leases(cloud))
    assert prometheus.requests[0][2] == f"Basic {base64.b64encode(b'ada:secret').decode()}"


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, {"status": "error", "errorType": "bad_data", "error": "parse error"}, "answers 400: parse error"),
        (503, {"status": "error", "errorType": "timeout", "error": "query timed out"}, "answers 503: query timed out"),
        (200, {"status": "success", "data": {"resultType": "matrix", "result": []}}, "not a matrix"),
        (200, {"status": "success", "data": {"resultType": "vector", "result": [{}]}}, "something else"),
        (200, {"status": "success", "data": {"resultType": "vector", "result": None}}, "something else"),
        (200, [], "something else"),
        (200, None, "something else"),
        (200, "{", "does not answer"),
        (302, {}, "answers 302"),
    ],
)
def test_other_answers_tell_nothing(prometheus: _Prometheus, status: int, body: Any, message: str) -> None:
    prometheus.answer = (status, body.encode() if isinstance(body, str) else json.dumps(body).encode())
    cloud = _Cloud(a=[_server("s")])
    with pytest.raises(NoFiguresError, match=message):
        _meter(prometheus.url, cloud).measure(_leases(cloud))


def test_a_prometheus_that_does_not_answer_in_time_or_at_all_tells_nothing(prometheus: _Prometheus) -> None:
    cloud = _Cloud(a=[_server("s")])
    prometheus.pause = 1.0
    with pytest.raises(NoFiguresError, match="does not answer"):
        _meter(prometheus.url, cloud, prometheus_timeout=0.1).measure(_leases(cloud))
    with pytest.raises(NoFiguresError, match="does not answer"):
        _meter("http://127.0.0.1:1", cloud).measure(_leases(cloud))


@pytest.mark.parametrize(
    ("values", "option"),
    [
        ({"prometheus_url": ""}, "prometheus_url"),
        ({"prometheus_url": "prometheus:9090"}, "prometheus_url"),
        ({"prometheus_query": ""}, "prometheus_query"),
        ({"prometheus_cafile": "/nowhere"}, "prometheus_cafile: there is no file"),
    ],
)
def test_wrong_options_are_refused_at_start(values: dict[str, str], option: str) -> None:
    with pytest.raises(InvalidValueError, match=f"idle.{option}"):
        _meter("http://127.0.0.1", _Cloud(), **values)
