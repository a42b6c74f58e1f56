"""The policy winks: what it charges which flow, and that a restarted one goes on as the one before."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import (
    FLOATING_IP,
    HOST_SHARE,
    MEMORY_MB,
    VCPU,
    WHOLE_HOST,
    Resources,
)
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.interfaces import QueueRound
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.queueing.winks.budget import Budget
from lease_scheduler.policy.queueing.winks.costs import HOST_UNITS, SiteSize
from lease_scheduler.policy.queueing.winks.naming import FlowNames
from lease_scheduler.policy.queueing.winks.policy import Winks

from ..conftest import Book

MakeBook = Callable[[object], Book]


def _winks(**options: str) -> Winks:
    return Winks(PolicyOptions({f"winks_{name}": value for name, value in options.items()}))


def _behind(book: Book, name: str, now: int = 0) -> float:
    assert isinstance(book.policy, Winks)
    return {report.name: report.behind for report in book.policy.flows(now)}[name]


def _restarted(book: Book, kept: dict[str, Learnt], policy: Winks, now: int) -> Book:
    """Return the book with another policy that goes on with what was stored."""
    for subject, learnt in book.policy.take_changes().items():
        if learnt is None:
            kept.pop(subject, None)
        else:
            kept[subject] = json.loads(json.dumps(learnt))
    policy.restore(kept)
    policy.follow(book.site, book.weights)
    policy.take_over(list(book.leases.values()), now)
    book.policy = policy
    return book


def test_flows_take_turns_by_weight(make_book: MakeBook) -> None:
    book = make_book(_winks())
    book.weights = {"a": 2.0, "b": 1.0}
    for user in "aaaabb":
        book.queue(user)

    assert book.turns(0) == ["1", "5", "2", "3", "6", "4"]
    assert book.turns(0) == ["1", "5", "2", "3", "6", "4"], "a round charges nothing by itself"


def test_a_lease_pays_for_what_it_has_run(make_book: MakeBook) -> None:
    """shirako A29, A30: credit for an early end, a charge for more than was expected."""
    book = make_book(Winks(PolicyOptions({"duration_endless": "50"})))
    first = book.start(book.place(book.queue("a"), 0), 0)
    book.queue("a"), book.queue("b")
    assert _behind(book, "b") == 100

    book.finish(first, 40, ran=40)
    assert _behind(book, "b", 40) == 40

    endless = book.start(book.place(book.queue("a", duration=UNLIMITED), 40), 40)
    assert _behind(book, "b", 40) == 90
    book.finish(endless, 240, ran=200)
    assert _behind(book, "b", 240) == 240


def test_a_preempted_lease_goes_on_first_and_is_not_charged_again(make_book: MakeBook) -> None:
    """shirako A28: the look-aside queue."""
    book = make_book(_winks())
    running = book.start(book.place(book.queue("a"), 0), 0)
    book.queue("b"), book.queue("a")
    suspended = replace(
        running, state=LeaseState.SUSPENDED_QUEUED, holdings=(), active_since=None, accumulated=30, saved_on=(0,)
    )
    book.set(suspended, 30)

    assert book.turns(30) == ["1", "2", "3"]
    book.place(suspended, 30, state=LeaseState.SUSPENDED_SCHEDULED)
    assert _behind(book, "b") == 100


def test_preempted_leases_go_on_in_the_order_in_which_they_were_served(make_book: MakeBook) -> None:
    """shirako A30: by their start tags, not in the order in which they were submitted or came back."""
    book = make_book(_winks())
    queued = [book.queue(user) for user in "aab"]
    running = [book.start(book.place(lease, 0), 0) for lease in queued]
    for lease in (running[1], running[2], running[0]):
        book.set(replace(lease, state=LeaseState.SUSPENDED_QUEUED, holdings=(), active_since=None, accumulated=20), 20)
    book.queue("b", 20)
    assert book.turns(30) == ["1", "3", "2", "4"]


def test_a_lease_that_loses_its_place_is_queued_with_its_old_tags(make_book: MakeBook) -> None:
    """shirako A31."""
    for accounting in ("schedule", "dispatch"):
        book = make_book(_winks(window="1000", accounting=accounting))
        wide, narrow = book.queue("a", nodes=2), book.queue("a")
        other = book.queue("b")
        placed = book.place(wide, 0, start=50)
        assert _behind(book, "b") == (200 if accounting == "schedule" else 0)

        book.set(replace(placed, state=LeaseState.QUEUED, holdings=()), 10)

        assert _behind(book, "b") == 0
        assert book.turns(10) == [wide.lease_id, other.lease_id, narrow.lease_id]
        book.start(book.place(book.leases[wide.lease_id], 20), 20)
        assert _behind(book, "b") == 200


def test_accounting_at_dispatch_charges_when_the_lease_starts(make_book: MakeBook) -> None:
    """shirako P12."""
    book = make_book(_winks(window="1000", accounting="dispatch"))
    book.queue("b")
    placed = book.place(book.queue("a", nodes=2), 0, start=50)
    assert _behind(book, "b") == 0
    assert _behind(_restarted(book, {}, _winks(window="1000", accounting="dispatch"), 10), "b") == 0

    started = book.start(placed, 50)
    book.queue("a", now=50)
    assert _behind(book, "b") == 200
    book.finish(started, 150, ran=100)
    assert _behind(book, "b") == 200


def test_reservations_are_charged_when_they_get_their_hosts(make_book: MakeBook) -> None:
    """shirako A32: the best-effort leases of their project wait longer; what is given up is refunded."""
    book = make_book(_winks(window="60"))
    nodes = (NodeSet(2, Resources({VCPU: 100})),)
    request = LeaseRequest("r", LeaseKind.RESERVATION, nodes, 0, 50, start=500, user="a")
    book.queue("a"), book.queue("b")

    reservation = book.place(Lease(request, 99, LeaseState.PENDING), 0, start=500)
    assert _behind(book, "b") == 100
    longer = replace(reservation, request=replace(request, duration=80))
    moved = book.place(longer, 0, start=500)
    assert _behind(book, "b") == 160
    book.place(replace(moved, request=request), 0, start=500)
    assert _behind(book, "b") == 100
    book.finish(book.leases["r"], 10, ran=0, state=LeaseState.CANCELLED)
    assert _behind(book, "b") == 0


def test_an_early_end_gives_the_rest_of_the_window_back(make_book: MakeBook) -> None:
    """shirako A27, A30: of 200 host-seconds of a window, 80 are used, so that one lease of 100 fits, and not two."""
    book = make_book(_winks(window="100", limit_when_idle="strict"))
    book.queue("b")
    first = book.start(book.place(book.queue("a", nodes=2), 0), 0)
    later = [book.queue("a", nodes=2, duration=50).lease_id for _ in range(2)]
    assert not set(later) & set(book.accepted(0))

    book.finish(first, 40, ran=40)

    assert [each for each in book.accepted(40) if each in later] == later[:1]


@pytest.mark.parametrize("state", [LeaseState.DONE, LeaseState.CANCELLED])
def test_a_flow_pays_for_a_part_of_what_it_asked_for_and_did_not_use(make_book: MakeBook, state: LeaseState) -> None:
    """shirako F107: 2 nodes run for 40 s of 100 s, so 120 host-seconds are not used, and a quarter of them is paid."""
    for penalty, paid in (("0", 80), ("0.25", 110), ("1", 200)):
        book = make_book(_winks(overestimate_penalty=penalty))
        book.queue("b")
        started = book.start(book.place(book.queue("a", nodes=2), 0), 0)
        book.queue("a")
        book.finish(started, 40, ran=40, state=state)
        assert _behind(book, "b", 40) == paid


def test_who_shortens_a_running_lease_before_its_end_pays_as_much(make_book: MakeBook) -> None:
    """shirako F107: otherwise nobody would pay."""
    book = make_book(_winks(overestimate_penalty="0.25"))
    book.queue("b")
    started = book.start(book.place(book.queue("a", nodes=2), 0), 0)
    book.queue("a")
    shorter = book.place(replace(started, request=replace(started.request, duration=40)), 30, start=0)
    book.finish(shorter, 40, ran=40)
    assert _behind(book, "b", 40) == 110


def test_what_never_ran_failed_or_has_no_end_is_no_overestimate(make_book: MakeBook) -> None:
    for state, runs, duration in (
        (LeaseState.CANCELLED, False, 100),
        (LeaseState.FAILED, True, 100),
        (LeaseState.DONE, True, UNLIMITED),
    ):
        book = make_book(_winks(overestimate_penalty="1"))
        book.queue("b")
        placed = book.place(book.queue("a", nodes=2, duration=duration), 0)
        ended = book.start(placed, 0) if runs else placed
        book.queue("a")
        ran = 40 if runs else 0
        book.finish(ended, 40, ran=ran, state=state)
        assert _behind(book, "b", 40) == 2 * ran


def test_a_window_limits_what_a_wide_lease_may_use(make_book: MakeBook) -> None:
    """shirako A27 and P19c: without debt, 2 nodes of 4 for 100 s are too much of half of 60 s."""
    for debt, when_idle, expected in (("no", "strict", "12"), ("yes", "strict", "132"), ("no", "spare", "123")):
        book = make_book(_winks(window="60", debt=debt, limit_when_idle=when_idle))
        book.queue("a", duration=10), book.queue("b", duration=20), book.queue("a", nodes=2)
        assert sorted(book.turns(0)) == sorted(expected)


def test_hosts_that_would_stay_idle_may_be_used_beyond_a_share(make_book: MakeBook) -> None:
    """shirako P19d: at once and not ahead, after all others, the lowest clock first."""
    book = make_book(_winks(window="100", debt="no"))
    book.place(book.queue("a", nodes=4, duration=50), 0)
    book.queue("a", nodes=2, duration=60), book.queue("b", nodes=2, duration=110), book.queue("b", duration=10)
    queue = QueueRound(10, list, {number: book.leases[number] for number in "234"}, book.leases)

    found = [
        (turn.lease.lease_id, turn.latest_start, turn.allows(Holding((0, 1), 50, 50, 110, 110)))
        for turn in book.policy.turns(queue)
    ]

    assert found == [("4", 10, True), ("2", 110, False), ("3", 10, True), ("2", 10, True)]


def test_without_debt_a_lease_that_exceeds_a_whole_window_is_refused(make_book: MakeBook) -> None:
    """shirako P19c: 3 nodes of 4 may have 80 s of a window of 60 s, whatever others do."""
    book = make_book(_winks(window="60", debt="no"))
    fits, narrow = book.queue("a", nodes=3, duration=80), book.queue("a", duration=1_000)
    book.policy.follow(book.site, {})

    refusal = book.policy.refusal(replace(fits.request, duration=81))
    assert refusal is not None
    assert refusal.startswith("duration: 3 nodes for 1 min 21 s would never start")
    assert "is 1 min 20 s" in refusal
    assert book.policy.refusal(fits.request) is None
    assert book.policy.refusal(narrow.request) is None
    assert make_book(_winks(window="60")).policy.refusal(replace(fits.request, duration=81)) is None


def test_strict_shares_refuse_what_costs_more_than_that_of_the_project(make_book: MakeBook) -> None:
    """shirako A27, P19c: w D phi is known when a lease is asked for."""
    book = make_book(_winks(window="60", debt="no", limit_when_idle="strict"))
    fits = book.queue("a", nodes=3, duration=20)
    book.policy.follow(book.site, {"a": 1.0, "b": 3.0})

    refusal = book.policy.refusal(replace(fits.request, duration=21))
    assert refusal is not None
    assert (
        "the share of its project, 25.0% of the site, for 1 min; the longest duration of these nodes is 20 s" in refusal
    )
    assert book.policy.refusal(fits.request) is None
    assert book.policy.refusal(replace(fits.request, user="b", duration=60)) is None
    assert book.policy.refusal(replace(fits.request, user="b", duration=61)) is not None


def test_longer_terms_are_charged_to_the_windows_too(make_book: MakeBook) -> None:
    """What is refunded in the end is no more than what was charged."""
    book = make_book(_winks(window="100"))
    book.queue("b")
    lease = book.place(book.queue("a", nodes=2, duration=50), 0)
    assert isinstance(book.policy, Winks)
    windows = book.policy._shares.flows["a"].windows
    before = dict(windows.used)
    longer = book.place(replace(lease, request=replace(lease.request, duration=500)), 0)
    assert (windows.used[0], windows.owing[0]) == (10 * before[0], 10 * before[0])
    book.place(replace(longer, request=lease.request), 0)
    assert windows.used == before
    book.finish(book.leases[lease.lease_id], 30, ran=0, state=LeaseState.CANCELLED)
    assert windows.is_clear


def test_reports_tell_what_the_share_of_a_window_blocks(make_book: MakeBook) -> None:
    """A lease that the present share never admits has no expected start; those behind it go before it."""
    book = make_book(_winks(window="3600", debt="no"))
    book.queue("a", duration=3_600, nodes=3), book.queue("a", duration=3_600), book.queue("b", duration=10)
    assert isinstance(book.policy, Winks)

    (first, _) = book.policy.flows(0)

    assert list(first.blocked) == ["1"]
    assert first.blocked["1"] == (
        "it needs 3 host-hours, and the share of its project in a window is 2: it starts when it fits on hosts that no "
        "other lease can use, when fewer projects share the site, when its project has a larger weight, or with fewer "
        "nodes or a shorter duration"
    )
    assert first.expected == {"2": 0}
    book.weights = {"a": 3.0}
    book.policy.follow(book.site, book.weights)
    assert book.policy.flows(0)[0].blocked == {}


def test_a_restarted_policy_goes_on_as_the_one_before(make_book: MakeBook) -> None:
    """Clocks, gaps, charges and windows are the same after every step, whichever engine takes it."""
    kept: dict[str, Learnt] = {}
    plain, restarted = make_book(_winks(window="300")), make_book(_winks(window="300"))
    orders = []
    for book in (plain, restarted):

        def again(book: Book = book, now: int = 0) -> None:
            if book is restarted:
                _restarted(book, kept, _winks(window="300"), now)

        asked = (("a", 1), ("b", 2), ("a", 3), ("c", 1), ("a", 1))
        leases = [book.queue(name, nodes=nodes) for name, nodes in asked]
        again()
        running = book.start(book.place(leases[3], 0), 0)
        later = book.place(leases[1], 0, start=40)
        again(now=5)
        book.start(book.place(leases[4], 5), 5)
        book.finish(running, 20, ran=20)
        book.queue("c", now=30)
        again(now=30)
        book.set(replace(later, state=LeaseState.QUEUED, holdings=()), 35)
        again(now=35)
        book.finish(leases[0], 40, ran=0, state=LeaseState.CANCELLED)
        again(now=40)
        assert isinstance(book.policy, Winks)
        orders.append((book.turns(50), book.policy.flows(50)))

    assert orders[0] == orders[1]
    assert len(orders[0][0]) == 3


def test_leases_that_ended_unobserved_are_settled(make_book: MakeBook) -> None:
    book = make_book(_winks())
    lease = book.place(book.queue("a"), 0)
    book.queue("b")
    kept: dict[str, Learnt] = {}
    del book.leases[lease.lease_id]
    _restarted(book, kept, _winks(), 10)

    assert book.policy.take_changes()[f"lease:{lease.lease_id}"] is None
    assert _behind(book, "b") == 0


def test_leases_of_another_policy_cost_nothing(make_book: MakeBook) -> None:
    """A site that switches to winks with a full queue: shares start even, and nothing is credited later."""
    book = make_book(_winks())
    running = book.start(book.place(book.queue("a"), 0), 0)
    for user in "abab":
        book.queue(user)
    book.policy = _winks()
    book.policy.follow(book.site, book.weights)
    book.policy.take_over(list(book.leases.values()), 10)

    assert book.turns(10) == ["2", "3", "4", "5"]
    book.finish(running, 20, ran=20)
    assert _behind(book, "b") == _behind(book, "a") == 0


def test_a_clock_that_jumps_only_ends_windows(make_book: MakeBook) -> None:
    book = make_book(_winks(window="60"))
    book.queue("a"), book.queue("b")
    book.start(book.place(book.queue("a", nodes=2), 0), 0)
    before = _behind(book, "b")

    book.queue("c", now=10**9)
    assert _behind(book, "b", 10**9) == before
    assert isinstance(book.policy, Winks)
    expected = {key: at for report in book.policy.flows(10**9) for key, at in report.expected.items()}
    assert all(10**9 <= at < 10**9 + 1_000 for at in expected.values())


_DAY = 86_400


def _kept(book: Book, kept: dict[str, Learnt]) -> set[str]:
    """Return the names of the flows that are stored, once everything is written."""
    assert isinstance(book.policy, Winks)
    for subject, learnt in book.policy.take_changes().items():
        if learnt is None:
            kept.pop(subject, None)
        else:
            kept[subject] = json.loads(json.dumps(learnt))
    return {subject.removeprefix("flow:") for subject in kept if subject.startswith("flow:")}


def _run_one(book: Book, user: str, now: int, ran: int = 100) -> None:
    book.finish(book.start(book.place(book.queue(user, now), now), now), now + ran, ran=ran)


def test_a_flow_without_leases_is_forgotten_after_a_day(make_book: MakeBook) -> None:
    book, kept = make_book(_winks()), dict[str, Learnt]()
    _run_one(book, "gone", 0)
    stays = book.start(book.place(book.queue("stays", 0), 0), 0)
    _run_one(book, "other", _DAY - 200)
    assert _kept(book, kept) == {"gone", "stays", "other"}

    # Virtual time passes the clock of the first one now: until then it has used more than the others.
    _run_one(book, "other", 2 * _DAY)
    _run_one(book, "other", 2 * _DAY + 200)
    book.finish(stays, 2 * _DAY + 3_600, ran=100)
    assert _kept(book, kept) == {"stays", "other"}

    _run_one(book, "new", 4 * _DAY)
    assert _kept(book, kept) == {"new"}
    assert [report.name for report in book.policy.flows(4 * _DAY)] == ["new"]


def test_a_flow_in_debt_is_not_forgotten(make_book: MakeBook) -> None:
    """What a project has used beyond its share counts, however long ago that was."""
    book, kept = make_book(_winks()), dict[str, Learnt]()
    served = book.start(book.place(book.queue("waits", 0, duration=20 * _DAY), 0), 0)
    for number in range(3):
        _run_one(book, "greedy", number)
    book.queue("waits", 10)
    for day in (2, 4, 6):
        book.finish(book.queue("waits", day * _DAY), day * _DAY + 10, ran=0, state=LeaseState.CANCELLED)
        assert "greedy" in _kept(book, kept)

    late = book.queue("greedy", 7 * _DAY)
    assert book.turns(7 * _DAY)[-1] != late.lease_id, "the long lease of the other project has cost more"
    book.finish(served, 8 * _DAY, ran=8 * _DAY)


def test_a_flow_that_has_used_its_share_of_a_window_is_not_forgotten(make_book: MakeBook) -> None:
    book, kept = make_book(_winks(window=str(10 * _DAY))), dict[str, Learnt]()
    _run_one(book, "a", 0)
    _run_one(book, "b", 3 * _DAY)
    assert _kept(book, kept) == {"a", "b"}
    _run_one(book, "b", 10 * _DAY)
    assert _kept(book, kept) == {"b"}


def test_a_thousand_projects_with_one_lease_each_leave_nothing(make_book: MakeBook) -> None:
    """The state is bounded by what there is in a day, and goes on after each restart."""
    book, kept = make_book(_winks()), dict[str, Learnt]()
    for number in range(1_000):
        now = number * 7_200
        _run_one(book, f"project {number}", now)
        if number % 100 == 99:
            _restarted(book, kept, _winks(), now + 100)
        assert len(_kept(book, kept)) <= 14
    assert len(kept) <= 16


def test_a_flow_of_an_earlier_version_goes_on(make_book: MakeBook) -> None:
    """Its entry does not say when it changed last."""
    book, kept = make_book(_winks()), dict[str, Learnt]()
    book.place(book.queue("a"), 0)
    book.queue("b")
    _kept(book, kept)
    for subject, learnt in kept.items():
        kept[subject] = {key: value for key, value in learnt.items() if key != "changed"}
    _restarted(book, kept, _winks(), 5)
    assert _behind(book, "b", 5) == 100
    _run_one(book, "c", 10)
    assert _kept(book, kept) == {"a", "b", "c"}


def test_reports_tell_shares_positions_and_expected_starts(make_book: MakeBook) -> None:
    book = make_book(_winks())
    book.weights = {"a": 3.0}
    for user in ("a", "b", "b"):
        book.queue(user, nodes=4)
    assert isinstance(book.policy, Winks)

    reports = {report.name: report for report in book.policy.flows(1_000)}

    assert (reports["a"].share, reports["b"].share) == (0.75, 0.25)
    assert reports["b"].positions == {"2": 1, "3": 2}
    # Virtual time reaches the tag of the second one of b when b has had 100 s of the site, a quarter of 400 s.
    assert reports["b"].expected == {"2": 1_000, "3": 1_400}
    assert reports["b"].blocked == {}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("project", ("p", "p", "-")),
        ("origin", ("-", "x", "-")),
        ("both", ("p@-", "p@x", "-@-")),
        ("behalf", ("p@-", "p@x", "-@-")),
    ],
)
def test_flows_are_projects_or_peers(by: str, expected: tuple[str, str, str]) -> None:
    names = FlowNames.of(PolicyOptions({"winks_flows": by}))
    nodes = (NodeSet(1, Resources({VCPU: 1})),)
    local = LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, 1, user="p")
    nobody = replace(local, user=None)

    assert tuple(map(names.flow_of, (local, replace(local, origin="x"), nobody))) == expected
    assert names.weight_of("p@x", {"p": 4.0}) == (4.0 if by == "both" else 1.0)


def test_projects_for_which_a_peer_asks_are_flows_without_weights_of_projects_here() -> None:
    names = FlowNames(by="behalf")
    nodes = (NodeSet(1, Resources({VCPU: 1})),)
    local = LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, 1, user="p")
    passed_on = replace(local, user="gateways", origin="x", on_behalf_of={"project": "p", "user": "ada"})
    assert names.flow_of(passed_on) == "p@x"
    weights = {"p": 4.0, "q@x": 3.0}
    assert [names.weight_of(each, weights) for each in ("p@x", "p@-", "q@x")] == [1.0, 4.0, 3.0]
    assert names.flows_of(weights) == {"q@x": 3.0}


@pytest.mark.parametrize(("by", "flow"), [("project", "p"), ("origin", "x"), ("both", "p@-"), ("behalf", "p@-")])
def test_leases_that_a_peer_requests_for_a_project_are_in_its_flow(by: str, flow: str) -> None:
    """So the project has one share, whoever requests its leases, and the peer cannot name another flow."""
    named = {"project": "somebody else", "project_id": "p"}
    nodes = (NodeSet(1, Resources({VCPU: 1})),)
    request = LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, 1, user="p", origin="x", on_behalf_of=named)
    assert FlowNames(by=by).flow_of(request) == flow
    if by != "origin":
        assert FlowNames(by=by).flow_of(replace(request, origin=None, on_behalf_of=None)) == flow


def test_names_of_flows_fit_into_the_database() -> None:
    """Peers may have names of 255 characters, and a name that is cut is still that of one flow."""
    names = FlowNames(by="both")
    nodes = (NodeSet(1, Resources({VCPU: 1})),)
    request = LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, 1, user="p" * 64)
    flows = {names.flow_of(replace(request, origin="x" * 254 + last)) for last in "yz"}

    assert len(flows) == 2
    assert all(len(f"flow:{flow}") <= 255 for flow in flows)
    assert all(names.weight_of(flow, {"p" * 64: 4.0}) == 4.0 for flow in flows)


@pytest.mark.parametrize(
    "option",
    [
        {"flows": "user"},
        {"limit": "all"},
        {"debt": "maybe"},
        {"window": "-1"},
        {"accounting": ""},
        {"limit_when_idle": "never"},
        {"preempt_after": "-1"},
        {"preempt_excess": "nan"},
    ],
)
def test_wrong_options_are_refused(option: dict[str, str]) -> None:
    with pytest.raises(InvalidValueError, match=f"winks_{next(iter(option))}"):
        _winks(**option)


def test_a_sliver_costs_the_mean_of_its_shares_of_a_host() -> None:
    """shirako G8: the mean of the shares of a host; a whole host is 1 whatever it names."""
    host = Resources({VCPU: 100, MEMORY_MB: 1024, "BANDWIDTH": 700, HOST_SHARE: WHOLE_HOST})
    address = Host("address", Resources({FLOATING_IP: 1}))
    size = SiteSize.of(Site.of([*Site.homogeneous(3, host).hosts, address]))

    def width(resources: dict[str, int], count: int = 4) -> float:
        nodes = (NodeSet(count, Resources(resources)),)
        return size.width(LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, 10)) / HOST_UNITS

    assert size.capacity == 3 * HOST_UNITS
    assert 10 * width({VCPU: 50, MEMORY_MB: 512, "BANDWIDTH": 350}) == 20
    assert 10 * width({VCPU: 100, MEMORY_MB: 1024, "BANDWIDTH": 700}) == 40
    assert width({HOST_SHARE: WHOLE_HOST}, 1) == 1
    assert width({FLOATING_IP: 1}) == 0
    assert SiteSize.of(Site.of([address])).capacity == 0


def test_budget_charges_prices(make_book: MakeBook) -> None:
    """shirako A34: an estimate while a lease is queued, its price once it has a place."""
    book = make_book(Budget(PolicyOptions({"budget_rate": "2"})))
    cheap, dear = book.queue("a", duration=3_600), book.queue("b", duration=3_600)
    book.queue("a"), book.queue("b")

    assert isinstance(book.policy, Budget)
    book.place(replace(cheap, grant=Grant(price=1.0)), 0)
    book.place(dear, 0)

    clocks = {report.name: report.behind for report in book.policy.flows(0)}
    assert clocks["b"] == 0
    assert clocks["a"] == pytest.approx(1.0)


def test_the_next_look_is_stored_after_each_pass(make_book: MakeBook) -> None:
    book, kept = make_book(_winks(window="100", debt="no")), dict[str, Learnt]()
    wide = book.queue("a", nodes=2, duration=100)
    book.queue("a", nodes=2, duration=100)
    book.queue("b")
    assert wide.lease_id in book.turns(30)
    assert book.policy.look_again(30) == 100

    policy = _winks(window="100", debt="no")
    _restarted(book, kept, policy, 30)
    assert kept["look"] == {"again": 100}
    assert policy.take_over(list(book.leases.values()), 30) == 100

    assert policy.look_again(40) is None, "this pass asked for no turns"
    assert policy.take_changes()["look"] is None


def test_only_winks_suspends_leases_for_shares() -> None:
    options = PolicyOptions({"winks_preempt_after": "600"})

    assert Winks(options).has_claims
    assert not Budget(options).has_claims
    assert not _winks().has_claims


def test_new_terms_of_a_queued_lease_are_those_that_count(make_book: MakeBook) -> None:
    """A lease that became wide is subject to the limit of its window, and what follows it starts later."""
    policy = _winks(window="100", debt="no")
    book = make_book(policy)
    narrow = book.queue("a", duration=10)
    book.queue("a", duration=10)
    book.queue("b", duration=10)
    expected = policy.flows(0)[0].expected
    assert not policy.flows(0)[0].blocked

    wide = replace(narrow, request=replace(narrow.request, nodes=(replace(narrow.request.nodes[0], count=4),)))
    wide = book.set(replace(wide, request=replace(wide.request, duration=90)), 0)

    report = policy.flows(0)[0]
    assert list(report.blocked) == ["1"], "360 node-seconds, and half of the window has 200"
    restored = _restarted(book, {}, _winks(window="100", debt="no"), 0).policy.flows(0)[0]
    assert (report.positions, report.expected, report.blocked) == (
        restored.positions,
        restored.expected,
        restored.blocked,
    )
    book.policy = policy
    book.set(replace(wide, request=narrow.request), 0)
    assert policy.flows(0)[0].expected == expected


def test_new_terms_of_a_lease_with_a_place_are_those_that_count(make_book: MakeBook) -> None:
    """It goes back to the queue; the cost of its old terms is refunded, and that of the new ones counts."""
    policy = _winks(window="100", debt="no")
    book = make_book(policy)
    lease = book.place(book.queue("a", nodes=2, duration=10), 0, start=50)
    book.queue("a", duration=10)
    book.queue("b", duration=10)

    book.set(
        replace(
            lease, state=LeaseState.QUEUED, holdings=(), request=replace(lease.request, duration=150, preemptible=True)
        ),
        0,
    )

    report = policy.flows(0)[0]
    assert (report.positions, list(report.blocked)) == ({"1": 1, "2": 2}, ["1"])


def test_a_new_priority_of_a_queued_lease_moves_it(make_book: MakeBook) -> None:
    book = make_book(_winks())
    first, second = book.queue("a"), book.queue("a")
    assert book.turns(0) == ["1", "2"]

    book.set(replace(second, request=replace(second.request, extras={"priority": "5"})), 0)
    assert book.turns(0) == ["2", "1"]

    book.set(replace(first, request=replace(first.request, extras={"priority": "9"})), 0)
    assert book.turns(0) == ["1", "2"]


def test_a_request_that_fits_is_found_behind_one_that_does_not(make_book: MakeBook) -> None:
    """A flow is left out of a pass only if nothing in its queue is smaller than what found no place."""
    book = make_book(_winks())
    book.queue("a", nodes=4, duration=100)
    book.queue("b", nodes=3, duration=200)
    book.queue("b", nodes=3, duration=90)
    book.queue("c", nodes=5, duration=200)
    queue = QueueRound(0, list, book.leases, book.leases)
    book.policy.follow(book.site, book.weights)

    def turns() -> list[str]:
        return [turn.lease.lease_id for turn in book.policy.turns(queue)]

    assert turns() == ["1", "2", "3"], "4 is larger than 1"
    book.queue("c", nodes=2, duration=300)
    assert turns() == ["1", "2", "3", "5"]
    book.finish(book.leases["5"], 0, 0, LeaseState.CANCELLED)
    assert turns() == ["1", "2", "3"]
    assert turns() == ["1", "2", "3"]


def test_an_endless_lease_without_a_place_says_nothing_about_leases_with_an_end(make_book: MakeBook) -> None:
    """It is charged for a day, but needs its hosts for longer: a lease of two days may fit before a reservation."""
    book = make_book(_winks())
    book.queue("a", duration=UNLIMITED)
    book.queue("b", duration=2 * 86_400)
    book.queue("c", duration=3 * 86_400)
    book.policy.follow(book.site, book.weights)

    turns = book.policy.turns(QueueRound(0, list, book.leases, book.leases))

    assert [turn.lease.lease_id for turn in turns] == ["1", "2"]


def test_no_place_is_searched_if_the_share_refuses_every_one(make_book: MakeBook) -> None:
    """Windows of 100 s, two flows: each has 200 host-seconds of one, and a lease of four hosts costs all of it.

    If a lease of two hosts fits at 60, a shorter one fits there, too, or before, and the share of its flow refuses it.
    At 100 another window has begun, of which something is left.
    """
    book = make_book(_winks(window="100", debt="no", limit_when_idle="strict"))
    for user in "ab":
        book.place(book.queue(user, nodes=4, duration=50), 0)
    book.queue("a", nodes=2, duration=40)
    book.queue("b", nodes=2, duration=30)
    book.policy.follow(book.site, book.weights)
    waiting = {lease_id: book.leases[lease_id] for lease_id in "34"}

    def asked(start: int) -> list[str]:
        found = []
        for turn in book.policy.turns(QueueRound(10, list, waiting, book.leases)):
            found.append(turn.lease.lease_id)
            assert turn.allows(Holding((0, 1), start, start, start + 40, start + 40)) is (start >= 100)
        return found

    assert asked(60) == ["3"]
    assert book.policy.look_again(10) == 100
    assert asked(100) == ["3", "4"]


@pytest.mark.parametrize(("now", "claims"), [(950, 0), (1_050, 0), (1_100, 1), (87_400, 1)])
def test_a_clock_that_jumps_suspends_nothing_before_its_least_run(make_book: MakeBook, now: int, claims: int) -> None:
    """Leases began at 1,000. After a jump back they have not run at all, and are looked at when they have."""
    book = make_book(_winks(preempt_after="100"))
    for _ in range(4):
        book.start(book.place(book.queue("a", 1_000, duration=100_000), 1_000), 1_000)
    book.queue("b", 1_000)
    queue = QueueRound(now, list, {"5": book.leases["5"]}, book.leases)

    assert len(list(book.policy.turns(queue))) == 1
    found = list(book.policy.claims(queue))

    assert [claim.turn.lease.lease_id for claim in found] == ["5"] * claims
    assert book.policy.look_again(now) == (None if claims else 1_100)


def test_a_very_small_lease_costs_something() -> None:
    """On a large site, a small node is less than half of the unit of width."""
    site = Site.homogeneous(1, Resources({VCPU: 10**6}))
    request = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1})),), 0, 100)

    assert SiteSize.of(site).width(request) == 1
    assert SiteSize.of(site).width(replace(request, nodes=(NodeSet(1, Resources({FLOATING_IP: 1})),))) == 0
