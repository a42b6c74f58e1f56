"""What a ping of the engine shows: whether the engine or the broker does not answer."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.rpc.client import RpcEngineClient

# Imported only after the client's package, which selects the kind of threads.
oslo_messaging = import_module("oslo_messaging")


class _Failing:
    """A client of oslo.messaging whose calls fail."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def prepare(self, timeout: float) -> Any:
        def call(*arguments: Any, **options: Any) -> None:
            raise self._error

        return SimpleNamespace(call=call)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (oslo_messaging.MessagingTimeout("no reply"), "does not answer"),
        (
            oslo_messaging.MessageDeliveryFailure("refused"),
            "cannot be asked: the message broker does not answer",
        ),
        (TimeoutError(), "cannot be asked: the message broker does not answer"),
    ],
)
def test_an_engine_that_does_not_answer_is_reported(
    monkeypatch: pytest.MonkeyPatch, error: Exception, problem: str
) -> None:
    monkeypatch.setattr(oslo_messaging, "get_rpc_client", lambda *arguments, **options: _Failing(error))
    assert RpcEngineClient(None, "site").problem(0.1) == problem
