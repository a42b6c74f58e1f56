"""What leases of a peer come to, and what its limits refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.holding import Closing, Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.peer_limits import PeerLimits
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.service.requests.enforcement.peers import check_peer, leases_of_peer, use_of

PEER, CAPACITY = "north", {"VCPU": 100, "MEMORY_MB": 1_000}


def _request(nodes: int, start: int | None = 0, duration: int = 100, kind: LeaseKind | None = None) -> LeaseRequest:
    kind = kind or (LeaseKind.BEST_EFFORT if start is None else LeaseKind.RESERVATION)
    needs = (NodeSet(nodes, Resources({"VCPU": 10})),)
    return LeaseRequest(f"{nodes}-{start}", kind, needs, 0, duration, start, origin=PEER)


def _lease(nodes: int, start: int | None = 0, duration: int = 100, **values: object) -> Lease:
    request = _request(nodes, start, duration)
    held = () if start is None else (Holding((0,) * nodes, start, start, start + duration, start + duration),)
    state = LeaseState.QUEUED if start is None else LeaseState.READY
    return replace(Lease(request, 0, state, holdings=held), **values)  # type: ignore[arg-type]


def _refused(limits: PeerLimits, asked: LeaseRequest, *others: Lease) -> str | None:
    try:
        check_peer(limits, asked, others, CAPACITY, 0)
    except RefusedError as error:
        assert (error.code, error.reason) == (403, RefusalReason.LIMIT)
        return error.field
    return None


def test_nodes_count_in_the_busiest_instant_and_those_that_wait_always() -> None:
    """Two at once, then three, and one that waits."""
    leases = [_lease(2, 0), _lease(3, 100), _lease(1, None)]
    use = use_of(leases, CAPACITY, 0)
    assert (use.leases, use.nodes, use.share) == (3, 4, 0.4)
    assert use.node_hours == pytest.approx(600 / 3_600)
    # The past does not count.
    assert use_of([_lease(5, 0), _lease(2, 200)], CAPACITY, 150).nodes == 2


def test_offers_and_prices_are_counted() -> None:
    leases = [_lease(1, grant=Grant(price=2.5)), _lease(2, 50, offered_until=10, grant=Grant(price=1.0))]
    use = use_of(leases, CAPACITY, 0)
    assert (use.offers, use.cost) == (1, 3.5)


def test_other_peers_and_ended_leases_are_not_counted() -> None:
    mine, over = _lease(1), _lease(2, state=LeaseState.DONE)
    local = replace(mine, request=replace(mine.request, lease_id="x", origin=None))
    assert leases_of_peer([mine, over, local], PEER) == [mine]
    assert leases_of_peer([mine], PEER, mine.lease_id) == []


def test_without_limits_nothing_is_refused() -> None:
    assert _refused(PeerLimits(), _request(10), _lease(10), _lease(9, None)) is None


@pytest.mark.parametrize(
    ("limits", "asked", "field"),
    [
        (PeerLimits(kinds=frozenset({LeaseKind.BEST_EFFORT})), _request(1), "kind"),
        (PeerLimits(kinds=frozenset()), _request(1), "kind"),
        (PeerLimits(max_nodes=4), _request(3), "nodes"),
        (PeerLimits(max_nodes=5), _request(3), None),
        # A reservation counts only in its interval, others always.
        (PeerLimits(max_nodes=4), _request(4, 100), None),
        (PeerLimits(max_nodes=4), _request(4, None), "nodes"),
        (PeerLimits(max_share=0.4), _request(3), "nodes"),
        (PeerLimits(max_share=0.5), _request(3), None),
        (PeerLimits(max_node_hours=0.1), _request(2), "duration"),
        (PeerLimits(max_node_hours=0.2), _request(2), None),
        (PeerLimits(max_cost=2.0), _request(1), "max_price"),
        (PeerLimits(max_cost=2.1), _request(1), None),
    ],
)
def test_a_limit_refuses_what_goes_beyond_it(limits: PeerLimits, asked: LeaseRequest, field: str | None) -> None:
    assert _refused(limits, asked, _lease(2, 0, grant=Grant(price=2.0))) == field


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 8), st.integers(1, 5)), max_size=8), st.integers(0, 6))
def test_the_peak_is_that_of_every_second(parts: list[tuple[int, int, int]], now: int) -> None:
    leases = [_lease(nodes, start, length) for nodes, start, length in parts]
    by_second = [
        sum(nodes for nodes, start, length in parts if start <= second < start + length) for second in range(now, 20)
    ]
    assert use_of(leases, CAPACITY, now).nodes == max(by_second)
    assert Closing.SHUTDOWN is Holding((0,), 0, 0, 1, 1).closing
