"""Requests and answers over a real RabbitMQ."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from oslo_config import cfg

from lease_scheduler.cmd import configuration, messaging
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.rpc.client import EngineFailedError, RpcEngineClient
from lease_scheduler.rpc.interface import METHODS
from lease_scheduler.rpc.server import rpc_server

#: The client library does not close connections that a server has dropped.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

Document = dict[str, Any]
Serve = Callable[[Any], None]

CONTEXT: Document = {"user_id": "user", "project_id": "project", "roles": ["member"], "is_admin": False}

#: Every request with its arguments.
REQUESTS: list[tuple[str, Document]] = [
    ("create_lease", {"lease": {"id": "1", "name": "näme", "reservations": [{"amount": 2}], "end": None}}),
    ("quote_lease", {"lease": {"id": "1"}}),
    ("offer_lease", {"lease": {"id": "1"}}),
    ("accept_lease", {"lease_id": "1", "trust_id": "2"}),
    ("reject_lease", {"lease_id": "1"}),
    ("counter_offer", {"lease_id": "1", "changes": {"duration": 60}}),
    ("decide_lease", {"lease_id": "1", "approved": True, "reason": "why"}),
    ("quote_change", {"lease_id": "1", "changes": {"end": 5}}),
    ("update_lease", {"lease_id": "1", "changes": {"end": 5}}),
    ("delete_lease", {"lease_id": "1", "reason": "why"}),
    ("end_lease", {"lease_id": "1"}),
    ("ready_lease", {"lease_id": "1"}),
    ("move_lease", {"lease_id": "1", "hosts_away": ["compute-1"]}),
    ("availability", {"query": {"nodes": {}, "count": 3}}),
    ("create_host", {"host": {"name": "compute-1"}}),
    ("create_hosts", {"names": ["compute-1", "compute-2"]}),
    ("update_host", {"host_id": "1", "values": {"gpu": None}}),
    ("delete_host", {"host_id": "1"}),
    ("create_floatingip", {"values": {"address": "192.0.2.1"}}),
    ("delete_floatingip", {"floatingip_id": "1"}),
    ("update_property", {"resource_type": "physical:host", "name": "gpu", "private": True}),
    ("create_series", {"series": {"rule": "FREQ=DAILY"}}),
    ("delete_series", {"series_id": "1"}),
    ("create_subscription", {"subscription": {"driver": "webhook", "target": "https://hooks.example.org/"}}),
    ("update_subscription", {"subscription_id": "1", "changes": {"event_types": []}}),
    ("delete_subscription", {"subscription_id": "1"}),
    ("create_feed", {"feed": {"name": "phone", "digest": "0"}}),
    ("delete_feed", {"feed_id": "1"}),
    ("list_flows", {}),
    ("list_forecasts", {}),
    ("show_budget", {"project_id": "red"}),
    ("list_least_yields", {"fewer": [0, 1]}),
    ("sleep_host", {"host_id": "1"}),
    ("wake_host", {"host_id": "1"}),
    ("set_flow", {"name": "p", "weight": 2.5}),
    ("withdraw_request", {"lease_id": "1"}),
    ("list_peers", {}),
    ("check_project", {"peer": "north", "project_id": "1"}),
    ("set_peer", {"name": "p", "limits": {"kinds": ["best-effort"], "max_share": 0.5}}),
    ("reconcile", {"dry_run": True}),
    ("ping", {}),
    ("list_installed", {}),
    ("uninstall", {"end_leases": True, "keep_providers": True}),
]


class Any2One(dict[str, Callable[..., Document]]):
    """Answers methods of any name with one function of name, context and arguments."""

    def __init__(self, answer: Callable[[str, Document, Document], Document]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, name: str) -> Callable[..., Document]:
        return lambda context, **arguments: self._answer(name, context, arguments)


@pytest.fixture
def conf(rabbitmq_url: str, tmp_path: Path) -> cfg.ConfigOpts:
    path = tmp_path / "service.conf"
    path.write_text(f"[DEFAULT]\ntransport_url = {rabbitmq_url}\n")
    return configuration.load(["--config-file", str(path)])


@pytest.fixture
def transport(conf: cfg.ConfigOpts) -> Iterator[Any]:
    made = messaging.rpc_transport(conf)
    yield made
    made.cleanup()
    gc.collect()


@pytest.fixture
def serve(transport: Any) -> Iterator[Serve]:
    """Answers requests to the site from now on."""
    servers: list[Any] = []

    def one(methods: Any) -> None:
        servers.append(rpc_server(transport, "site", f"engine-{len(servers)}", methods))
        servers[-1].start()

    yield one
    for server in servers:
        server.stop()
        server.wait()


def test_every_request_arrives_with_its_arguments_and_is_answered(serve: Serve, transport: Any) -> None:
    seen: list[tuple[str, Document, Document]] = []

    def answer(name: str, context: Document, arguments: Document) -> Document:
        seen.append((name, context, arguments))
        return {"answered": name}

    serve(Any2One(answer))
    client = RpcEngineClient(transport, "site", timeout=20.0)
    begun = time.time()
    for name, arguments in REQUESTS:
        assert getattr(client, name)(CONTEXT, **arguments) == {"answered": name}
    assert [(name, arguments) for name, _, arguments in seen] == REQUESTS
    assert {name for name, _ in REQUESTS} == set(METHODS)
    for _, context, _ in seen:
        assert context.items() >= CONTEXT.items()
        assert begun + 20 <= context["expires"] <= time.time() + 20


def test_every_kind_of_error_travels(serve: Serve, transport: Any) -> None:
    alternatives = [{"change": "start", "start": 5, "end": 6, "count": 1}]
    errors: dict[str, Exception] = {
        "create_lease": RefusedError(409, "nö place", "start_date", alternatives),
        "update_lease": RefusedError(404, "no such lease"),
        "delete_lease": EngineUnavailableError("the engine is stopping"),
        "end_lease": ValueError("secret details"),
    }

    def answer(name: str, context: Document, arguments: Document) -> Document:
        raise errors[name]

    serve(Any2One(answer))
    client = RpcEngineClient(transport, "site", timeout=20.0)
    with pytest.raises(RefusedError) as refused:
        client.create_lease(CONTEXT, {})
    error = refused.value
    assert (error.code, error.message, error.field) == (409, "nö place", "start_date")
    assert [dict(alternative) for alternative in error.alternatives] == alternatives
    with pytest.raises(RefusedError) as refused:
        client.update_lease(CONTEXT, "1", {})
    assert (refused.value.code, refused.value.field, list(refused.value.alternatives)) == (404, None, [])
    with pytest.raises(EngineUnavailableError, match="the engine is stopping"):
        client.delete_lease(CONTEXT, "1", "")
    with pytest.raises(EngineFailedError) as failed:
        client.end_lease(CONTEXT, "1")
    assert "secret" not in str(failed.value)


def test_nobody_answers_in_time(serve: Serve, transport: Any) -> None:
    client = RpcEngineClient(transport, "site", timeout=1.0)
    begun = time.monotonic()
    with pytest.raises(EngineUnavailableError):
        client.reconcile(CONTEXT)
    assert time.monotonic() - begun < 30, "whoever asks is kept waiting"


def test_a_broker_that_is_away_counts_as_an_engine_that_is(serve: Serve, transport: Any, rabbitmq_server: Any) -> None:
    serve(Any2One(lambda name, context, arguments: {}))
    client = RpcEngineClient(transport, "site", timeout=2.0)
    assert client.reconcile(CONTEXT) == {}
    rabbitmq_server.kill()
    begun = time.monotonic()
    with pytest.raises(EngineUnavailableError):
        client.reconcile(CONTEXT)
    assert time.monotonic() - begun < 30, "whoever asks is kept waiting"
    rabbitmq_server.ensure_running()
    for _ in range(20):
        try:
            assert client.reconcile(CONTEXT) == {}
            break
        except EngineUnavailableError:
            continue
    else:
        pytest.fail("requests are not answered although the broker is back")


def test_requests_that_are_sent_at_once_while_the_broker_is_away(
    serve: Serve, transport: Any, rabbitmq_server: Any
) -> None:
    """Each of them needs a connection of its own, which the transport makes in another way than the first one."""
    serve(Any2One(lambda name, context, arguments: {}))
    client = RpcEngineClient(transport, "site", timeout=2.0)

    def ask(_: int) -> type[BaseException] | None:
        try:
            client.reconcile(CONTEXT)
        except Exception as error:
            return type(error)
        return None

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {None}
        rabbitmq_server.kill()
        found = set(pool.map(ask, range(24)))
    rabbitmq_server.ensure_running()
    assert found == {EngineUnavailableError}


def test_a_request_that_reaches_no_engine_is_sent_again(serve: Serve, transport: Any, rabbitmq_server: Any) -> None:
    """A broker that is back has no queue until the engine has noticed; requests before that are answered, too."""
    asked: list[str] = []

    def answer(name: str, context: Document, arguments: Document) -> Document:
        asked.append(name)
        return {}

    serve(Any2One(answer))
    client = RpcEngineClient(transport, "site", timeout=30.0)
    assert client.reconcile(CONTEXT) == {}
    rabbitmq_server.kill()
    # The longer it is away, the later the engine tries to reconnect.
    time.sleep(6)
    rabbitmq_server.ensure_running()
    assert client.reconcile(CONTEXT) == {}
    assert len(asked) == 2, "it is carried out once"


def test_requests_are_answered_side_by_side(serve: Serve, transport: Any) -> None:
    """A request that waits for the plan does not keep others from being accepted."""
    meeting = Barrier(8)

    def answer(name: str, context: Document, arguments: Document) -> Document:
        meeting.wait(20)
        return {}

    serve(Any2One(answer))
    client = RpcEngineClient(transport, "site", timeout=30.0)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: client.reconcile(CONTEXT), range(8))) == [{}] * 8
