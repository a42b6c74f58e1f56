"""Reasons, as projects read them, why a lease goes from one state to another, or from one host to another.

The engine gives the reason where something failed or was requested. The other reasons are derived from the states, and
from the leases to which the hosts of a lease are promised. Other leases are not named: a reason says only whether they
belong to the same project.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import SUSPENDED_STATES, LeaseState
from lease_scheduler.records.documents import LeaseDocument

_S = LeaseState

#: Reasons for states that have only one.
_ALWAYS: Mapping[LeaseState, str] = {
    _S.PENDING: "asked for",
    _S.SCHEDULED: "hosts are planned for it",
    _S.PREPARING: "its disk image is brought to its hosts",
    _S.READY: "its hosts are reserved for it",
    _S.ACTIVE: "its servers run",
    _S.SUSPENDED_PENDING: "its servers are suspended",
    _S.SUSPENDED_QUEUED: "its servers are suspended and it waits for hosts",
    _S.SUSPENDED_SCHEDULED: "hosts are planned on which it goes on",
    _S.MIGRATING: "its saved state moves to the hosts on which it goes on",
    _S.RESUMING: "it has its hosts and resumes",
    _S.RESUMED_READY: "its servers are resumed",
    _S.DONE: "it has come to its end",
    _S.REJECTED: "there is no place for it",
    _S.REJECTED_BY_USER: "its project turned it down",
    _S.CANCELLED: "cancelled",
    _S.FAILED: "its servers could not be kept running",
}
#: Prefixes of the engine's reasons for preemptions.
_PREEMPTED = ("preempted", "its place was preempted")


def reason_of(
    before: Lease | None, after: Lease, leases: Iterable[Lease], documents: Mapping[str, LeaseDocument]
) -> str:
    """Return why a lease came to its state.

    :param before: its value before, or None if it is new
    :param leases: all live leases
    """
    reason = _reason_of(before, after, leases, documents)
    # A lease keeps its pool, so only its first entry says which one that is.
    return reason if before is not None or after.request.pool is None else f"in pool {after.request.pool}: {reason}"


def _reason_of(
    before: Lease | None, after: Lease, leases: Iterable[Lease], documents: Mapping[str, LeaseDocument]
) -> str:
    if after.state is _S.SUSPENDING:
        cause = _preemptor(before, after, leases, documents)
        told = f"suspended for {cause}" if cause else "suspended, because its hosts are promised to others from now on"
        return f"{told}: {after.reason}" if after.reason else told
    if after.reason.startswith(_PREEMPTED):
        cause = _preemptor(before, after, leases, documents)
        return f"{after.reason}, for {cause}" if cause else after.reason
    if after.reason:
        return after.reason
    if after.state is _S.QUEUED:
        return "it waits for hosts" if before is None or before.state in (_S.NEW, _S.PENDING) else "it waits again"
    if after.state is _S.ACTIVE and before is not None and before.state is _S.RESUMED_READY:
        return "its servers go on"
    if after.state is _S.READY and before is not None and before.state is _S.ACTIVE:
        return "it waits for its next interval"
    return _ALWAYS[after.state]


def move_of(
    before: Lease | None,
    after: Lease,
    leases: Iterable[Lease],
    documents: Mapping[str, LeaseDocument],
    name_of: Callable[[int], str],
) -> str:
    """Return between which hosts a lease moved and why, or an empty text if it did not."""
    if before is None or not before.holdings or not after.holdings or after.is_final:
        return ""
    if before.state in SUSPENDED_STATES or after.state in SUSPENDED_STATES:
        # A suspended lease does not run on hosts that it could leave.
        return ""
    old, new = before.holdings[0].hosts, after.holdings[0].hosts
    left, taken = sorted(old - new), sorted(new - old)
    if not left:
        return ""
    maintained = _maintained(before, leases, documents) & set(left)
    if maintained:
        why = f"maintenance of {_names(sorted(maintained), name_of)}"
    elif after.reason and after.reason != before.reason:
        why = after.reason
    else:
        why = "planned anew"
    where = f" to {_names(taken, name_of)}" if taken else ""
    return f"moved: {why} (from {_names(left, name_of)}{where})"


def _names(hosts: Iterable[int], name_of: Callable[[int], str]) -> str:
    return ", ".join(name_of(host) for host in hosts)


def _maintained(before: Lease, leases: Iterable[Lease], documents: Mapping[str, LeaseDocument]) -> set[int]:
    held = before.holdings[0]
    return {
        host
        for other in leases
        if other.lease_id in documents and documents[other.lease_id].maintenance
        for r in other.holdings
        if r.start < held.end and held.start < r.end
        for host in r.hosts
    }


def _preemptor(
    before: Lease | None, after: Lease, leases: Iterable[Lease], documents: Mapping[str, LeaseDocument]
) -> str:
    """Describe the lease for which a lease is preempted, or return an empty text if it is not known."""
    if before is None or not before.holdings:
        return ""
    held = before.holdings[0]
    # A lease that is being suspended holds its hosts until the other lease gets them.
    until = after.holdings[0].end if after.state is _S.SUSPENDING and after.holdings else held.start
    found = [
        (r.start, -other.sequence, other)
        for other in leases
        if other.lease_id != after.lease_id and other.kind.is_preemptor
        for r in other.holdings
        if r.end > until and not r.hosts.isdisjoint(held.hosts)
    ]
    if not found:
        return ""
    other = min(found, key=lambda entry: entry[:2])[2]
    document, own = documents.get(other.lease_id), documents.get(after.lease_id)
    if document is not None and document.maintenance:
        return "maintenance of its hosts"
    what = "a reservation" if other.kind is LeaseKind.RESERVATION else "a deadline lease"
    is_same = document is not None and own is not None and document.project_id == own.project_id
    return f"{what} of {'the same' if is_same else 'another'} project"
