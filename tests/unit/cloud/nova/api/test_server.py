"""Commands for servers that others change meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from novaclient.exceptions import BadRequest, ClientException, Conflict, Forbidden, NotFound

from lease_scheduler.cloud.nova.api import server as of

_SERVER = SimpleNamespace(id="s")


def _failing(error: Exception) -> Any:
    def call(server: Any) -> None:
        raise error

    return call


@pytest.mark.parametrize(
    "error",
    [
        Conflict(409, "Cannot 'stop' instance s while it is in task_state image_snapshot"),
        NotFound(404, "Instance s could not be found."),
        ClientException(500, "Unexpected API Error.\n<class 'nova.exception.UnexpectedTaskStateError'>"),
        ClientException(500, "Unexpected API Error.\n<class 'nova.exception.UnexpectedDeletingTaskStateError'>"),
    ],
)
def test_a_command_for_a_server_that_is_gone_or_busy_has_no_effect(error: Exception) -> None:
    assert of.command(_failing(error), _SERVER)


@pytest.mark.parametrize("error", [BadRequest(400, "no"), Forbidden(403, "no")])
def test_a_command_that_nova_refuses_for_good_is_told(error: Exception) -> None:
    assert not of.command(_failing(error), _SERVER)


@pytest.mark.parametrize(
    "error",
    [
        ClientException(500, "Unexpected API Error.\n<class 'oslo_messaging.exceptions.MessagingTimeout'>"),
        ClientException(500),
        ClientException(503, "UnexpectedTaskStateError"),
    ],
)
def test_a_failure_of_nova_is_raised(error: ClientException) -> None:
    with pytest.raises(ClientException):
        of.command(_failing(error), _SERVER)
