"""Which engine leads if several could."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import pytest

from lease_scheduler.service.core import leadership as tested
from lease_scheduler.service.core.leadership import Leadership, Silence

_LIMIT = 20.0


class Lock:
    """A lock that others may hold, and that may be lost with its connection."""

    def __init__(self) -> None:
        self.is_free = True
        self.is_lost = False
        self.made = 0

    def make(self) -> Lock:
        self.made += 1
        self.is_lost = False
        return self

    def acquire(self, blocking: object = True) -> bool:
        return self.is_free

    def release(self) -> bool:
        if self.is_lost:
            raise ConnectionError("lost")
        return True


class Site:
    """What an engine leads."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.led = 0
        self.is_mine = True
        self.closed = Event()
        self.on_broken: Callable[[], None] = lambda: None
        self.sign: object = None
        self.leadership = Leadership(
            self.lock.make, self._lead, lambda: self.is_mine, lambda: self.sign, patience=1.5, interval=0.2
        )

    def _lead(self, on_broken: Callable[[], None]) -> Site:
        self.led += 1
        self.on_broken = on_broken
        self.closed.clear()
        return self

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.leadership.stop()
    assert made.closed.is_set() or not made.led


def test_who_breaks_leads_again_even_if_the_lock_was_lost(site: Site) -> None:
    site.leadership.start()
    assert site.leadership.is_leading.wait(_LIMIT)
    site.lock.is_lost = True
    site.on_broken()
    assert site.closed.wait(_LIMIT)
    assert site.leadership.is_leading.wait(_LIMIT)
    assert (site.led, site.lock.made) == (2, 2)


def test_who_is_deposed_stops_to_lead(site: Site) -> None:
    site.leadership.start()
    assert site.leadership.is_leading.wait(_LIMIT)
    site.is_mine = False
    assert site.closed.wait(_LIMIT)
    assert not site.leadership.is_leading.is_set()


def test_a_lock_whose_owner_gives_no_sign_of_life_does_not_count(site: Site) -> None:
    site.lock.is_free = False
    site.sign = 7
    site.leadership.start()
    assert site.leadership.is_leading.wait(_LIMIT)


def test_a_lock_whose_owner_lives_counts(site: Site) -> None:
    site.lock.is_free = False
    looks = 0
    often = Event()

    def look() -> int:
        nonlocal looks
        looks += 1
        if looks == 4:
            often.set()
        return looks

    site.leadership = Leadership(site.lock.make, site._lead, lambda: True, look, patience=1.5, interval=0.2)
    site.leadership.start()
    assert often.wait(_LIMIT)
    assert site.led == 0


def test_signs_of_life_are_looked_for_at_intervals_until_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    now, sign, looks = 0.0, 0, []
    monkeypatch.setattr(tested, "monotonic", lambda: now)

    def look() -> int:
        looks.append(now)
        return sign

    silence = Silence(look, interval=3.0)
    # The engine that leads gives a sign every second until the 7th.
    found = {}
    for second in range(12):
        now, sign = float(second), min(second, 7)
        found[second] = silence.seconds()
    assert looks == [0.0, 3.0, 6.0, 9.0]
    assert found[9] == 0.0

    for second in range(12, 15):
        now = float(second)
        found[second] = silence.seconds()
    assert looks[4:] == [12.0, 13.0, 14.0]
    assert [found[second] for second in range(12, 15)] == [3.0, 4.0, 5.0]

    now, sign = 15.0, 8
    assert silence.seconds() == 0.0
