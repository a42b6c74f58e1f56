"""Assurance policies: what they promise, refuse and remember (Pucher 2016, chapters 4 and 5)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.model.grant import Grant
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import Assured, LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.assurance.base import AssurancePolicy, Promise, Shortfall, Wanted
from lease_scheduler.policy.assurance.booked import BookedDemand
from lease_scheduler.policy.assurance.both import Both
from lease_scheduler.policy.assurance.none import NoAssurance
from lease_scheduler.policy.assurance.planned import Planned
from lease_scheduler.policy.assurance.statistical import Statistical
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.outcomes import Outcome

_BEGIN = 20_000 * 86_400
_HOUR, _DAY = 3_600, 86_400
_SITE = Site.homogeneous(16, Resources({VCPU: 4}))


def _request(lease_id: str, nodes: int = 1, lifetime: int | None = None, **terms: Any) -> LeaseRequest:
    terms.setdefault("kind", LeaseKind.BEST_EFFORT)
    terms.setdefault("preemptible", True)
    assurance = terms.pop("assurance", 0.95)
    return LeaseRequest(
        lease_id,
        nodes=(NodeSet(nodes, Resources({VCPU: 4})),),
        submitted=_BEGIN,
        duration=30 * _DAY,
        min_lifetime=lifetime,
        assurance=None if lifetime is None else assurance,
        **terms,
    )


def _reservation(lease_id: str, nodes: int, state: LeaseState, now: int) -> Lease:
    request = _request(lease_id, nodes, kind=LeaseKind.RESERVATION, preemptible=False, start=now)
    active = now if state is LeaseState.ACTIVE else None
    return Lease(request, 0, state, started=now, active_since=active)


def _use(policy: AssurancePolicy, days: int, nodes: int = 4) -> int:
    """Reserve some hosts for six hours of each day, and return the instant at which the days are over."""
    policy.follow(_SITE)
    for day in range(days):
        for hour, state in ((9, LeaseState.ACTIVE), (15, LeaseState.DONE)):
            now = _BEGIN + day * _DAY + hour * _HOUR
            lease = _reservation(f"day {day}", nodes, state, now)
            policy.observe(Outcome.STARTED if hour == 9 else Outcome.DONE, lease, None, now)
    now = _BEGIN + days * _DAY
    policy.observe(Outcome.DONE, _reservation("last", 1, LeaseState.DONE, now), None, now)
    lease = _reservation("now", 1, LeaseState.ACTIVE, now)
    policy.observe(Outcome.STARTED, lease, None, now)
    return now


def _answer(policy: AssurancePolicy, now: int, lifetime: int, nodes: int = 1, **terms: Any) -> Promise | Shortfall:
    planned = terms.pop("planned", None)
    return policy.promise(Wanted(_request("asks", nodes, lifetime, **terms), 0, planned), now)


def _reason(found: Promise | Shortfall) -> str:
    assert isinstance(found, Shortfall)
    return found.reason


def test_none_promises_nothing() -> None:
    assert not NoAssurance(PolicyOptions()).promises
    assert "leave min_lifetime and assurance out" in _reason(_answer(NoAssurance(PolicyOptions()), 0, 60))


@pytest.mark.parametrize("policy", [Planned, Statistical, Both])
def test_none_promises_more_than_the_plan_or_the_operator_allows(policy: type[AssurancePolicy]) -> None:
    made = policy(PolicyOptions({"assurance_longest": "7200"}))
    assert "at most 2 h, not 3 h" in _reason(_answer(made, _BEGIN, 3 * _HOUR))
    assert "could run for 50 min; then" in _reason(_answer(made, _BEGIN, _HOUR, planned=3_000))


def test_a_new_site_says_that_it_knows_too_little() -> None:
    policy = Statistical(PolicyOptions())
    now = _use(policy, 10)
    reason = _reason(_answer(policy, now, 6 * _HOUR))
    assert "promising 6 h with probability 0.95 takes 59 observations, and this site has" in reason
    assert _answer(Both(PolicyOptions()), _BEGIN, 6 * _HOUR) == Promise(Assured.PLANNED)


def test_lifetimes_reached_in_the_past_are_promised_by_time_of_day() -> None:
    policy = Statistical(PolicyOptions())
    now = _use(policy, 40)
    found = _answer(policy, now, 6 * _HOUR)
    assert isinstance(found, Promise)
    assert found.basis is Assured.STATISTICAL
    assert found.observations > 150
    assert "at most" in _reason(_answer(policy, now, 6 * _HOUR, nodes=13)), "four more hosts do not fit"
    both = Both(PolicyOptions())
    _use(both, 40)
    assert _answer(both, now, 6 * _HOUR) == found


def test_a_refusal_says_what_could_be_promised() -> None:
    """At midnight the spare capacity is free until nine."""
    policy = Statistical(PolicyOptions())
    now = _use(policy, 80, nodes=12)
    reason = _reason(_answer(policy, now, 20 * _HOUR, nodes=6, assurance=0.6))
    assert reason.startswith("20 h can be promised with a probability of at most 0.00 at present; with 0.6, ")
    hours = int(reason.rpartition("with 0.6, ")[2].split(" h")[0])
    assert 1 <= hours <= 9
    assert isinstance(_answer(policy, now, hours * _HOUR, nodes=6, assurance=0.6), Promise)
    assert "no lifetime can be promised" in _reason(_answer(policy, now, _HOUR, nodes=16))


def test_promises_reduce_the_spare_capacity_of_later_ones() -> None:
    policy = Statistical(PolicyOptions())
    now = _use(policy, 60)
    assert isinstance(_answer(policy, now, 6 * _HOUR, nodes=6), Promise)
    promised = Grant(assured=Assured.STATISTICAL)
    older = Lease(_request("older", 8, 6 * _HOUR), 1, LeaseState.ACTIVE, started=now, active_since=now, grant=promised)
    policy.observe(Outcome.STARTED, older, None, now)
    assert isinstance(_answer(policy, now, 6 * _HOUR, nodes=6), Shortfall)
    assert isinstance(_answer(policy, now + 7 * _HOUR, 2 * _HOUR, nodes=6), Promise), "its lifetime is over"


def test_bookings_reduce_the_spare_capacity_from_their_start_on() -> None:
    """On any hosts. The history is one of four hosts, and twelve are booked for a part of the lifetime."""
    policy = Statistical(PolicyOptions())
    now = _use(policy, 60)
    booked = replace(_reservation("booked", 12, LeaseState.READY, now), started=None)
    begin = now + 2 * _HOUR
    held = Holding(tuple(range(12)), begin, begin, begin + 3 * _HOUR, begin + 3 * _HOUR)
    assert isinstance(_answer(policy, now, 6 * _HOUR), Promise)
    policy.observe(Outcome.PLACED, replace(booked, holdings=(held,)), None, now)
    assert isinstance(_answer(policy, now, _HOUR), Promise), "it is over before"
    assert "at most" in _reason(_answer(policy, now, 6 * _HOUR))
    again = Statistical(PolicyOptions())
    again.follow(_SITE)
    again.restore({key: value for key, value in policy.take_changes().items() if value is not None})
    again.take_over([_reservation("now", 1, LeaseState.ACTIVE, now), replace(booked, holdings=(held,))], now)
    assert "at most" in _reason(_answer(again, now, 6 * _HOUR)), "an engine that takes over knows it too"
    policy.observe(Outcome.CANCELLED, replace(booked, state=LeaseState.CANCELLED), None, now)
    assert isinstance(_answer(policy, now, 6 * _HOUR), Promise)


def test_a_booking_that_follows_a_lease_on_its_hosts_adds_no_demand() -> None:
    policy = Statistical(PolicyOptions())
    now = _use(policy, 60)
    whole = replace(_reservation("whole", 13, LeaseState.ACTIVE, now), started=now)
    middle = now + 2 * _HOUR
    first = Holding(tuple(range(13)), now, now, middle, middle)
    second = Holding(tuple(range(13)), middle, middle, middle + _DAY, middle + _DAY)
    booked = BookedDemand()
    booked.put(replace(whole, holdings=(first,)), 13 / 16)
    booked.put(replace(_reservation("next", 13, LeaseState.READY, now), holdings=(second,)), 13 / 16)
    assert booked.peak(13 / 16, now, now + _DAY) == (13 / 16, now)
    booked.remove("whole")
    assert booked.peak(0.0, now, now + _DAY) == (13 / 16, middle)
    assert booked.peak(0.0, now, middle) == (0.0, now), "the end does not count"


def _break(policy: Statistical, number: int, now: int) -> None:
    request, promised = _request(f"broken {number}", 1, 6 * _HOUR), Grant(assured=Assured.STATISTICAL)
    lease = Lease(request, number, LeaseState.ACTIVE, started=now, active_since=now, grant=promised)
    policy.observe(Outcome.STARTED, lease, None, now)
    lost = replace(lease, grant=Grant(assured=Assured.BROKEN), active_since=None)
    policy.observe(Outcome.BROKEN, lost, lease, now + 60)


def test_too_many_broken_promises_end_them_until_they_are_old() -> None:
    """Reservations that follow promises do not show in the history of the demand, but in what became of promises."""
    policy = Statistical(PolicyOptions())
    now = _use(policy, 60)
    _break(policy, 1, now)
    assert isinstance(_answer(policy, now, 6 * _HOUR), Promise), "one of one may be chance at 95 %"
    _break(policy, 2, now)
    assert "of the last 2 promises of this site 2 were broken" in _reason(_answer(policy, now, 6 * _HOUR))
    assert isinstance(_answer(policy, now, 6 * _HOUR, assurance=0.5), Promise), "which is no more than 0.5 allows"
    later = now + 91 * _DAY
    policy.observe(Outcome.DONE, _reservation("now", 1, LeaseState.DONE, later), None, later)
    assert isinstance(_answer(policy, later, 6 * _HOUR), Promise)


def test_learnt_demand_survives_a_restart() -> None:
    policy = Statistical(PolicyOptions())
    now = _use(policy, 40)
    _break(policy, 1, now)
    stored = json.loads(json.dumps(dict(policy.take_changes())))
    assert all(len(subject) <= 64 for subject in stored)
    assert policy.take_changes() == {}
    again = Statistical(PolicyOptions())
    again.restore(stored)
    again.follow(_SITE)
    again.take_over([_reservation("now", 1, LeaseState.ACTIVE, now)], now)
    for lifetime in (_HOUR, 6 * _HOUR, 20 * _HOUR):
        assert _answer(again, now, lifetime) == _answer(policy, now, lifetime)
    _break(policy, 2, now)
    _break(again, 2, now)
    assert _answer(again, now, _HOUR) == _answer(policy, now, _HOUR)


@pytest.mark.parametrize("hosts", [3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 50])
def test_a_promise_does_not_depend_on_how_the_number_of_hosts_divides(hosts: int) -> None:
    """One host is left, and nothing has changed for 80 days: as many lifetimes fit into them as are needed."""
    policy, now = Statistical(PolicyOptions()), _BEGIN + 80 * _DAY
    policy.follow(Site.homogeneous(hosts, Resources({VCPU: 4})))
    policy.take_over([_reservation(f"x{each}", 1, LeaseState.ACTIVE, _BEGIN) for each in range(hosts - 1)], _BEGIN)
    assert isinstance(_answer(policy, now, 32 * _HOUR), Promise)
    assert _reason(_answer(policy, now, 34 * _HOUR)).endswith("with 0.95, 1 d 8 h can be promised")
    assert _reason(_answer(policy, now, 32 * _HOUR, nodes=2)).endswith("no lifetime can be promised")


def test_quiet_days_survive_a_restart() -> None:
    """They are stored though nothing happens. An engine that was away for longer than a day knows nothing of then."""
    policy = Statistical(PolicyOptions())
    stored: dict[str, Any] = {}
    policy.follow(_SITE)
    for step in range(80 * 24 * 12):
        policy.pass_to(_BEGIN + step * 300)
        stored |= policy.take_changes()
    now = _BEGIN + 80 * _DAY
    for away, observations in ((0, 79), (20 * _HOUR, 80), (30 * _DAY, 58)):
        again = Statistical(PolicyOptions())
        again.restore(json.loads(json.dumps(stored)))
        again.follow(_SITE)
        again.take_over([], now + away)
        found = _answer(again, now + away, _DAY, assurance=0.9)
        assert isinstance(found, Promise)
        assert found.observations == observations


@pytest.mark.parametrize(
    "learnt",
    [
        {},
        {"day 20000": {"starts": [1, "2"], "mosts": [1, 2]}, "load": {"share": 1}, "promises": {"over": 5}},
        {"day 20000": "text", "load": 7, "promises": "text", "day x": {}, "version 0": {}},
    ],
)
def test_a_lost_or_damaged_history_counts_as_that_of_a_new_site(learnt: dict[str, Any]) -> None:
    policy = Statistical(PolicyOptions())
    _use(policy, 40)
    policy.restore(learnt)
    policy.take_over([], _BEGIN + 41 * _DAY)
    assert "this site has" in _reason(_answer(policy, _BEGIN + 41 * _DAY, 6 * _HOUR))


def test_stored_entries_are_bounded_whatever_projects_do() -> None:
    policy = Statistical(PolicyOptions())
    policy.follow(_SITE)
    kept: dict[str, Any] = {}
    for number in range(3_000):
        now = _BEGIN + number * 5_000
        for state in (LeaseState.ACTIVE, LeaseState.DONE):
            lease = _reservation(f"x{number}", 1 + number % 16, state, now)
            policy.observe(Outcome.STARTED if state is LeaseState.ACTIVE else Outcome.DONE, lease, None, now)
        _break(policy, number, now)
        kept |= policy.take_changes()
        kept = {subject: value for subject, value in kept.items() if value is not None}
    assert len(kept) <= 93
    assert max(len(json.dumps(value)) for value in kept.values()) < 20_000


def test_a_very_low_probability_is_refused() -> None:
    """It would be given always, and the lease would be preempted after those without."""
    policy = Statistical(PolicyOptions())
    now = _use(policy, 60)
    assert isinstance(_answer(policy, now, _HOUR, assurance=0.5), Promise)
    assert (
        _reason(_answer(policy, now, _HOUR, assurance=0.01))
        == "this site promises probabilities of at least 0.5, not 0.01"
    )
