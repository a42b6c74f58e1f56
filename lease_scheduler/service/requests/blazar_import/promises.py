"""Check that hosts can hold everything that is promised on them, at every instant."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from lease_scheduler.model.host import Host
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, Resources
from lease_scheduler.service.requests.blazar_import.findings import Finding, shown_instant


@dataclass(frozen=True)
class Claim:
    """Resources on a host that are promised to one node of a lease, or an address that is promised to a lease.

    :ivar start: start of the interval, in seconds since the epoch
    :ivar end: its end, which is not part of it, in seconds since the epoch
    """

    lease_id: str
    host: str
    start: int
    end: int
    resources: Resources
    required_traits: frozenset[str] = frozenset()


def broken_promises(hosts: Mapping[str, Host], claims: Iterable[Claim], new: Collection[str]) -> list[Finding]:
    """Return the promises that cannot be kept together, and those that not even an empty host can keep.

    Leases that conflict on a host several times are reported once.

    :param hosts: hosts by name, including the host of each claim
    :param new: ids of the leases to check; conflicts among other leases are not reported
    """
    of_host: defaultdict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        of_host[claim.host].append(claim)
    found = []
    for name in sorted(of_host):
        host = hosts[name]
        possible: list[Claim] = []
        impossible: list[Claim] = []
        for claim in of_host[name]:
            can_hold = host.can_ever_hold(claim.resources, claim.required_traits)
            (possible if can_hold else impossible).append(claim)
        found += _one_by_one(host, [claim for claim in impossible if claim.lease_id in new])
        found += _together(host, possible, frozenset(new))
    return found


def _one_by_one(host: Host, claims: Iterable[Claim]) -> list[Finding]:
    reasons = dict.fromkeys((claim.lease_id, _why_never(host, claim)) for claim in claims)
    return [Finding(f"lease {lease_id}", reason) for lease_id, reason in reasons]


def _why_never(host: Host, claim: Claim) -> str:
    lacking = sorted(claim.required_traits - host.traits)
    if lacking:
        return f"its host {host.name} has no trait {lacking[0]}"
    amounts = [
        f"{amount:,} {name} of {min(host.capacity.get(name, 0), host.max_unit.get(name, amount)):,}"
        for name, amount in claim.resources.items()
        if amount > host.capacity.get(name, 0) or amount > host.max_unit.get(name, amount)
    ]
    return f"needs more of its host {host.name} than one server can get: {', '.join(amounts)}"


def _together(host: Host, claims: list[Claim], new: frozenset[str]) -> list[Finding]:
    """Return a finding for each instant at which a claim starts and the host has too little for all claims."""
    # At the same instant, ends come before starts, as intervals exclude their end.
    changes = sorted(
        [(claim.start, 1, number) for number, claim in enumerate(claims)]
        + [(claim.end, 0, number) for number, claim in enumerate(claims)]
    )
    used: Counter[str] = Counter()
    present: dict[int, Claim] = {}
    told: set[frozenset[str]] = set()
    found = []
    for instant, begins, number in changes:
        claim = claims[number]
        if not begins:
            used.subtract(claim.resources)
            present.pop(number, None)
            continue
        used.update(claim.resources)
        present[number] = claim
        exceeded = [name for name in claim.resources if used[name] > host.capacity.get(name, 0)]
        leases = frozenset(each.lease_id for each in present.values())
        if exceeded and leases & new and not any(leases <= known for known in told):
            told.add(leases)
            found.append(Finding(f"leases {', '.join(sorted(leases))}", _why_together(host, exceeded, used, instant)))
    return found


def _why_together(host: Host, exceeded: list[str], used: Mapping[str, int], instant: int) -> str:
    at = shown_instant(instant)
    if FLOATING_IP in exceeded:
        return f"more than one has address {host.name} at {at}"
    if HOST_SHARE in exceeded:
        return f"one has the whole host {host.name} and others have it too at {at}"
    amounts = ", ".join(f"{used[name]:,} {name} of {host.capacity.get(name, 0):,}" for name in exceeded)
    return f"host {host.name} cannot hold all of them at {at}: {amounts}"
