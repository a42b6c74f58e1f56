"""The ends of leases in the cloud are the promised ones, whatever happens to a lease."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.service.runners import SteppedRunner
from lease_scheduler.service.upkeep.promised_ends import PromisedEnds, promised_end
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

_LIMIT = 30.0
#: Seconds that a boot takes, which is the lateness of a lease that starts at once.
_BOOT_TIME = 2


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, "constant", {}, boot_time=_BOOT_TIME)
    yield made
    made.close()


def _begin(service: Service, kind: str, count: int = 1, **said: object) -> str:
    document = service.document(count, kind, **said) | {"preemptible": kind != "reservation"}
    return str(service.leases.create({}, document)["lease_id"])


def _is_told(service: Service) -> bool:
    """Return whether the cloud has the end of every running lease, and no end that differs from the promised one."""
    with service.site.transaction():
        leases = service.site.engine.live_leases()
    ends = dict(service.cloud.announcements.ends)
    return all(ends.get(lease.lease_id) == promised_end(lease) for lease in leases)


def test_a_lease_that_begins_late_is_told_its_later_end(service: Service) -> None:
    """A best-effort lease gets its whole duration, so it ends later by the same time."""
    asked = service.clock.now()
    lease_id = _begin(service, "best-effort", duration=HOUR)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    assert wait_until(lambda: service.cloud.announcements.ends.get(lease_id) is not None, _LIMIT)
    end = service.cloud.announcements.ends[lease_id]
    assert end is not None and end >= asked + HOUR + _BOOT_TIME
    assert _is_told(service)


def test_extension_shrinking_and_a_restart_are_told(service: Service) -> None:
    now = service.clock.now()
    lease_id = _begin(service, "reservation", start=now, end=now + HOUR)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    for end in (now + 2 * HOUR, now + HOUR // 2):
        service.leases.update({}, lease_id, {"end": end})
        assert wait_until(lambda end=end: (service.cloud.announcements.ends.get(lease_id) or 0) >= end, _LIMIT)  # type: ignore[misc]
        assert wait_until(lambda: _is_told(service), _LIMIT)
    # An end that a previous engine has left.
    service.cloud.announcements.ends[lease_id] = 5
    service.restart()
    assert wait_until(lambda: _is_told(service), _LIMIT)
    assert service.cloud.announcements.ends[lease_id] != 5


def test_none_is_told_while_servers_are_brought_back(service: Service) -> None:
    """A best-effort lease makes room for a reservation, and goes on."""
    lease_id = _begin(service, "best-effort", 2, duration=4 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    start = service.clock.now() + 900
    reserved = _begin(service, "reservation", 2, start=start, end=start + HOUR)
    # It leaves earlier, and the cloud knows that in advance.
    assert wait_until(lambda: (service.cloud.announcements.ends.get(lease_id) or 2**40) <= start, _LIMIT)
    assert _is_told(service)
    service.clock.jump(900)
    service.engine.timer.wake()
    assert wait_until(service.is_in(reserved, "active"), _LIMIT)
    assert wait_until(lambda: service.cloud.announcements.ends.get(lease_id, 1) is None, _LIMIT)
    service.leases.delete({}, reserved, "asked for")
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    assert wait_until(lambda: (service.cloud.announcements.ends.get(lease_id) or 0) > start + HOUR, _LIMIT)
    assert _is_told(service)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_the_end_told_is_the_promised_one(service: Service, seed: int) -> None:
    """Leases arrive, grow, shrink, preempt and end at random, with servers that are always late."""
    chance = random.Random(seed)
    kinds = ["best-effort", "deadline", "immediate", "reservation"]
    live: list[str] = []
    for _ in range(25):
        now = service.clock.now()
        what = chance.choice(["create", "create", "change", "jump", "end"])
        with suppress(LeaseSchedulerError):
            if what == "create":
                kind = chance.choice(kinds)
                start = now + chance.choice([0, 300, 900])
                duration = chance.choice([600, HOUR])
                times: dict[str, dict[str, object]] = {
                    "best-effort": {"duration": duration},
                    "deadline": {"start": None, "end": None, "duration": duration, "deadline": now + 6 * HOUR},
                    "immediate": {"start": None, "end": None, "duration": duration},
                    "reservation": {"start": start, "end": start + duration},
                }
                live.append(_begin(service, kind, chance.choice([1, 2]), **times[kind]))
            elif what == "change" and live:
                lease_id = chance.choice(live)
                view = service.view(lease_id)
                by = chance.choice([-120, 120, 1_200])
                key = "end" if view["kind"] in ("reservation", "immediate") else "duration"
                service.leases.update({}, lease_id, {key: view[key] + by})
            elif what == "jump":
                service.clock.jump(chance.choice([60, 300, 900]))
                service.engine.timer.wake()
            elif what == "end" and live:
                service.leases.delete({}, live.pop(chance.randrange(len(live))), "asked for")
        assert wait_until(lambda: _is_told(service), _LIMIT), what


def test_what_fails_is_told_again_with_its_latest_value(service: Service) -> None:
    lease_id = _begin(service, "best-effort", duration=HOUR)
    assert wait_until(service.is_in(lease_id, "active"), _LIMIT)
    lease = service.site.engine.lease(lease_id)
    assert lease is not None
    told: list[Mapping[str, int | None]] = []

    def tell(ends: Mapping[str, int | None]) -> None:
        told.append(ends)
        if len(told) == 1:
            raise ConnectionError("Nova is away")

    ends, runner = PromisedEnds(tell), SteppedRunner()
    runner.start([ends])
    ends.note(lease)
    runner.step(0.0)
    assert len(told) == 1
    runner.step(1.0)
    assert told == [{lease_id: promised_end(lease)}] * 2
    ends.note(lease)
    runner.step(2.0)
    assert len(told) == 2
