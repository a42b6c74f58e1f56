"""The cloud agrees with the database, and nothing is left of leases that are over."""

from __future__ import annotations

from collections.abc import Iterator

from lease_scheduler.rehearsal.invariants.facts import CloudFacts, Facts, LeaseFact, Violation
from lease_scheduler.rehearsal.invariants.promises import LATE, is_over, is_settled

#: Seconds for which something of a lease may be left after its end: fewer than until the next repair, which would hide
#: that something is not removed.
LEFT = 180.0

#: The same in bad weather. Hosts are down for up to an hour.
_LEFT_IN_BAD_WEATHER = 7_200.0

_ACTIVE = "active"


def _hosts_now(lease: LeaseFact, facts: Facts) -> list[str]:
    """Return the names of the hosts on which a lease runs now."""
    found = [each for each in lease.holdings if each.run_start <= facts.now < each.end]
    return sorted({facts.hosts[host].name for each in found for host in each.hosts if host in facts.hosts})


def trespassed(facts: Facts) -> Iterator[Violation]:
    """Find running servers of others on hosts that a running lease has for itself.

    Preempted servers that do not leave in time are switched off where they are, unless an operator wants it otherwise.
    """
    if facts.cloud is None:
        return
    owners = {
        host: lease
        for lease in facts.leases.values()
        if lease.state == _ACTIVE and lease.is_exclusive and not lease.is_maintenance
        for host in _hosts_now(lease, facts)
    }
    for server in facts.cloud.servers:
        lease = owners.get(server.host or "")
        if lease is not None and server.runs and server.project != lease.project:
            what = f"server {server.server_id} ({server.state}) of {server.project} is on {server.host}"
            yield Violation("nobody uses hosts of another lease", what, lease.lease_id)


def left(facts: Facts) -> Iterator[Violation]:
    """Find what is left in the cloud of leases that are over, or that never existed."""
    if facts.cloud is None:
        return
    bound = LEFT if is_settled(facts) else _LEFT_IN_BAD_WEATHER
    for what, lease_id in facts.cloud.traces.items():
        lease = facts.leases.get(lease_id)
        if lease is None:
            if is_settled(facts):
                yield Violation(
                    "nothing is left of a lease", f"{what} is left of a lease that does not exist", lease_id
                )
        elif is_over(lease.state) and lease.ended is not None and facts.now - lease.ended > bound:
            since = facts.now - lease.ended
            yield Violation("nothing is left of a lease", f"{what} is left, {since:.0f} s after its end", lease_id)


def missing(facts: Facts) -> Iterator[Violation]:
    """Find running leases that do not have their hosts in Nova although nothing goes wrong."""
    if facts.cloud is None or not is_settled(facts):
        return
    for lease in facts.leases.values():
        if lease.state == _ACTIVE and not lease.is_maintenance and lease.is_exclusive:
            yield from _missing_hosts(lease, facts, facts.cloud)


def _missing_hosts(lease: LeaseFact, facts: Facts, cloud: CloudFacts) -> Iterator[Violation]:
    begun = any(each.run_start + LATE < facts.now for each in lease.holdings if facts.now < each.end)
    wanted, found = set(_hosts_now(lease, facts)), set(cloud.aggregates.get(lease.lease_id, ()))
    if begun and wanted != found:
        what = f"it has {sorted(found)} in Nova, but {sorted(wanted)} in the database"
        yield Violation("a running lease has its hosts", what, lease.lease_id)
