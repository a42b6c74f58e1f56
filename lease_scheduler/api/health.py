"""Health check of the parts that a request needs: which of them fail or hang, for how long, and why.

A check that hangs blocks only its own thread: the answer waits briefly, then reports that the check hangs.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any

LOG = logging.getLogger(__name__)

#: Seconds that an answer waits for checks, and seconds for which a result is reused without checking again.
_PATIENCE = 1.0
_FRESH = 1.0

#: Checks a part: returns None if it works, else the problem. An exception means that the part does not answer.
Check = Callable[[], str | None]
Application = Callable[..., Iterable[bytes]]


@dataclass
class _Part:
    """State of the check of one part. Times are in seconds of the monotonic clock.

    :ivar running: the check in progress, or None
    :ivar begun: start of the check in progress
    :ivar looked: end of the last check
    :ivar problem: result of the last check
    """

    check: Check
    running: Future[str | None] | None = None
    begun: float = 0.0
    looked: float = float("-inf")
    problem: str | None = None


class Health:
    """Checks of all parts, run on demand: each in its own thread, and never twice at the same time.

    :param checks: check of each part, by name
    """

    def __init__(self, checks: Mapping[str, Check], patience: float = _PATIENCE) -> None:
        self._parts = {name: _Part(check) for name, check in checks.items()}
        self._patience = patience
        self._lock = Lock()

    def look(self) -> dict[str, dict[str, Any]]:
        """Return the ``state`` of each part (ok, fails, hangs), with ``reason`` or ``seconds``."""
        with self._lock:
            running = [self._begin(name, part) for name, part in self._parts.items()]
        wait([each for each in running if each is not None], self._patience)
        with self._lock:
            return {name: self._state(part) for name, part in self._parts.items()}

    def _begin(self, name: str, part: _Part) -> Future[str | None] | None:
        if part.running is not None and part.running.done():
            part.looked, part.problem = time.monotonic(), part.running.result()
            part.running = None
        if part.running is None and time.monotonic() - part.looked > _FRESH:
            part.running, part.begun = Future(), time.monotonic()
            Thread(target=_run, args=(name, part.check, part.running), name=f"health-{name}", daemon=True).start()
        return part.running

    def _state(self, part: _Part) -> dict[str, Any]:
        if part.running is not None and not part.running.done():
            return {"state": "hangs", "seconds": round(time.monotonic() - part.begun, 1)}
        problem = part.problem if part.running is None else part.running.result()
        return {"state": "ok"} if problem is None else {"state": "fails", "reason": problem}


def _run(name: str, check: Check, result: Future[str | None]) -> None:
    try:
        result.set_result(check())
    except Exception as error:
        LOG.debug("health check of the %s", name, exc_info=True)
        result.set_result(f"does not answer ({type(error).__name__})")


class HealthPage:
    """WSGI application of the health check: the status says whether to use this process, the body what fails or hangs.

    The status is 200 even if the database or the engine hangs. Otherwise a load balancer would remove all processes at
    once, although they can still report what is wrong.

    :param enabled: WSGI application that answers anything but 200 if this process is out of service
    """

    def __init__(self, health: Health, enabled: Application) -> None:
        self._health = health
        self._enabled = enabled

    def __call__(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a WSGI request."""
        told: list[Any] = []
        body = list(self._enabled(environ, lambda *arguments: told.append(arguments)))
        if not told[0][0].startswith("200"):
            start_response(*told[0])
            return body
        parts = self._health.look()
        is_well = all(part["state"] == "ok" for part in parts.values())
        content = json.dumps({"status": "ok" if is_well else "degraded", "parts": parts}).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(content))),
            ("Cache-Control", "no-store"),
        ]
        start_response("200 OK", headers)
        return [] if environ.get("REQUEST_METHOD") == "HEAD" else [content]
