"""Leases are neither lost, nor made twice, nor forgotten, and their history is legal."""

from __future__ import annotations

from collections.abc import Iterator

from lease_scheduler.model.states import FINAL_STATES, PLANNED_STATES, TRANSITIONS, LeaseState
from lease_scheduler.rehearsal.disturbances import last_trouble
from lease_scheduler.rehearsal.invariants.facts import Facts, Violation

#: Seconds by which a start or an end may be late in calm weather, with the work that Nova has to do before.
LATE = 900.0

#: Seconds that the cloud may need to end a lease after a client was told that it ends, and the same in bad weather.
_LATE_END = 60.0
_LATE_END_IN_BAD_WEATHER = 600.0

#: Seconds by which an offer may be held for longer than it was made for.
_LATE_EXPIRY = 60.0

#: Seconds after the last fault until everything has settled.
SETTLING = 900.0

_FINAL = frozenset(state.value for state in FINAL_STATES)
_PLANNED = frozenset(state.value for state in PLANNED_STATES)


def _reachable(state: LeaseState) -> frozenset[LeaseState]:
    """Return the states to which a chain of transitions leads."""
    found: set[LeaseState] = set()
    following = {state}
    while following:
        following = {each for one in following for each in TRANSITIONS[one]} - found
        found |= following
    return frozenset(found)


#: The history has one entry for all that happens to a lease at one instant.
_REACHABLE = {state: _reachable(state) for state in LeaseState}


def is_over(state: str) -> bool:
    """Return whether a state is a final one."""
    return state in _FINAL


def is_settled(facts: Facts) -> bool:
    """Return whether nothing has gone wrong for so long that everything must have settled."""
    if facts.calm_since is not None and facts.calm_since > SETTLING:
        return True
    return facts.now - last_trouble(facts.disturbances, facts.now) > SETTLING and bool(facts.disturbances)


def lost(facts: Facts) -> Iterator[Violation]:
    """Find leases that clients were told to have, and that do not exist."""
    for each in facts.told.values():
        if each.lease_id not in facts.leases:
            yield Violation("no lease is lost", f"{each.name} of {each.project} does not exist", each.lease_id)


def doubled(facts: Facts) -> Iterator[Violation]:
    """Find requests that made two leases. Tenants give every lease that they ask for a name of its own."""
    seen: dict[tuple[str, str], str] = {}
    for lease in facts.leases.values():
        first = seen.setdefault((lease.project, lease.name), lease.lease_id)
        if first != lease.lease_id and not lease.is_maintenance:
            what = f"{lease.name} of {lease.project} is {first} and {lease.lease_id}"
            yield Violation("a request makes one lease", what, lease.lease_id)


def revived(facts: Facts) -> Iterator[Violation]:
    """Find leases that go on although a client was told that they are over. The cloud may take a while to end them."""
    bound = _LATE_END if is_settled(facts) else _LATE_END_IN_BAD_WEATHER
    for lease_id, instant in facts.told_ends.items():
        lease = facts.leases.get(lease_id)
        if lease is not None and not is_over(lease.state) and facts.now - instant > bound:
            what = f"{lease.name} is {lease.state}, {facts.now - instant:.0f} s after its end was confirmed"
            yield Violation("a confirmed end is one", what, lease_id)


def forgotten(facts: Facts) -> Iterator[Violation]:
    """Find leases whose start or end is long overdue although nothing goes wrong."""
    if not is_settled(facts):
        return
    for lease in facts.leases.values():
        if lease.holdings and not is_over(lease.state):
            first = lease.holdings[0]
            due = first.run_start if lease.state in _PLANNED else first.end
            if facts.now - due > LATE:
                what = f"{lease.name} is {lease.state}, {facts.now - due:.0f} s after that was to end"
                yield Violation("no lease is forgotten", what, lease.lease_id)


def held(facts: Facts) -> Iterator[Violation]:
    """Find offers that are still held although they have expired and nothing goes wrong."""
    if not is_settled(facts):
        return
    for lease in facts.leases.values():
        until = lease.offered_until
        if until is not None and not is_over(lease.state) and facts.now - until > _LATE_EXPIRY:
            what = f"{lease.name} is {lease.state}, {facts.now - until:.0f} s after its offer has expired"
            yield Violation("an offer ends when it expires", what, lease.lease_id)


def stuck(facts: Facts) -> Iterator[Violation]:
    """Find operations that are long overdue although nothing goes wrong."""
    if not is_settled(facts):
        return
    changed: dict[str, float] = {each.lease_id: each.instant for each in facts.history}
    for each in facts.operations:
        # What destroys everything of a lease is due at once, when the lease ends or starts over.
        due = each.due or changed.get(each.lease_id, facts.now)
        if facts.now - due > LATE:
            what = f"{each.kind} is not completed, {facts.now - due:.0f} s after it was due"
            yield Violation("no operation is stuck", what, each.lease_id)


def compensated(facts: Facts) -> Iterator[Violation]:
    """Find leases with promised times that have failed, or started late, without a record of the breach."""
    recorded = {each.lease_id for each in facts.breaches}
    for lease in facts.leases.values():
        if lease.kind != "reservation" or lease.is_maintenance or lease.lease_id in recorded:
            continue
        if lease.state == LeaseState.FAILED.value and lease.offered_until is None:
            yield Violation(
                "breaches are recorded", f"{lease.name} has failed, and no breach is recorded", lease.lease_id
            )


def illegal(facts: Facts) -> Iterator[Violation]:
    """Find transitions that no chain of the state machine's explains, and histories with gaps."""
    states: dict[str, str] = {}
    for each in facts.history:
        known = states.get(each.lease_id)
        if known is not None and each.before != known:
            what = f"goes from {each.before} to {each.after}, but was {known}"
            yield Violation("histories have no gaps", what, each.lease_id)
        elif each.before != each.after and LeaseState(each.after) not in _REACHABLE[LeaseState(each.before)]:
            what = f"goes from {each.before} to {each.after}"
            yield Violation("transitions are legal", what, each.lease_id)
        states[each.lease_id] = each.after
    for lease_id, state in states.items():
        lease = facts.leases.get(lease_id)
        if lease is not None and lease.state != state:
            what = f"is {lease.state}, but its history ends with {state}"
            yield Violation("the history tells the state", what, lease_id)
