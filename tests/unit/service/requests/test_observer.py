"""What is checked again after an event of a server."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lease_scheduler.cloud.observations import ServerChange
from lease_scheduler.service.requests.observer import SiteObserver


@pytest.mark.parametrize(("arrives", "host"), [(False, "node1"), (True, None)])
def test_others_are_looked_at_again_where_a_server_left(arrives: bool, host: str | None) -> None:
    """A server that arrives at a host makes no room there; only its own lease waits for it."""
    asked: list[tuple[str | None, str | None]] = []
    executor = SimpleNamespace(ask_again=lambda lease_id, name: asked.append((lease_id, name)))
    observer = SiteObserver(cast(Any, SimpleNamespace(plan=None, executor=executor)), cast(Any, None))
    observer.on_server(ServerChange("instance.some.end", "server", "lease", "node1", arrives))
    assert asked == [("lease", host)]
