"""Leadership as programs other than engines need it: whether an engine leads, and a lock against engines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from oslo_config import cfg
from tooz import ToozError, coordination

from lease_scheduler.cmd.configuration import engine_name
from lease_scheduler.cmd.wiring import database
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.core.leadership import SIGN_INTERVAL
from lease_scheduler.store.sql.store import SqlStore

#: Real seconds to wait for a sign of life of the engine that leads, and between two checks.
_PATIENCE = SIGN_INTERVAL + 1.0
_PAUSE = 0.1

_FIELD = "service.coordination_url"


class EngineLeadsError(InvalidValueError):
    """An engine holds the lock of the leader."""


@contextmanager
def no_engine(conf: cfg.ConfigOpts) -> Iterator[None]:
    """Hold the lock of the leader, so that no engine can lead.

    :raises EngineLeadsError: an engine has the lock
    :raises InvalidValueError: the coordination service cannot be used
    """
    url: str = conf.service.coordination_url
    if url.startswith("file://"):
        Path(url.removeprefix("file://")).mkdir(parents=True, exist_ok=True)
    try:
        coordinator = coordination.get_coordinator(url, engine_name().encode())
        coordinator.start(start_heart=True)
    except ToozError as error:
        raise InvalidValueError(_FIELD, f"cannot be used: {error}") from error
    try:
        lock = coordinator.get_lock(f"lease-scheduler-{conf.service.site}".encode())
        if not lock.acquire(blocking=False):
            raise EngineLeadsError(_FIELD, "an engine leads the site; stop all engines first")
        try:
            yield
        finally:
            lock.release()
    finally:
        coordinator.stop()


def engine_leads(conf: cfg.ConfigOpts) -> bool:
    """Return whether an engine leads the site: it gives a sign of life within four seconds, or holds the lock."""
    store = SqlStore(database(conf), conf.service.site)
    first = store.sign_of_life()
    end = time.monotonic() + _PATIENCE
    while first is not None and time.monotonic() < end:
        time.sleep(_PAUSE)
        if store.sign_of_life() != first:
            return True
    try:
        with no_engine(conf):
            return False
    except EngineLeadsError:
        return True
    except (InvalidValueError, OSError):
        # An engine on another machine would have given a sign of life.
        return False
