"""Leases and cloud compared, and brought to agree (architecture, "truth, crashes, several engines").

First it is decided what differs, from values alone; then that is told, or repaired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lease_scheduler.cloud.differences import Difference, Kind, Presence, Problem
from lease_scheduler.cloud.driver import Expectation, Footprint, Order
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.intents import Intent
from lease_scheduler.service.promised_ends import promised_end

#: Seconds after which a repair that is not over is told of again: something keeps it from being done.
REPAIR_TIME = 60


class Action(Enum):
    """What is done about a lease."""

    DESTROY = "destroyed"
    END = "ended"
    LOSE = "lost"
    ADJUST = "moved"


#: What is counted, and shown as a metric.
REPAIRS = ("destroyed", "gone", "moved", "repaired", "removed")

_COUNTED_AS = {Action.DESTROY: "destroyed", Action.END: "gone", Action.LOSE: "gone", Action.ADJUST: "moved"}


@dataclass(frozen=True)
class Reconciliation:
    """What a comparison came to.

    :ivar differences: what differed
    :ivar repaired: how much of what was repaired, see ``REPAIRS``
    """

    differences: tuple[Difference, ...]
    repaired: Mapping[str, int]


def as_document(reconciliation: Reconciliation) -> dict[str, Any]:
    """Return what a comparison came to, as it is sent to whoever asked for it."""
    differences = [
        {
            "kind": each.kind.value,
            "problem": each.problem.value,
            "name": each.name,
            "lease_id": each.lease_id,
            "detail": each.detail,
            "repairable": each.is_ours_to_mend,
        }
        for each in reconciliation.differences
    ]
    return {"repaired": dict(reconciliation.repaired), "differences": differences}


@dataclass(frozen=True)
class Leases:
    """The live leases at some instant.

    :ivar documents: what tenants say of them
    :ivar busy: ids of those for which something is being done, leases that are over included
    :ivar stuck: those of them whose repair takes too long
    """

    by_id: Mapping[str, Lease]
    documents: Mapping[str, LeaseDocument]
    site: Site
    busy: frozenset[str]
    stuck: frozenset[str]
    now: int

    def vms(self) -> dict[str, int]:
        """Number of VMs of each lease of which something may be in the cloud."""
        return dict.fromkeys(self.busy, 0) | {key: lease.request.node_count for key, lease in self.by_id.items()}

    def has_changed(self, lease_id: str, before: Leases) -> bool:
        """Whether what was seen of a lease since then need not be what exists now."""
        if lease_id in self.stuck and lease_id in before.stuck:
            return False
        is_or_was_busy = lease_id in self.busy or lease_id in before.busy
        return is_or_was_busy or self.by_id.get(lease_id) is not before.by_id.get(lease_id)


def nobody(site: Site, now: int) -> Leases:
    """Return no leases at all, which is what there should be when the service is uninstalled."""
    return Leases({}, {}, site, frozenset(), frozenset(), now)


def stuck_leases(intents: Iterable[Intent], now: int) -> frozenset[str]:
    """Return the leases for which nothing is done but following a change, for longer than a repair takes."""
    by_lease: dict[str, list[Intent]] = {}
    for intent in intents:
        by_lease.setdefault(intent.lease_id, []).append(intent)
    return frozenset(key for key, of_lease in by_lease.items() if all(_is_stuck(each, now) for each in of_lease))


def _is_stuck(intent: Intent, now: int) -> bool:
    operation = intent.operation
    return operation is not None and operation.kind is OperationKind.ADJUST and operation.begun <= now - REPAIR_TIME


def expectations(leases: Leases) -> list[Expectation]:
    """Return what is expected of the leases that can be compared: those for which nothing is being done."""
    found = []
    for lease_id, lease in leases.by_id.items():
        presence = _presence(lease)
        if presence is not None and (lease_id not in leases.busy or lease_id in leases.stuck):
            found.append(Expectation(_order(lease, leases), presence, promised_end(lease)))
    return found


def _presence(lease: Lease) -> Presence | None:
    """Return how much of a lease should be in the cloud, or None if that cannot be said.

    Of a lease that is being prepared it cannot: its start makes all of it, step by step, and following the plan before
    the lease begins would let its servers in too early. What is lost in the minutes until then is found by the first
    comparison after its start.
    """
    if lease.missing_since is not None:
        # It goes on without some of its hosts, which others look after.
        return None
    if lease.state is LeaseState.ACTIVE and lease.active_since is not None:
        return Presence.RUNNING
    if lease.state in SUSPENDED_STATES and lease.state is not LeaseState.MIGRATING:
        return Presence.SAVED
    # What is made ready ahead of a start is in between; of the others there is a trust or a group at most.
    return None if lease.is_prepared or lease.active_since is not None else Presence.WAITING


def _order(lease: Lease, leases: Leases) -> Order:
    planned = lease.holdings[0] if lease.holdings else None
    assignment = planned.assignment if planned is not None else ()
    hosts = tuple(leases.site.hosts[number].name for number in assignment)
    return Order(
        intent_id=0,
        lease_id=lease.lease_id,
        operation=Operation(OperationKind.ADJUST, lease.lease_id, assignment, leases.now, leases.now),
        hosts=hosts or ("",) * lease.request.node_count,
        request=lease.request,
        document=leases.documents[lease.lease_id],
        start=leases.now if planned is None else planned.run_start,
    )


def decide(leases: Leases, before: Leases, footprints: Collection[Footprint]) -> dict[str, Action]:
    """Return what is to be done about leases of which more or less is in the cloud than there should be.

    Leases for which something is being done, or that changed while the cloud was looked at, are left alone: what was
    seen of them need not be what exists now.

    :param before: the leases before the cloud was looked at
    :param footprints: what exists in the cloud, looked at in between
    """
    found = {footprint.lease_id: footprint for footprint in footprints}
    actions = {}
    for lease_id in sorted(found.keys() | leases.by_id.keys()):
        if lease_id in leases.busy or leases.has_changed(lease_id, before):
            continue
        action = _action(leases.by_id.get(lease_id), found.get(lease_id), leases)
        if action is not None:
            actions[lease_id] = action
    return actions


def _action(lease: Lease | None, footprint: Footprint | None, leases: Leases) -> Action | None:
    if lease is None:
        return Action.DESTROY
    has_servers = footprint is not None and footprint.servers != "none"
    if footprint is None and not leases.documents[lease.lease_id].servers:
        # What remembers the lease is gone. That says nothing of the servers, which its project boots itself.
        return Action.ADJUST if lease.active_since is not None else None
    if lease.state is LeaseState.ACTIVE and not has_servers:
        return Action.END
    if lease.active_since is not None:
        is_whole = footprint is not None and _has_its_hosts(lease, footprint, leases.site)
        return None if is_whole else Action.ADJUST
    if lease.state in SUSPENDED_STATES and not has_servers:
        return Action.LOSE
    return Action.DESTROY if footprint is not None and lease.state not in _MAY_EXIST else None


def _has_its_hosts(lease: Lease, footprint: Footprint, site: Site) -> bool:
    addresses = {host.name for host in site.hosts if FLOATING_IP in host.capacity}
    return footprint.hosts - addresses == compute_hosts(lease, site)


def compute_hosts(lease: Lease, site: Site) -> frozenset[str]:
    """Names of the compute hosts that a lease has; addresses are none."""
    hosts = (site.hosts[number] for number in lease.holdings[0].assignment)
    return frozenset(host.name for host in hosts if FLOATING_IP not in host.capacity)


def settled(
    differences: Iterable[Difference],
    leases: Leases,
    before: Leases,
    of_leases_that_are_over: Callable[[Collection[str]], Collection[str]],
) -> list[Difference]:
    """Return the differences that are still worth telling: of leases that have not changed, and left over by ours.

    :param of_leases_that_are_over: tells which ids of trusts and reservations are those of leases of ours that are over
    """
    known = list(differences)
    # What a lease that was over in the meantime left when the cloud was looked at, its end has removed since.
    live = leases.vms().keys() | before.vms().keys()
    over = of_leases_that_are_over({each.reference for each in known if each.kind in _TOLD_BY_THE_STORE} - {""})
    found = []
    for each in known:
        if each.problem is Problem.LEFT_OVER:
            is_ours = each.kind not in _TOLD_BY_THE_STORE or each.reference in over
            if is_ours and each.lease_id not in live:
                found.append(each)
        elif each.lease_id is None or not leases.has_changed(each.lease_id, before):
            found.append(each)
    return found


def as_differences(actions: Mapping[str, Action], known: Iterable[Difference]) -> list[Difference]:
    """Return what decisions are about, as far as nothing of the same lease is known to differ."""
    told = {each.lease_id for each in known}
    return [
        Difference(*_WHAT_DIFFERS[action][:2], lease_id, lease_id, _WHAT_DIFFERS[action][2])
        for lease_id, action in actions.items()
        if lease_id not in told or action in (Action.END, Action.LOSE)
    ]


def count(actions: Mapping[str, Action]) -> Counter[str]:
    """Return how often what is done."""
    found = Counter(dict.fromkeys(REPAIRS, 0))
    found.update(_COUNTED_AS[action] for action in actions.values())
    return found


def to_adjust(differences: Iterable[Difference]) -> frozenset[str]:
    """Return the leases of which something is to be made again or changed back by following the plan."""
    return frozenset(
        each.lease_id
        for each in differences
        if each.lease_id is not None
        and each.problem is not Problem.LEFT_OVER
        and each.kind not in _TOLD_BY_THE_STORE
        and each.is_ours_to_mend
    )


#: Things that others, such as Blazar, call the same; the store knows whose they are.
_TOLD_BY_THE_STORE = frozenset({Kind.TRUST, Kind.SERVER_GROUP})

_WHAT_DIFFERS = {
    Action.DESTROY: (Kind.AGGREGATE, Problem.LEFT_OVER, "it belongs to no lease"),
    Action.END: (Kind.SERVER, Problem.MISSING, "all its servers are gone: the lease ends"),
    Action.LOSE: (Kind.SERVER, Problem.MISSING, "its saved state is gone: the lease starts over"),
    Action.ADJUST: (Kind.AGGREGATE, Problem.DIFFERENT, "it does not have its hosts"),
}

#: Something of a lease in these states may exist although it does not run.
_MAY_EXIST = SUSPENDED_STATES | {
    LeaseState.SUSPENDING,
    LeaseState.RESUMING,
    LeaseState.RESUMED_READY,
    LeaseState.READY,
    LeaseState.ACTIVE,
}
