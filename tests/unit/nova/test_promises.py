"""Promised lifetimes of servers without a lease: the engine writes them into the metadata of the pool (growth 5)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.nova.aggregates import (
    HeldBy,
    HostLeases,
    Promises,
    Reader,
    promise_metadata,
    read_host,
    read_promises,
)
from lease_scheduler.nova.rules import Boot, Lifetime, Rules, refusal

NOW = 1_800_000_000
HOUR = 3_600
PROMISED = HostLeases(in_pool=True, promises=Promises(NOW + 900, 0.95, ((0.95, 6 * HOUR), (0.8, 24 * HOUR))))


def _boot(seconds: int, assurance: float | None = None, mistake: str | None = None) -> Boot:
    return Boot("physics", preemptible=True, lifetime=Lifetime(seconds, assurance, mistake))


@dataclass
class Aggregate:
    name: str
    metadata: dict[str, str] = field(default_factory=dict)
    availability_zone: str | None = None


_NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789.-", min_size=1, max_size=60)


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from([0.95, 0.8, 0.5]), st.dictionaries(_NAMES, st.integers(1, 3), max_size=30)))
def test_written_promises_are_read_back(lifetimes: dict[float, dict[str, int]]) -> None:
    """Nova accepts values of at most 255 characters."""
    metadata = promise_metadata(lifetimes, NOW)
    assert all(len(value) <= 255 for value in metadata.values())
    found = read_promises({**metadata, "lease:pool": "true"})
    assert found.keys() == {host for of_hosts in lifetimes.values() for host in of_hosts}
    for host, promises in found.items():
        assert (promises.until, promises.default) == (NOW, next(iter(lifetimes)))
        assert dict(promises.lifetimes) == {each: of[host] for each, of in lifetimes.items() if host in of}


def test_metadata_that_cannot_be_read_promises_nothing() -> None:
    written = {"lease:assured_until": str(NOW), "lease:assured:1": "often 60 one", "lease:assured:2": "0.9 long one"}
    assert read_promises({**written, "lease:assured:3": "", "lease:assured:4": "1.5 60 one"}) == {}
    assert read_promises({**written, "lease:assured_default": "x", "lease:assured:3": "0.9 60 one"}) == {
        "one": Promises(NOW, None, ((0.9, 60),))
    }
    assert read_promises({"lease:assured:0": "0.9 60 one"}) == {}


def test_promises_are_read_only_on_request() -> None:
    pool = Aggregate("freepool", promise_metadata({0.9: {"one": HOUR}}, NOW))
    assert Reader("freepool").read([pool], "one") == HostLeases(in_pool=True)
    found = read_host([pool], "freepool", "one", reads_promises=True)
    assert found == HostLeases(in_pool=True, promises=Promises(NOW, 0.9, ((0.9, HOUR),)))
    reader = Reader("freepool", reads_promises=True)
    assert reader.read([pool], "two").promises == Promises()
    # A host that was taken out of the pool.
    assert reader.read([], "one").promises == Promises()


@pytest.mark.parametrize(
    ("boot", "reason"),
    [
        (_boot(6 * HOUR), None),
        (_boot(6 * HOUR, 0.95), None),
        (_boot(6 * HOUR, 0.9), None),
        (_boot(24 * HOUR, 0.8), None),
        (_boot(6 * HOUR + 1), "6 h is promised there with 0.95, not 6 h"),
        (_boot(24 * HOUR, 0.9), "6 h is promised there with 0.9, not 1 d"),
        (_boot(HOUR, 0.99), "0 s is promised there with 0.99, not 1 h"),
        (_boot(0, None, "lease:min_lifetime must be a duration"), "its flavor is wrong: lease:min_lifetime must be a"),
    ],
)
def test_a_host_must_promise_the_lifetime(boot: Boot, reason: str | None) -> None:
    found = refusal(boot, PROMISED, NOW, Rules())
    assert found is None if reason is None else str(found).startswith(reason)


def test_missing_or_outdated_metadata_promises_nothing() -> None:
    nothing = "no lifetime is promised there"
    assert refusal(_boot(HOUR), PROMISED, NOW + 899, Rules()) is None
    assert refusal(_boot(HOUR), PROMISED, NOW + 900, Rules()) == nothing
    assert refusal(_boot(HOUR), HostLeases(in_pool=True), NOW, Rules()) == nothing
    assert refusal(_boot(HOUR), HostLeases(), NOW, Rules()) == nothing
    unknown = replace(PROMISED, promises=replace(PROMISED.promises, default=None))
    assert "name one in lease:assurance" in str(refusal(_boot(HOUR), unknown, NOW, Rules()))
    assert refusal(_boot(HOUR, 0.9), unknown, NOW, Rules()) is None


def test_a_lease_planned_after_the_promise_counts() -> None:
    soon = replace(PROMISED, coming=NOW + HOUR)
    assert refusal(_boot(HOUR), soon, NOW, Rules()) is None
    assert refusal(_boot(HOUR + 1), soon, NOW, Rules()) == "a lease starts there in 1 h"
    lease = HeldBy(frozenset({"L1"}), "physics", exclusive=False, vacated_from=NOW + 60, start=NOW + 120)
    assert refusal(_boot(HOUR), replace(PROMISED, held_by=(lease,)), NOW, Rules()) == "a lease starts there in 1 min"
    here = replace(lease, vacated_from=NOW - 60, start=NOW - 60)
    assert refusal(_boot(HOUR), replace(PROMISED, held_by=(here,)), NOW, Rules()) is None


def test_servers_of_leases_and_those_that_ask_for_nothing_are_not_affected() -> None:
    lease = HeldBy(frozenset({"L1"}), "physics", exclusive=True)
    in_lease = replace(_boot(HOUR), hints=("L1",))
    assert refusal(in_lease, HostLeases((lease,), in_pool=True), NOW, Rules()) is None
    assert refusal(Boot("physics", preemptible=True), HostLeases(in_pool=True), NOW, Rules()) is None


def test_the_other_rules_hold_too() -> None:
    reason = refusal(_boot(HOUR), PROMISED, NOW, Rules(allow_preemptibles=False))
    assert reason == "preemptible servers may not use hosts of the pool"
