"""Every transition is told at least once, and those of a lease in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from lease_scheduler.rehearsal.disturbances import last_trouble
from lease_scheduler.rehearsal.invariants.facts import Facts, Violation
from lease_scheduler.rehearsal.invariants.promises import is_settled

#: A transition: instant, state before it, state after it.
_Step = tuple[int, str, str]

#: Seconds that a notification may wait, and that a transition may have been told of too late, in good weather.
_LATE = 60.0

#: Seconds after a disturbance within which an engine takes over and sends again.
_RECOVERY = 120.0


def untold(facts: Facts) -> Iterator[Violation]:
    """Find transitions of which no notification was sent, and notifications that were sent in another order."""
    sent: dict[str, list[_Step]] = defaultdict(list)
    for each in facts.sent:
        sent[each.lease_id].append((each.instant, each.before, each.after))
    happened: dict[str, list[_Step]] = defaultdict(list)
    for fact in facts.history:
        if fact.before != fact.after:
            happened[fact.lease_id].append((fact.instant, fact.before, fact.after))
    # What happens on compute hosts keeps nobody from sending.
    calm = last_trouble(facts.disturbances, facts.now, frozenset())
    for lease_id, steps in happened.items():
        yield from _compared(lease_id, steps, sent[lease_id], facts.now - max(0.0, calm + _RECOVERY), facts.now)


def _compared(
    lease_id: str, happened: Sequence[_Step], sent: Sequence[_Step], quiet: float, now: float
) -> Iterator[Violation]:
    """Compare what has happened to a lease with what was sent, of which any part may have been sent again.

    :param quiet: seconds for which nothing has kept notifications from being sent
    """
    told = 0
    for step in sent:
        if told < len(happened) and step == happened[told]:
            told += 1
        elif step not in happened[:told] and step in happened:
            what = f"{step} was sent before {happened[told]}"
            yield Violation("notifications are in order", what, lease_id)
            return
    if told < len(happened) and min(quiet, now - happened[told][0]) > _LATE:
        yield Violation("every transition is told", f"{happened[told]} was not sent", lease_id)


def waiting(facts: Facts) -> Iterator[Violation]:
    """Find notifications that wait although nothing goes wrong."""
    if is_settled(facts) and facts.waiting and facts.now - min(facts.waiting) > _LATE:
        since = facts.now - min(facts.waiting)
        yield Violation("notifications do not wait", f"{len(facts.waiting)} wait, one of them since {since:.0f} s")
