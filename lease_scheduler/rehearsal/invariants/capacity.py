"""No host is promised or used beyond what it has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from lease_scheduler.rehearsal.invariants.facts import Facts, LeaseFact, Violation
from lease_scheduler.rehearsal.invariants.promises import is_over


def oversold(facts: Facts) -> Iterator[Violation]:
    """Find hosts of which the plan promises more than they have, from now on."""
    changes: dict[tuple[str, str], list[tuple[int, int, LeaseFact]]] = defaultdict(list)
    for lease in facts.leases.values():
        for holding in () if is_over(lease.state) or lease.is_maintenance else lease.holdings:
            for host, amounts in zip(holding.hosts, lease.nodes, strict=False):
                if host in facts.hosts and holding.end > facts.now:
                    for name, amount in amounts.items():
                        changes[host, name] += [(holding.start, amount, lease), (holding.end, -amount, lease)]
    for (host, name), found in changes.items():
        held, capacity = 0, facts.hosts[host].capacity.get(name, 0)
        # At one instant, what ends precedes what starts.
        for instant, amount, lease in sorted(found, key=lambda each: each[:2]):
            held += amount
            if held > capacity and amount > 0 and instant >= facts.now:
                what = f"{facts.hosts[host].name} has {capacity} {name}, and {held} are promised at {instant}"
                yield Violation("no host is oversold in the plan", what, lease.lease_id)


def overfull(facts: Facts) -> Iterator[Violation]:
    """Find providers of which Placement has granted more than they have."""
    for provider in () if facts.cloud is None else facts.cloud.providers:
        for name, amount in provider.used.items():
            if amount > provider.capacity.get(name, 0):
                what = f"{provider.name} has {provider.capacity.get(name, 0)} {name}, and {amount} are granted"
                yield Violation("no host is oversold in Placement", what)
