"""The kinds of lease that terms imply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.simulation.formats.implied_kind import derive_kind

HOUR = 3600


@pytest.mark.parametrize(
    ("start", "now", "deadline", "kind"),
    [
        (None, False, None, LeaseKind.BEST_EFFORT),
        (None, True, None, LeaseKind.IMMEDIATE),
        (500, False, None, LeaseKind.RESERVATION),
        (500, False, 500 + HOUR, LeaseKind.RESERVATION),
        (500, False, 501 + HOUR, LeaseKind.DEADLINE),
        (None, False, 100 + HOUR, LeaseKind.RESERVATION),
        (None, False, 101 + HOUR, LeaseKind.DEADLINE),
    ],
)
def test_the_kind_follows_from_the_terms(start: int | None, now: bool, deadline: int | None, kind: LeaseKind) -> None:
    """haizea F9-F12, section 3.2: submitted at 100, for an hour."""
    assert derive_kind(submitted=100, start=start, now=now, duration=HOUR, deadline=deadline) is kind


@given(
    submitted=st.integers(0, 10**6),
    delay=st.none() | st.integers(0, 10**6),
    duration=st.integers(1, 10**6),
    slack=st.none() | st.integers(0, 10**6),
)
def test_terms_of_the_derived_kind_are_accepted(
    submitted: int, delay: int | None, duration: int, slack: int | None
) -> None:
    """haizea F6: the model accepts what the rule derives."""
    start = None if delay is None else submitted + delay
    deadline = None if slack is None else (submitted if start is None else start) + duration + slack
    kind = derive_kind(submitted=submitted, start=start, now=False, duration=duration, deadline=deadline)
    if start is None and deadline is not None:
        start = submitted
    made = LeaseRequest(
        "1",
        kind,
        (NodeSet(2, Resources({VCPU: 1})),),
        submitted=submitted,
        start=start,
        duration=duration,
        deadline=deadline if kind is LeaseKind.DEADLINE else None,
    )
    assert made.kind is kind
