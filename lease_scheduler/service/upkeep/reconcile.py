"""Comparison of leases and cloud, and the decision what to repair.

The functions here are pure. ``reconciler`` reads the cloud, and ``repairs`` acts on the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

from lease_scheduler.cloud.differences import REPAIRS, Difference, Kind, Presence, Problem
from lease_scheduler.cloud.facts import Footprint
from lease_scheduler.cloud.orders import Expectation, Order
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.intents import Intent
from lease_scheduler.service.upkeep.promised_ends import promised_end

#: Seconds after which a lease with an unfinished adjustment is compared again, as something prevents its repair.
REPAIR_TIME = 60


class Action(Enum):
    """Repair of a lease that differs from the cloud."""

    DESTROY = "destroyed"
    END = "ended"
    LOSE = "lost"
    ADJUST = "moved"


_COUNTED_AS = {Action.DESTROY: "destroyed", Action.END: "gone", Action.LOSE: "gone", Action.ADJUST: "moved"}


@dataclass(frozen=True)
class Reconciliation:
    """The result of a comparison.

    :ivar differences: the differences that were found
    :ivar repaired: number of repairs by kind, see ``cloud.differences.REPAIRS``
    """

    differences: tuple[Difference, ...]
    repaired: Mapping[str, int]


def as_document(reconciliation: Reconciliation) -> dict[str, Any]:
    """Return the result of a comparison as the API shows it."""
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
    """The live leases at one instant.

    :ivar documents: their documents
    :ivar busy: ids of leases with an order under way, including leases that have ended
    :ivar stuck: those of them whose repair takes too long
    """

    by_id: Mapping[str, Lease]
    documents: Mapping[str, LeaseDocument]
    site: Site
    busy: frozenset[str]
    stuck: frozenset[str]
    now: int

    def vms(self) -> dict[str, int]:
        """Return the number of nodes of each lease that may have something in the cloud."""
        return dict.fromkeys(self.busy, 0) | {key: lease.request.node_count for key, lease in self.by_id.items()}

    def has_changed(self, lease_id: str, before: Leases) -> bool:
        """Return whether a lease has changed since ``before``, so that what was seen of it may be out of date."""
        if lease_id in self.stuck and lease_id in before.stuck:
            return False
        is_or_was_busy = lease_id in self.busy or lease_id in before.busy
        return is_or_was_busy or self.by_id.get(lease_id) is not before.by_id.get(lease_id)


def nobody(site: Site, now: int) -> Leases:
    """Return an empty set of leases, the desired state when the service is uninstalled."""
    return Leases({}, {}, site, frozenset(), frozenset(), now)


def stuck_leases(intents: Iterable[Intent], now: int) -> frozenset[str]:
    """Return the leases whose only orders are adjustments that take longer than a repair."""
    by_lease: dict[str, list[Intent]] = {}
    for intent in intents:
        by_lease.setdefault(intent.lease_id, []).append(intent)
    return frozenset(key for key, of_lease in by_lease.items() if all(_is_stuck(each, now) for each in of_lease))


def _is_stuck(intent: Intent, now: int) -> bool:
    operation = intent.operation
    return operation is not None and operation.kind is OperationKind.ADJUST and operation.begun <= now - REPAIR_TIME


def expectations(leases: Leases) -> list[Expectation]:
    """Return the expectations for the leases that can be compared: those without an order under way, or stuck."""
    found = []
    for lease_id, lease in leases.by_id.items():
        presence = _presence(lease)
        if presence is not None and (lease_id not in leases.busy or lease_id in leases.stuck):
            found.append(Expectation(_order(lease, leases), presence, promised_end(lease)))
    return found


def _presence(lease: Lease) -> Presence | None:
    """Return how much of a lease should be in the cloud, or None if this is undetermined.

    It is undetermined while a lease is prepared. Its start creates everything step by step, and a repair before the
    start would let its servers in too early. The first comparison after the start finds what was lost meanwhile.
    """
    if lease.missing_since is not None:
        # The lease runs on without some of its hosts, which the engine replaces.
        return None
    if lease.state is LeaseState.ACTIVE and lease.active_since is not None:
        return Presence.RUNNING
    if lease.state in SUSPENDED_STATES and lease.state is not LeaseState.MIGRATING:
        return Presence.SAVED
    # Undetermined while prepared or running in another state. The others have at most a trust or a server group.
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
    """Return the actions for leases with more or less in the cloud than there should be.

    Leases with an order under way are left alone. So are leases that changed while the cloud was read, as what was seen
    of them may be out of date.

    :param before: the leases before the cloud was read
    :param footprints: what exists in the cloud
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
        # The record of the lease in the cloud is gone. Nothing follows for its servers, which the project boots itself.
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
    """Return the names of the compute hosts of a lease, without addresses."""
    hosts = (site.hosts[number] for number in lease.holdings[0].assignment)
    return frozenset(host.name for host in hosts if FLOATING_IP not in host.capacity)


