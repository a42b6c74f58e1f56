"""Leases of several nodes beside a queue of small ones that never ends: they get their share, and all nodes at once.

Grit 2007, sections 5.5.1 and 5.5.2 (shirako F98, F100, A26, A27).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.functional.lab.service import LIMIT, Document, Service, running_service
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.lab import Lab

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: Two of these fill the memory of a host of the lab.
_HALF = {"VCPU": 8, "MEMORY_MB": 7_800, "DISK_GB": 2}
_PLACES = 2 * len(LAB_HOSTS)

#: Nodes of a wide lease: two of them do not fit beside each other.
_WIDE = _PLACES // 2 + 1

#: Seconds of a window. Each of the two projects has half of it, which is enough for one wide lease and not for two.
_WINDOW, _DURATION = 60, 30


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    settings: dict[str, dict[str, object]] = {
        "scheduling": {"policy_queueing": "winks", "backfilling": "conservative"},
        "policy": {"winks_window": _WINDOW},
    }
    with running_service(lab, settings=settings) as started:
        yield started


def _lease(service: Service, user: str, nodes: int) -> Document:
    return service.lease(
        getattr(service, user),
        kind="best-effort",
        duration=_DURATION,
        nodes=[{"count": nodes, "resources": _HALF}],
        servers=[{**service.template(), "count": nodes}],
    )


def test_wide_leases_get_all_their_hosts_and_narrow_ones_go_on(service: Service) -> None:
    share, cost = _WINDOW * _PLACES / 2, _WIDE * _DURATION
    assert share >= cost > share / 2
    narrow = [_lease(service, "ada", 1) for _ in range(3 * _PLACES)]
    begun = time.time()
    wide = [_lease(service, "bob", _WIDE) for _ in range(3)]
    narrow += [_lease(service, "ada", 1) for _ in range(4 * _PLACES)]
    most: dict[str, int] = {}

    def all_are_over() -> bool:
        states = {str(lease["id"]): service.state(lease) for lease in wide}
        active = [lease_id for lease_id, state in states.items() if state == "active"]
        assert len(active) <= 1, "two of them do not fit"
        for lease_id in active:
            most[lease_id] = max(most.get(lease_id, 0), _running(service))
        return set(states.values()) == {"done"}

    try:
        assert wait_until(all_are_over, 4 * LIMIT), service.said()
        # All servers of each ran together, each on a host, and each lease began once.
        assert most == {str(lease["id"]): _WIDE for lease in wide}
        for lease in wide:
            assert [entry["to"] for entry in service.history(lease)].count("active") == 1
        # None began before its project had a share for it: that of the windows so far.
        starts = sorted(service.became(lease, "active") for lease in wide)
        for number, start in enumerate(starts, 1):
            assert number * cost <= share * (int(start) // _WINDOW - int(begun) // _WINDOW + 1), starts
        # Narrow leases had a queue all the time, and some of them began in each of these windows.
        later = [lease for lease in narrow if service.state(lease) in ("active", "done")]
        served = Counter(int(service.became(lease, "active")) // _WINDOW for lease in later)
        assert max(service.became(lease, "active") for lease in later) > starts[-1]
        assert all(served[window] for window in range(int(begun) // _WINDOW + 1, int(starts[-1]) // _WINDOW)), served
    finally:
        for lease in reversed([*narrow, *wide]):
            service.is_cancelled(lease)
    service.nothing_left()


def _running(service: Service) -> int:
    """Return how many servers of the project with wide leases run on a host."""
    servers = service.servers(service.bob)
    return sum(each["status"] == "ACTIVE" and bool(each["OS-EXT-SRV-ATTR:host"]) for each in servers)
