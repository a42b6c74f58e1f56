"""Servers that are stopped at the end of their lease."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from lease_scheduler.cloud.nova.api.locks import REASON, Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands, LostOptions
from lease_scheduler.cloud.nova.images.stopping import Stop, Stopping


@pytest.fixture
def nova() -> Any:
    return mock.MagicMock()


def _stop(nova: Any, server: Any, late: float) -> Stop:
    return Stopping(nova, LostCommands(nova, LostOptions()), Locks(nova, lambda trust_id: nova)).stop(server, late)


def _server(status: str, task: str | None = None) -> Any:
    found = SimpleNamespace(id="s", status=status, locked=False, updated="2100-01-01T00:00:00Z", tenant_id="biology")
    setattr(found, "OS-EXT-STS:task_state", task)
    setattr(found, "OS-EXT-SRV-ATTR:host", "host1")
    return found


def test_a_running_server_is_locked_and_stopped(nova: Any) -> None:
    server = _server("ACTIVE")
    assert _stop(nova, server, 0) is Stop.GOING_ON
    assert [each[0] for each in nova.servers.method_calls] == ["lock", "stop"]


@pytest.mark.parametrize(("status", "expected"), [("SHUTOFF", Stop.STOPPED), ("SUSPENDED", Stop.STOPPED)])
def test_a_stopped_server_is_locked_so_that_its_users_cannot_start_it(nova: Any, status: str, expected: Stop) -> None:
    assert _stop(nova, _server(status), 0) is expected
    nova.servers.lock.assert_called_once()


@pytest.mark.parametrize("status", ["ACTIVE", "SHUTOFF"])
def test_a_lock_that_its_project_could_lift_is_replaced(nova: Any, status: str) -> None:
    server = _server(status)
    server.locked, server.locked_reason = True, "mine"
    nova.instance_action.list.return_value = [SimpleNamespace(action="lock", project_id="biology")]
    _stop(nova, server, 0)
    assert [each.args[0].id for each in nova.servers.lock.call_args_list] == ["s"]
    assert REASON in nova.servers.lock.call_args.kwargs["reason"]


def test_a_stopped_server_stays_stopped_while_an_image_of_it_is_made(nova: Any) -> None:
    assert _stop(nova, _server("SHUTOFF", "image_uploading"), 0) is Stop.STOPPED


def test_a_server_that_is_being_started_is_not_stopped(nova: Any) -> None:
    assert _stop(nova, _server("SHUTOFF", "powering-on"), 0) is Stop.GOING_ON


@pytest.mark.parametrize("task", ["image_snapshot_pending", "image_snapshot", "image_uploading", "image_backup"])
def test_an_image_that_its_users_make_does_not_keep_a_server_running(nova: Any, task: str) -> None:
    """They could begin one after the other. The state is reset, and the server stopped before the next one begins."""
    server = _server("ACTIVE", task)
    assert _stop(nova, server, 4) is Stop.GOING_ON
    nova.servers.stop.assert_not_called()
    assert _stop(nova, server, 5) is Stop.GOING_ON
    assert [each[0] for each in nova.servers.method_calls if each[0] != "lock"] == ["reset_state", "stop"]


def test_a_server_that_does_not_stop_is_given_up(nova: Any) -> None:
    assert _stop(nova, _server("ACTIVE", "powering-off"), 89) is Stop.GOING_ON
    assert _stop(nova, _server("ACTIVE", "powering-off"), 90) is Stop.IMPOSSIBLE


@pytest.mark.parametrize("status", ["ERROR", "BUILD", "RESCUE"])
def test_a_server_that_nova_does_not_stop_is_given_up(nova: Any, status: str) -> None:
    assert _stop(nova, _server(status), 0) is Stop.IMPOSSIBLE
    nova.servers.stop.assert_not_called()
