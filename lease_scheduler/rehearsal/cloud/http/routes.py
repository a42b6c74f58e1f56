"""The routes of a service: which function answers which request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lease_scheduler.rehearsal.cloud.http.exchange import Answer, Refusal, Request

#: Answers a request; called with the request and with the named parts of its path.
Handler = Callable[..., Any]

_PART = re.compile(r"\{(\w+)\}")


class Routes:
    """Functions by method and path. A part of a path in braces, such as ``{server_id}``, is passed by its name."""

    def __init__(self) -> None:
        self._patterns: list[tuple[re.Pattern[str], dict[str, tuple[int, Handler]]]] = []
        self._by_path: dict[str, dict[str, tuple[int, Handler]]] = {}

    def add(self, method: str, path: str, handler: Handler, status: int = 200) -> None:
        """Add a route.

        :param handler: returns the body of the answer, or an ``Answer``
        :param status: status of the answer if the handler returns a body
        """
        if path not in self._by_path:
            self._by_path[path] = {}
            self._patterns.append((re.compile(_PART.sub(r"(?P<\1>[^/]+)", path)), self._by_path[path]))
        self._by_path[path][method] = (status, handler)

    def answer(self, request: Request, path: str) -> Answer:
        """Answer a request.

        :param path: path of the request below the root of the service
        :raises Refusal: there is no such route, or the handler refuses
        """
        for pattern, methods in self._patterns:
            match = pattern.fullmatch(path)
            if match is None:
                continue
            if request.method not in methods:
                raise Refusal(405, f"The method {request.method} is not allowed for {path}.")
            status, handler = methods[request.method]
            found = handler(request, **match.groupdict())
            return found if isinstance(found, Answer) else Answer(status, found)
        raise Refusal(404, f"There is nothing at {path}.")
