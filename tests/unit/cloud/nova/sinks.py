"""A receiver of what a watcher sees, which passes on what a test wants to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _ignore(*_: Any) -> None:
    return


class RecordingSink:
    """See ``cloud.nova.watch.sink.Sink``. Everything for which no function is given is ignored."""

    def __init__(self, **functions: Callable[..., None]) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Callable[..., None]:
        return self._functions.get(name, _ignore)

    on_event: Callable[..., None]
    on_server: Callable[..., None]
    on_cache: Callable[..., None]
    on_hosts: Callable[..., None]
    on_aggregate: Callable[..., None]
    on_stranger: Callable[..., None]
    on_round: Callable[..., None]
    on_inspection: Callable[..., None]
