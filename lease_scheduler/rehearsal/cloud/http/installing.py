"""The way from the library ``requests`` to the model: shorter than that to a network, for the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from lease_scheduler.rehearsal.cloud.http.adapter import CloudAdapter
from lease_scheduler.rehearsal.cloud.http.client_caches import kept_for_clients

#: Arguments of ``Session.request`` that need no work before a request is sent to the model.
_PLAIN = frozenset({"headers", "data", "timeout", "allow_redirects", "verify", "cert", "stream", "proxies"})


def _is_plain(arguments: dict[str, Any]) -> bool:
    """Return whether a request says all of itself in its URL, its headers and the text of its body."""
    if not isinstance(arguments.get("data"), str | bytes | None):
        return False
    return all(name in _PLAIN or value is None for name, value in arguments.items())


def _prepared(session: requests.Session, method: str, url: str, arguments: dict[str, Any]) -> requests.PreparedRequest:
    """Return a request as ``requests`` prepares it, without what the model does not look at.

    ``requests`` looks for credentials in files, for cookies and for characters to be escaped, which takes longer than
    the answer. The clients of OpenStack have none of these.
    """
    made = requests.PreparedRequest()
    made.method, made.url, made.body = method.upper(), url, arguments.get("data")
    headers = {**session.headers, **(arguments.get("headers") or {})}
    made.headers = CaseInsensitiveDict({name: value for name, value in headers.items() if value is not None})
    return made


@contextmanager
def installed(adapter: CloudAdapter) -> Iterator[None]:
    """Within the block, every session of ``requests`` reaches a model at its URLs. Other URLs stay as they are."""
    get_adapter, merge = requests.Session.get_adapter, requests.Session.merge_environment_settings
    request = requests.Session.request

    def adapter_for(session: requests.Session, url: str) -> BaseAdapter:
        return adapter if adapter.serves(url) else get_adapter(session, url)

    def settings_for(session: requests.Session, url: str, *said: Any) -> Any:
        # To look for proxies in the environment takes longer than the whole answer.
        return {"proxies": {}} if adapter.serves(url) else merge(session, url, *said)

    def request_by(session: requests.Session, method: str, url: str, *said: Any, **arguments: Any) -> Any:
        if said or not (adapter.serves(url) and _is_plain(arguments)):
            return request(session, method, url, *said, **arguments)
        return adapter.send(_prepared(session, method, url, arguments))

    requests.Session.get_adapter = adapter_for  # type: ignore[method-assign,assignment]
    requests.Session.merge_environment_settings = settings_for  # type: ignore[method-assign,assignment]
    requests.Session.request = request_by  # type: ignore[method-assign,assignment]
    try:
        with kept_for_clients():
            yield
    finally:
        requests.Session.get_adapter = get_adapter  # type: ignore[method-assign]
        requests.Session.merge_environment_settings = merge  # type: ignore[method-assign]
        requests.Session.request = request  # type: ignore[method-assign]
