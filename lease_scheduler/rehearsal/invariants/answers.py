"""The service answers in good weather, and refuses wrong requests as such."""

from __future__ import annotations

from collections.abc import Iterator

from lease_scheduler.rehearsal.disturbances import last_trouble
from lease_scheduler.rehearsal.invariants.facts import Facts, Violation

#: Seconds after a disturbance within which requests may still fail: another engine takes over, and programs connect
#: again.
RECOVERY = 60.0


def bad(facts: Facts) -> Iterator[Violation]:
    """Find errors of the service, requests without an answer, and wrong requests that were accepted.

    Errors are explained by what went wrong at that time. That a wrong request was accepted is not.
    """
    for each in facts.answers:
        is_error = each.status == 0 or each.status >= 500
        if is_error and last_trouble(facts.disturbances, each.instant) > each.began - RECOVERY:
            continue
        said = f"answered with {each.status}" if each.status else "not answered"
        what = f"{each.what} of {each.who} was {said} at {each.instant:.0f}"
        yield Violation("the service answers" if is_error else "wrong requests are refused", what)
