"""The cloud agrees with the database, and nothing is left of leases that are over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lease_scheduler.rehearsal.disturbances import last_trouble
from lease_scheduler.rehearsal.invariants.facts import CloudFacts, Facts, LeaseFact, Violation
from lease_scheduler.rehearsal.invariants.promises import LATE, is_over, is_settled

#: Seconds for which something of a lease may be left after its end: fewer than until the next repair, which would hide
#: that something is not removed.
LEFT = 180.0

#: The same in bad weather. Hosts are down for up to an hour.
_LEFT_IN_BAD_WEATHER = 7_200.0

_ACTIVE = "active"

#: Seconds between two looks, up to which it is unknown which of two things was first.
_BLUR = 10.0

#: Seconds after a disturbance within which cloud and database may differ.
_RECOVERY = 600.0

#: Seconds that a server may need until it is active, or has failed.
_BOOT_TIME = 120.0


def _hosts_now(lease: LeaseFact, facts: Facts) -> list[str]:
    """Return the names of the hosts on which a lease runs now."""
    found = [each for each in lease.holdings if each.run_start <= facts.now < each.end]
    return sorted({facts.hosts[host].name for each in found for host in each.hosts if host in facts.hosts})


def owners(facts: Facts) -> Mapping[str, LeaseFact]:
    """Return the lease that runs on each host that it has for itself."""
    return {
        host: lease
        for lease in facts.leases.values()
        if lease.state == _ACTIVE and lease.is_exclusive and not lease.is_maintenance
        for host in _hosts_now(lease, facts)
    }


def trespassed(facts: Facts) -> Iterator[Violation]:
    """Find running servers of others on hosts that a running lease has for itself.

    Preempted servers that do not leave in time are switched off where they are, unless an operator wants it otherwise.
    """
    if facts.cloud is None:
        return
    found = owners(facts)
    for server in facts.cloud.servers:
        lease = found.get(server.host or "")
        if lease is not None and server.runs and server.project != lease.project:
            what = f"server {server.server_id} ({server.state}) of {server.project} is on {server.host}"
            yield Violation("nobody uses hosts of another lease", what, lease.lease_id)


def intruded(facts: Facts) -> Iterator[Violation]:
    """Find servers of others that came to a host after a lease had it for itself. It does not matter who let them."""
    if facts.cloud is None:
        return
    since = {host: (lease_id, instant) for (lease_id, host), instant in facts.cloud.owned.items()}
    for server in facts.cloud.servers:
        lease_id, instant = since.get(server.host or "", ("", facts.now))
        if server.since - instant > _BLUR and server.project != facts.leases[lease_id].project:
            what = f"server {server.server_id} ({server.state}) of {server.project} came to {server.host}"
            yield Violation("nobody comes to hosts of another lease", what, lease_id)


def unfiltered(facts: Facts) -> Iterator[Violation]:
    """Find ordinary servers without a lease that came to hosts of the pool. They keep off the pool."""
    for server in () if facts.cloud is None else facts.cloud.servers:
        pool = facts.cloud.pool.get(server.host or "") if facts.cloud is not None else None
        is_ordinary = server.lease_id is None and not (server.is_preemptible or server.is_resized)
        if pool is not None and is_ordinary and server.since - pool > _BLUR:
            what = f"server {server.server_id} ({server.state}) of {server.project} came to {server.host}"
            yield Violation("ordinary servers keep off the pool", what)


def misplaced(facts: Facts) -> Iterator[Violation]:
    """Find servers in leases of others, and servers that came to hosts that their lease does not have."""
    if facts.cloud is None:
        return
    is_calm = last_trouble(facts.disturbances, facts.now) <= facts.now - _RECOVERY
    for server in facts.cloud.servers:
        lease = facts.leases.get(server.lease_id or "")
        if lease is None or server.host is None or server.since != facts.now:
            continue
        if server.project != lease.project:
            what = f"server {server.server_id} of {server.project} came to {server.host}"
            yield Violation("nobody uses another's lease", what, lease.lease_id)
        elif is_calm and not is_over(lease.state) and lease.holdings and server.host not in _hosts_lately(lease, facts):
            what = f"server {server.server_id} came to {server.host}, which the lease does not have"
            yield Violation("servers of a lease are on its hosts", what, lease.lease_id)


def _hosts_lately(lease: LeaseFact, facts: Facts) -> set[str]:
    """Return the names of the hosts that a lease has, has had a moment ago, or is about to have."""
    found = [each for each in lease.holdings if each.start - LATE <= facts.now < each.end + LATE]
    return {facts.hosts[host].name for each in found for host in each.hosts if host in facts.hosts}


def unheld(facts: Facts) -> Iterator[Violation]:
    """Find running leases on shared hosts whose capacity is not held in Placement."""
    if facts.cloud is None or last_trouble(facts.disturbances, facts.now) > facts.now - _RECOVERY:
        return
    for lease in facts.leases.values():
        if lease.state != _ACTIVE or lease.is_maintenance or lease.is_exclusive or not lease.holdings:
            continue
        now = lease.holdings[0]
        if now.run_start + LATE < facts.now < now.run_end:
            held = facts.cloud.holders.get(lease.lease_id, 0)
            if held < len(lease.nodes):
                what = f"capacity is held for {held} of its {len(lease.nodes)} nodes"
                yield Violation("a running lease holds its capacity", what, lease.lease_id)


def unusable(facts: Facts) -> Iterator[Violation]:
    """Find servers that could not start in an active lease although there was room for them."""
    if facts.cloud is None:
        return
    states = {each.server_id: each.state for each in facts.cloud.servers}
    for each in facts.booted.values():
        lease = facts.leases.get(each.lease_id)
        if lease is None or states.get(each.server_id) != "error" or lease.state != _ACTIVE:
            continue
        now = lease.holdings[0] if lease.holdings else None
        if now is None or not now.run_start + LATE <= each.instant < now.run_end - LATE:
            continue
        if last_trouble(facts.disturbances, each.instant + _BOOT_TIME) < each.instant - _RECOVERY:
            what = f"server {each.server_id}, booted at {each.instant:.0f}, could not start"
            yield Violation("an active lease can be used", what, lease.lease_id)


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
