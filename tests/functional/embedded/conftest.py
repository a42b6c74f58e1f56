"""Embedded services that end with the test, whatever its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.functional.embedded.rest import Rest
from tests.servers.reservation import ReservationService

Make = Callable[..., ReservationService]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes services that have not been started; they share the folder of the test."""
    with ExitStack() as stack:

        def one(
            options: Sequence[str] = (),
            configuration: str = "[simulated_cloud]\nhosts = 4\n",
            host: str = "127.0.0.1",
        ) -> ReservationService:
            service = ReservationService(tmp_path, options, configuration, host)
            stack.callback(service.kill)
            return service

        yield one


def started(make: Make, configuration: str, hosts: int) -> ReservationService:
    """Return a service that is started, with its first hosts in the pool."""
    service = make(configuration=configuration)
    service.start()
    Rest(service).register(hosts)
    return service
