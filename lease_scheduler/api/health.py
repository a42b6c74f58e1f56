"""What the health check says of the parts that a request needs: which of them hang, since when, and why.

A check that hangs keeps its own thread and nobody else: the answer waits a moment for it, and says that it hangs.
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

#: Seconds that an answer waits for checks, and for which what they found is told again without another look.
_PATIENCE = 1.0
_FRESH = 1.0

#: Looks at a part: None if all is well, else what is wrong, for people. An exception is a part that does not answer.
Check = Callable[[], str | None]
Application = Callable[..., Iterable[bytes]]


@dataclass
class _Part:
    """What is known of a part.

    :ivar check: looks at it
    :ivar running: the look that has not come to an end
    :ivar begun: when that began
    :ivar looked: when the last one ended
    :ivar problem: what the last one found
    """

    check: Check
    running: Future[str | None] | None = None
    begun: float = 0.0
    looked: float = float("-inf")
    problem: str | None = None


class Health:
    """Looks at parts when it is asked, each in a thread of its own and never twice at the same time.

    :param checks: by the name of the part
    """

    def __init__(self, checks: Mapping[str, Check], patience: float = _PATIENCE) -> None:
        self._parts = {name: _Part(check) for name, check in checks.items()}
        self._patience = patience
        self._lock = Lock()

    def look(self) -> dict[str, dict[str, Any]]:
        """Return by the name of each part its ``state`` (ok, fails or hangs), and what is known of the reason."""
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
    """Answers the health check: whether this process may be asked is the status, and what hangs is the body.

    The status is 200 even if the database or the engine hang. Otherwise a balancer would take all processes away at
    once, which can still say what is wrong.

    :param enabled: an application that answers anything but 200 if this process is not to be asked
    """

    def __init__(self, health: Health, enabled: Application) -> None:
        self._health = health
        self._enabled = enabled

    def __call__(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request, as WSGI wants it."""
        told: list[Any] = []
        body = list(self._enabled(environ, lambda *arguments: told.append(arguments)))
        if not told or not told[0][0].startswith("200"):
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
