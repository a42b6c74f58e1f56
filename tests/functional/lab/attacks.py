"""Attacks that go on as long as a block runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

from keystoneauth1.exceptions import ClientException


@contextmanager
def repeated(attacks: Sequence[Callable[[], object]], pause: float = 0.2) -> Iterator[None]:
    """Make some calls again and again while a block runs, as a script could.

    :param pause: seconds after each round
    """
    over = Event()

    def go_on() -> None:
        while not over.wait(pause):
            for attack in attacks:
                with suppress(ClientException):
                    attack()

    thread = Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
