"""The adapter by which the library ``requests`` reaches the model instead of the network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter

from lease_scheduler.rehearsal.cloud.http.exchange import Answer, Request, read
from lease_scheduler.rehearsal.cloud.http.faults import NetworkFaults


class CloudAdapter(BaseAdapter):
    """Answers requests to the services of a model.

    :param services: host name of the URL -> answers requests to it
    """

    def __init__(self, services: Mapping[str, Callable[[Request], Answer]], faults: NetworkFaults) -> None:
        super().__init__()
        self._services = services
        self._faults = faults

    def serves(self, url: str) -> bool:
        """Return whether a URL belongs to the model."""
        return urlsplit(url).hostname in self._services

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        """Answer a request."""
        asked = read(request)
        answer = self._faults.before(asked)
        if answer is None:
            answer = self._faults.after(asked, self._services[asked.service](asked))
        return _response(request, answer)

    def close(self) -> None:
        """Do nothing: there is no connection."""


def _response(request: requests.PreparedRequest, answer: Answer) -> requests.Response:
    made = requests.Response()
    made.status_code = answer.status
    made.url = str(request.url)
    made.request = request
    content = b"" if answer.body is None else json.dumps(answer.body).encode()
    made.headers.update({"Content-Type": "application/json", "Content-Length": str(len(content)), **answer.headers})
    # As if it was read already, which makes one copy less.
    made._content, made._content_consumed = content, True
    made.reason = HTTPStatus(answer.status).phrase
    made.encoding = "utf-8"
    return made
