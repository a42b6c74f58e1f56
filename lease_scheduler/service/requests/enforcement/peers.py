"""Limits of peers: totals of their leases, and what is refused because of them. No input or output."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.peer_limits import PeerLimits
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.service.core.peer_book import PeerBook

#: Name of the number of nodes among amounts of resource classes; no class has a name in lower case.
_NODES = "nodes"


@dataclass(frozen=True)
class PeerUse:
    """Totals of the live leases of a peer.

    :ivar leases: number of leases
    :ivar nodes: most nodes at any instant from now on; nodes of leases that wait for a place count always
    :ivar share: largest share of a resource class of the site that is needed at any instant, 0..1
    :ivar node_hours: node-hours that are still to come
    :ivar offers: number of leases that are held
    :ivar cost: prices of the leases together
    """

    leases: int = 0
    nodes: int = 0
    share: float = 0.0
    node_hours: float = 0.0
    offers: int = 0
    cost: float = 0.0


def leases_of_peer(leases: Iterable[Lease], peer: str, without: str = "") -> list[Lease]:
    """Return the live leases of a peer.

    :param without: id of a lease that is left out
    """
    return [each for each in leases if each.request.origin == peer and not each.is_final and each.lease_id != without]


def use_of(leases: Iterable[Lease], capacity: Mapping[str, int], now: int) -> PeerUse:
    """Return the totals of the live leases of a peer.

    :param leases: live leases of one peer
    :param capacity: resource class -> amount of the whole site
    """
    live = list(leases)
    peak = _peak(live, now)
    return PeerUse(
        leases=len(live),
        nodes=peak[_NODES],
        share=_largest_share(peak, capacity),
        node_hours=sum(each.request.charged_nodes * each.remaining for each in live) / 3_600,
        offers=sum(each.is_offered for each in live),
        cost=sum(each.grant.price or 0.0 for each in live),
    )


def capacity_of(site: Site) -> dict[str, int]:
    """Return the amount of each resource class of all hosts of a site."""
    return {name: site.total(name) for name in site.resource_classes}


def check_project(limits: PeerLimits, peer: str, project_id: str) -> None:
    """Refuse a project for which a peer may not request leases.

    :raises RefusedError: 403, naming the project
    """
    if not limits.may_lease_for(project_id):
        raise RefusedError(
            403,
            f"on_behalf_of.project_id: {peer} may not request leases for project {project_id}; an administrator of "
            "this site can allow it in the limits of the peer",
            "on_behalf_of.project_id",
            reason=RefusalReason.PROJECT,
        )


def check_peer(
    limits: PeerLimits, asked: LeaseRequest, others: Iterable[Lease], capacity: Mapping[str, int], now: int
) -> None:
    """Refuse a lease, or new terms of one, with which its peer would exceed its limits.

    It is not known yet when the lease will run, so its nodes are added to those of the peer's busiest instant. A lease
    with a fixed start and end counts only against the busiest instant between them.

    :param asked: the terms
    :param others: the other live leases of the peer
    :param capacity: as in ``use_of``
    :raises RefusedError: 403, naming the limit
    """
    peer = asked.origin
    if limits.kinds is not None and asked.kind not in limits.kinds:
        kinds = ", ".join(sorted(kind.value for kind in limits.kinds)) or "no leases"
        raise _refused("kind", f"{peer} may have {kinds} on this site, not {asked.kind.value} leases")
    live = list(others)
    fixed = asked.kind.promises_interval and asked.start is not None
    start = asked.start if fixed and asked.start is not None else now
    peak = _peak(live, now, start, start + asked.duration if fixed else None)
    nodes = peak[_NODES] + asked.charged_nodes
    if limits.max_nodes is not None and nodes > limits.max_nodes:
        raise _refused("nodes", f"the leases of {peer} would have {nodes} nodes, and may have {limits.max_nodes}")
    together = peak + Counter({name: asked.total(name) for name in capacity})
    share = _largest_share(together, capacity)
    if limits.max_share is not None and share > limits.max_share:
        raise _refused(
            "nodes", f"the leases of {peer} would need {share:.1%} of the site, and may need {limits.max_share:.1%}"
        )
    now_use = use_of(live, capacity, now)
    hours = now_use.node_hours + asked.node_hours
    if limits.max_node_hours is not None and hours > limits.max_node_hours:
        raise _refused(
            "duration",
            f"the leases of {peer} would come to {hours:.1f} node-hours, and may come to {limits.max_node_hours:g}",
        )
    if limits.max_cost is not None and now_use.cost >= limits.max_cost:
        raise _refused(
            "max_price", f"the leases of {peer} cost {now_use.cost:g}, and may cost {limits.max_cost:g} together"
        )


def check_peer_offers(peers: PeerBook, peer: str | None, leases: Iterable[Lease]) -> None:
    """Refuse to hold one more lease for a peer that has as many as it may have.

    :param peer: the peer; None for a lease that no peer asks for
    :param leases: all live leases
    :raises RefusedError: 403
    """
    most = None if peer is None else peers.of(peer).max_offers
    if peer is None or most is None:
        return
    held = sum(each.is_offered for each in leases_of_peer(leases, peer))
    if held >= most:
        raise _refused("hold", f"{held} leases are held for {peer}, and {most} may be")


def _refused(field: str, problem: str) -> RefusedError:
    return RefusedError(403, f"{field}: {problem} (limits of the peer)", field, reason=RefusalReason.LIMIT)


def _peak(leases: Iterable[Lease], now: int, start: int | None = None, end: int | None = None) -> Counter[str]:
    """Return the most of each class, and of nodes, that leases have at an instant of an interval.

    :param start: start of the interval, by default now
    :param end: end of the interval; None for all of the future
    """
    first, last = now if start is None else start, inf if end is None else end
    steps: defaultdict[float, Counter[str]] = defaultdict(Counter)
    waiting: Counter[str] = Counter()
    for lease in leases:
        needs = _needs(lease.request)
        if not lease.holdings:
            waiting.update(needs)
        for holding in lease.holdings:
            if holding.start < last and holding.end > first:
                steps[max(first, holding.start)].update(needs)
                steps[min(last, holding.end)].subtract(needs)
    present: Counter[str] = Counter(waiting)
    peak: Counter[str] = Counter(waiting)
    for instant in sorted(steps):
        present.update(steps[instant])
        for name, amount in present.items():
            peak[name] = max(peak[name], amount)
    return peak


def _needs(request: LeaseRequest) -> Counter[str]:
    names = {name for node_set in request.nodes for name in node_set.needs}
    return Counter({_NODES: request.charged_nodes, **{name: request.total(name) for name in names}})


def _largest_share(needed: Mapping[str, int], capacity: Mapping[str, int]) -> float:
    return max((needed.get(name, 0) / amount for name, amount in capacity.items() if amount), default=0.0)