class Known(Protocol):
    """The store, which distinguishes things of this service from those of others with the same form of name."""

    def of_leases_that_are_over(self, ids: Collection[str]) -> Collection[str]:
        """Return which of these ids belong to trusts or reservations of leases that have ended."""
        ...

    def known_trusts(self, ids: Collection[str]) -> Collection[str]:
        """Return which of these trusts a host or a lease refers to, whether the lease is live, ended or deleted."""
        ...


def settled(
    differences: Iterable[Difference],
    leases: Leases,
    before: Leases,
    store: Known,
) -> list[Difference]:
    """Return the differences that are still valid: those of unchanged leases, and leftovers of this service.

    :param store: tells what belongs to leases of this service
    """
    known = list(differences)
    # If a lease ended meanwhile, its end has removed what the comparison saw of it.
    live = leases.vms().keys() | before.vms().keys()
    over = store.of_leases_that_are_over({each.reference for each in known if each.kind in _TOLD_BY_THE_STORE} - {""})
    abandoned = {each.name for each in known if each.is_abandoned}
    unused = abandoned.difference(store.known_trusts(abandoned))
    found = []
    for each in known:
        if each.problem is Problem.LEFT_OVER:
            is_ours = each.kind not in _TOLD_BY_THE_STORE or each.reference in over
            if each.is_abandoned and each.name in unused:
                found.append(replace(each, detail="it was given for a lease that was not made"))
            elif is_ours and each.lease_id not in live:
                found.append(each)
        elif each.lease_id is None or not leases.has_changed(each.lease_id, before):
            found.append(each)
    return found


def as_differences(actions: Mapping[str, Action], known: Iterable[Difference]) -> list[Difference]:
    """Return the differences behind actions, except for leases that already have a known difference."""
    told = {each.lease_id for each in known}
    return [
        Difference(*_WHAT_DIFFERS[action][:2], lease_id, lease_id, _WHAT_DIFFERS[action][2])
        for lease_id, action in actions.items()
        if lease_id not in told or action in (Action.END, Action.LOSE)
    ]


def count(actions: Mapping[str, Action]) -> Counter[str]:
    """Return the number of actions by kind of repair."""
    found = Counter(dict.fromkeys(REPAIRS, 0))
    found.update(_COUNTED_AS[action] for action in actions.values())
    return found


def to_adjust(differences: Iterable[Difference]) -> frozenset[str]:
    """Return the ids of the leases that an adjustment to the plan repairs."""
    return frozenset(
        each.lease_id
        for each in differences
        if each.lease_id is not None
        and each.problem is not Problem.LEFT_OVER
        and each.kind not in _TOLD_BY_THE_STORE
        and each.is_ours_to_mend
    )


#: Things that other services, such as Blazar, name in the same way. The store tells which are ours.
_TOLD_BY_THE_STORE = frozenset({Kind.TRUST, Kind.SERVER_GROUP})

_WHAT_DIFFERS = {
    Action.DESTROY: (Kind.AGGREGATE, Problem.LEFT_OVER, "it belongs to no lease"),
    Action.END: (Kind.SERVER, Problem.MISSING, "all its servers are gone: the lease ends"),
    Action.LOSE: (Kind.SERVER, Problem.MISSING, "its saved state is gone: the lease starts over"),
    Action.ADJUST: (Kind.AGGREGATE, Problem.DIFFERENT, "it does not have its hosts"),
}

#: States in which a lease may have something in the cloud although it does not run.
_MAY_EXIST = SUSPENDED_STATES | {
    LeaseState.SUSPENDING,
    LeaseState.RESUMING,
    LeaseState.RESUMED_READY,
    LeaseState.READY,
    LeaseState.ACTIVE,
}
