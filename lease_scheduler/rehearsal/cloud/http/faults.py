"""Hooks at which a world lets the network between clients and services fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lease_scheduler.rehearsal.cloud.http.exchange import Answer, Request


def _go_on(request: Request) -> Answer | None:
    return None


def _keep(request: Request, answer: Answer) -> Answer:
    return answer


@dataclass
class NetworkFaults:
    """What happens to requests on their way. By default nothing does.

    A hook may let time pass, and it may raise an error of the library ``requests``, such as ``ConnectionError``, which
    the client then gets.

    :ivar before: called before the service; an answer that it returns is given instead of that of the service, which
        does not get the request
    :ivar after: called with the answer of the service, which has done its work; returns what the client gets
    """

    before: Callable[[Request], Answer | None] = _go_on
    after: Callable[[Request, Answer], Answer] = _keep
