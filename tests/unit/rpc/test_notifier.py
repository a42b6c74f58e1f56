"""Notifications that a driver of oslo.messaging could not send."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from oslo_config import cfg

from lease_scheduler.cmd.messaging import notification_transport
from lease_scheduler.records.messages import Message
from lease_scheduler.rpc.notifier import Notifier, NotSentError

_MESSAGE = Message("lease.create", {"lease_id": "x"})


@pytest.fixture
def transport() -> Any:
    conf = cfg.ConfigOpts()
    conf([], project="lease-scheduler", default_config_files=[])
    found = notification_transport(conf)
    found._driver = None
    return found


_LOGGERS = (
    "oslo_messaging",
    "oslo_messaging.notify",
    "oslo_messaging.notify.messaging",
    "oslo_messaging.notify.notifier",
)


@pytest.fixture(params=_LOGGERS[:3])
def silenced(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set the log level of the library, or of a part of it, so that errors are not logged."""
    levels = {name: logging.getLogger(name).level for name in _LOGGERS}
    logging.getLogger(request.param).setLevel(logging.CRITICAL)
    yield
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def _refuse(*arguments: object, **options: object) -> None:
    raise ConnectionRefusedError("the broker is away")


def test_a_notification_that_a_driver_cannot_send_is_reported(transport: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_send_notification", _refuse)
    with pytest.raises(NotSentError, match="the broker is away"):
        Notifier(transport, "host").send(_MESSAGE)


@pytest.mark.usefixtures("silenced")
def test_the_configured_log_level_hides_no_loss(transport: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_send_notification", _refuse)
    with pytest.raises(NotSentError):
        Notifier(transport, "host").send(_MESSAGE)
