"""Leases start and end in time, unless something goes wrong; what tenants do is no excuse.

How late they may be is what ``doc/source/admin/production.rst`` promises (*How late leases may start*).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lease_scheduler.rehearsal.disturbances import last_trouble
from lease_scheduler.rehearsal.invariants.facts import Facts, LeaseFact, Violation

#: Seconds by which a start may be late.
LATE = 3.0

#: The same if servers had to leave the hosts within some seconds before. They have to be switched off, for which Nova
#: gives them a minute by default.
_LATE_AFTER_GUESTS, _BEFORE = 60.0, 120.0

#: The same if another lease has left its hosts only after that: the next one on them waits for it, or moves.
_LATE_AFTER_LEASE = 60.0

#: States in which a lease is on its hosts.
_ON_HOSTS = frozenset({"active", "suspending", "resuming", "resumed-ready"})

#: The same in the cloud that engines simulate. It needs half a minute to boot servers, which it does not do ahead, and
#: as long to delete those of the lease before.
_LATE_AFTER_BOOT = 120.0

#: Seconds by which an end may be late: servers have to be deleted before.
LATE_END = 60.0

#: Seconds after a disturbance within which what became due is done: an engine takes over, steps are tried again, and
#: servers leave hosts.
RECOVERY = 120.0

#: The same after some disturbances, from which the service recovers by itself as soon as they are over.
_SOON = {"database-away": 5.0, "broker-away": 5.0}

#: Seconds before a failure within which something must have gone wrong that explains it. Hosts are down for up to an
#: hour, and plans made meanwhile have consequences later.
_EXPLAINED = 7_200.0

#: Kinds of leases that start and end at the instants that were promised.
_PROMISED = frozenset({"reservation", "immediate"})

_STARTING = frozenset({"scheduled", "preparing", "ready"})

_MOVED = "moved:"


def _hosts(lease: LeaseFact, facts: Facts) -> frozenset[str]:
    """Return the names of the hosts of a lease."""
    return frozenset(facts.hosts[host].name for each in lease.holdings for host in each.hosts if host in facts.hosts)


def _changed(facts: Facts) -> frozenset[str]:
    """Return the leases that moved, and those whose terms were changed after they were asked for."""
    return frozenset(each.lease_id for each in facts.history if each.before == each.after)


def _promised(facts: Facts, kinds: Iterable[str]) -> Iterator[LeaseFact]:
    return (each for each in facts.leases.values() if each.kind in kinds and not each.is_maintenance)


def _explained_until(facts: Facts, instant: float, hosts: frozenset[str] | None) -> float:
    """Return the instant until which disturbances up to a given one explain that something is not done yet.

    :param hosts: as for ``last_trouble``
    """
    soon = [each for each in facts.disturbances if each.what in _SOON]
    late = [each for each in facts.disturbances if each.what not in _SOON]
    until = [last_trouble([each], instant, hosts) + _SOON[each.what] for each in soon]
    return max([last_trouble(late, instant, hosts) + RECOVERY, *until])


def late_starts(facts: Facts) -> Iterator[Violation]:
    """Find reservations that have started late, or have not started yet, although nothing explains it.

    What happens on a host explains only the lateness of leases there, and of those that were moved.
    """
    changed = _changed(facts)
    for lease in _promised(facts, {"reservation"}):
        if lease.requested_start is None or lease.offered_until is not None:
            continue
        if lease.started is None and lease.state not in _STARTING:
            continue
        told = facts.told.get(lease.lease_id)
        due = max(lease.requested_start, lease.submitted, told.instant if told is not None else 0)
        begun = facts.now if lease.started is None else lease.started
        hosts = None if lease.lease_id in changed or not lease.holdings else _hosts(lease, facts)
        bound = LATE
        if _others_were_late(lease, due, begun, facts):
            bound = _LATE_AFTER_LEASE
        if _had_guests(lease, due, facts):
            bound = _LATE_AFTER_GUESTS
        if facts.cloud is None:
            bound = _LATE_AFTER_BOOT
        if begun - max(due, _explained_until(facts, begun, hosts)) > bound:
            how = "has not started" if lease.started is None else "has started"
            what = f"{lease.name} {how} {begun - due:.0f} s after its start, and nothing explains it"
            yield Violation("reservations start in time", what, lease.lease_id)


def _others_were_late(lease: LeaseFact, due: float, begun: float, facts: Facts) -> bool:
    """Return whether another lease has left these hosts between the instant at which this one was due and its start.

    Of a lease that was moved to other hosts, the hosts of then are not known; all hosts count.
    """
    left = {
        each.lease_id
        for each in facts.history
        if each.before in _ON_HOSTS and each.after not in _ON_HOSTS and due <= each.instant <= begun
    }
    own = {host for each in lease.holdings for host in each.hosts}
    own |= {host for each in facts.stays if each.lease_id == lease.lease_id for host in each.hosts}
    is_known = bool(own) and lease.lease_id not in _changed(facts)
    return any(
        each.lease_id != lease.lease_id
        and each.lease_id in left
        and each.end >= due
        and (not is_known or not own.isdisjoint(each.hosts))
        for each in facts.stays
    )


def _had_guests(lease: LeaseFact, due: float, facts: Facts) -> bool:
    """Return whether servers had to leave the hosts of a lease before it could start.

    Of a lease that is over, or that was moved to other hosts, the hosts of then are not known; all hosts count.
    """
    hosts = frozenset() if lease.lease_id in _changed(facts) else _hosts(lease, facts)
    return facts.cloud is not None and any(
        (not hosts or host in hosts) and instant > due - _BEFORE
        for (host, lease_id), instant in facts.cloud.seen.items()
        if lease_id != lease.lease_id
    )


def late_ends(facts: Facts) -> Iterator[Violation]:
    """Find leases that run beyond their end although nothing explains it."""
    changed = _changed(facts)
    for lease in _promised(facts, _PROMISED):
        if lease.state != "active" or not lease.holdings:
            continue
        end = lease.holdings[0].end
        explained = _explained_until(facts, facts.now, None if lease.lease_id in changed else _hosts(lease, facts))
        if facts.now - max(end, explained) > LATE_END:
            what = f"{lease.name} is active {facts.now - end:.0f} s after its end, and nothing explains it"
            yield Violation("leases end in time", what, lease.lease_id)


def failed(facts: Facts) -> Iterator[Violation]:
    """Find leases with promised times that have failed although nothing explains it."""
    for each in facts.history:
        if each.after != "failed" or each.before == "failed":
            continue
        lease = facts.leases.get(each.lease_id)
        if lease is None or lease.kind not in _PROMISED or lease.is_maintenance:
            continue
        if last_trouble(facts.disturbances, each.instant) < each.instant - _EXPLAINED:
            what = f"{lease.name} has failed: {each.reason}"
            yield Violation("promised leases do not fail", what, lease.lease_id)
