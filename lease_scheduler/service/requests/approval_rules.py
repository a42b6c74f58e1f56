"""Which leases need approval: rules with reasons, without any state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from lease_scheduler.model.durations import exactly
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST

#: Key of the number of nodes among amounts of resource classes; no resource class has a small letter.
NODES = "nodes"

_HOUR = 3_600


@dataclass(frozen=True)
class ApprovalRules:
    """Rules that say which leases need approval, and for how long these are held until it is decided.

    A threshold counts a lease together with the other live leases of its project that were not approved, so that no
    project splits a large lease into several small ones. Without a threshold, every lease of the kinds needs approval.

    :ivar kinds: the kinds of lease that may need it; empty if none does
    :ivar hours: threshold in amount times hours, by resource class or ``NODES``
    :ivar lead_time: seconds from now; a lease that starts later than that needs approval. -1 for no such threshold
    :ivar hold_time: seconds for which a lease is held until it is decided, or fewer if it starts earlier
    :ivar maximum_waiting: maximum number of leases of a project that wait for approval; -1 for no bound
    :ivar exempt: projects whose leases need none
    """

    kinds: frozenset[LeaseKind] = frozenset()
    hours: Mapping[str, int] = field(default_factory=dict)
    lead_time: int = -1
    hold_time: int = 3 * 86_400
    maximum_waiting: int = 10
    exempt: frozenset[str] = frozenset()

    def concern(self, kind: LeaseKind, project_id: str) -> bool:
        """Return whether leases of a kind may need approval in a project."""
        return kind in self.kinds and project_id not in self.exempt

    def reason(
        self, request: LeaseRequest, others: Iterable[LeaseRequest], hosts: Iterable[Mapping[str, int]], now: int
    ) -> str | None:
        """Return why a lease needs approval, or None if it needs none. Call this only if ``concern`` is true of it.

        :param others: the other leases with which it counts
        :param hosts: capacity of each host of the site
        """
        if not self.hours and self.lead_time < 0:
            return f"every {request.kind.value} lease does"
        if self.lead_time >= 0 and request.start is not None and request.start > now + self.lead_time:
            return f"it starts more than {exactly(self.lead_time)} ahead"
        if not self.hours:
            return None
        largest = _largest(hosts)
        own = _hours(request, largest)
        beside = [_hours(each, largest) for each in others]
        for name, most in self.hours.items():
            asked = own.get(name, 0)
            if asked > most:
                return f"it is for more than {_amount(most, name)}"
            # A lease that uses nothing of a class cannot be what exceeds it.
            if asked and asked + sum(each.get(name, 0) for each in beside) > most:
                return f"it is for more than {_amount(most, name)}, together with other leases of the project"
        return None


def only_shrinks(before: LeaseRequest, after: LeaseRequest) -> bool:
    """Return whether new terms ask for no more than the present ones: the same nodes or fewer, within the same time."""
    if any(getattr(before, name) != getattr(after, name) for name in _SAME):
        return False
    if after.duration > before.duration or len(after.nodes) != len(before.nodes):
        return False
    if before.start is not None and after.start is not None:
        end, latest = after.start + after.duration, before.start + before.duration
        if after.start < before.start or (before.deadline is None and end > latest):
            return False
    if before.deadline is not None and (after.deadline is None or after.deadline > before.deadline):
        return False
    return all(_is_part(new, old) for new, old in zip(after.nodes, before.nodes, strict=True))


_SAME = ("kind", "preemptible", "preemption_mode", "min_yield", "software", "moves_others")


def _is_part(new: NodeSet, old: NodeSet) -> bool:
    alike = replace(new, count=old.count, count_range=old.count_range, boots=old.boots)
    return alike == old and new.most <= old.most


def _largest(hosts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """Return the largest capacity of any host, by class: what a whole host has at most."""
    largest: Counter[str] = Counter()
    for capacity in hosts:
        largest |= Counter(capacity)
    return largest


def _hours(request: LeaseRequest, largest: Mapping[str, int]) -> dict[str, Fraction]:
    """Return the most that a lease may use, in amounts times hours, by class and for ``NODES``.

    Servers that must share a host are planned as one node, but each of them counts.
    """
    total: Counter[str] = Counter()
    for each in request.nodes:
        needs = each.needs
        is_whole = needs.get(HOST_SHARE) == WHOLE_HOST
        for name, amount in (largest if is_whole else needs).items():
            if name != FLOATING_IP or not is_whole:
                total[name] += each.most * amount
        total[NODES] += 0 if FLOATING_IP in needs else each.most * each.servers_per_vm
    # Exact, so that a lease of exactly the threshold does not depend on rounding.
    return {name: Fraction(amount * request.duration, _HOUR) for name, amount in total.items()}


def _amount(hours: int, name: str) -> str:
    return f"{hours} {'node-hours' if name == NODES else f'{name} times hours'}"
