"""The lease state machine: every pair of states, allowed or refused."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import IllegalTransitionError, LeaseSchedulerError
from lease_scheduler.model.states import (
    FINAL_STATES,
    PLANNED_STATES,
    SUSPENDED_STATES,
    TRANSITIONS,
    LeaseState,
    check_transition,
)

# Table 3.1 of Sotomayor 2010 with its rows corrected. What is behind the bar is not in that table: cancelling and
# failing, which it has as rows for "any" state; the loss of saved memory with its host; the end of a lease with saved
# memory; suspending again what could not be restored; rejection of a price given to a queued lease or of an offer; and
# transfers of images for leases that could start without them.
TABLE = """
new                 -> pending                                                           |
pending             -> scheduled queued rejected rejected-by-user                        | cancelled
queued              -> scheduled                                                     | cancelled rejected-by-user
scheduled           -> preparing ready queued pending                         | cancelled failed rejected-by-user
preparing           -> ready queued pending                                   | cancelled failed rejected-by-user
ready               -> active queued pending                        | cancelled failed rejected-by-user preparing
active              -> suspending queued ready done                                      | cancelled failed
suspending          -> suspended-pending                                                 | cancelled failed queued done
suspended-pending   -> suspended-queued suspended-scheduled                              | cancelled failed queued done
suspended-queued    -> suspended-scheduled                                               | cancelled failed queued done
suspended-scheduled -> suspended-queued suspended-pending migrating resuming             | cancelled failed queued done
migrating           -> suspended-scheduled                                               | cancelled failed queued done
resuming            -> resumed-ready                                          | cancelled failed queued done suspending
resumed-ready       -> active                                                            | cancelled failed queued done
done                ->                                                                   |
rejected            ->                                                                   |
rejected-by-user    ->                                                                   |
cancelled           ->                                                                   |
failed              ->                                                                   |
"""

ALLOWED = {
    LeaseState(before.strip()): {LeaseState(word) for word in after.replace("|", " ").split()}
    for before, after in (line.split("->") for line in TABLE.strip().splitlines())
}


def test_the_table_names_every_state() -> None:
    """haizea F15: 18 states and rejected-by-user."""
    assert set(ALLOWED) == set(LeaseState)
    assert len(ALLOWED) == 19


@pytest.mark.parametrize(("current", "wanted"), list(itertools.product(LeaseState, LeaseState)))
def test_a_transition_is_allowed_exactly_if_the_table_has_it(current: LeaseState, wanted: LeaseState) -> None:
    """haizea F15, F16: all 361 pairs of states."""
    if wanted in ALLOWED[current]:
        check_transition("7", current, wanted)
    else:
        with pytest.raises(IllegalTransitionError):
            check_transition("7", current, wanted)


def test_the_published_transitions_are_those_that_are_checked() -> None:
    """haizea F15: readers of ``TRANSITIONS`` see what ``check_transition`` does."""
    assert TRANSITIONS == ALLOWED


def test_final_states_are_those_without_a_successor() -> None:
    """haizea F15: done, rejected, rejected-by-user, cancelled, failed."""
    assert {state for state, after in ALLOWED.items() if not after} == FINAL_STATES
    assert {state.value for state in FINAL_STATES} == {"done", "rejected", "rejected-by-user", "cancelled", "failed"}


def test_a_consumer_can_cancel_whatever_is_not_over() -> None:
    """haizea F16: any state after new that is not final."""
    cancellable = {state for state in LeaseState if LeaseState.CANCELLED in TRANSITIONS[state]}
    assert cancellable == set(LeaseState) - FINAL_STATES - {LeaseState.NEW}


def reachable(first: LeaseState) -> frozenset[LeaseState]:
    """Return all states that a lease in the first one can still reach, including that one."""
    seen, new = frozenset[LeaseState](), frozenset({first})
    while new:
        seen |= new
        new = frozenset(after for state in new for after in TRANSITIONS[state]) - seen
    return seen


def test_every_state_can_be_reached() -> None:
    """haizea F15: every state can be reached."""
    assert reachable(LeaseState.NEW) == set(LeaseState)


@pytest.mark.parametrize("state", [state for state in LeaseState if state not in FINAL_STATES])
def test_no_state_is_a_trap(state: LeaseState) -> None:
    """haizea F15: from every state that is not final, work can still be done."""
    assert LeaseState.DONE in reachable(state)


def test_named_groups_of_states() -> None:
    """haizea F15: the groups that planning asks about."""
    assert {state.value for state in SUSPENDED_STATES} == {
        "suspended-pending",
        "suspended-queued",
        "suspended-scheduled",
        "migrating",
    }
    assert {state.value for state in PLANNED_STATES} == {"scheduled", "preparing", "ready", "suspended-scheduled"}


def test_a_refusal_names_the_lease_and_both_states() -> None:
    """haizea F15: an illegal transition fails only its lease, so the error names the lease."""
    with pytest.raises(
        IllegalTransitionError, match=r"^lease 42: a lease that is done cannot become active$"
    ) as caught:
        check_transition("42", LeaseState.DONE, LeaseState.ACTIVE)
    assert (caught.value.lease_id, caught.value.current, caught.value.wanted) == ("42", "done", "active")
    assert isinstance(caught.value, LeaseSchedulerError)


@given(st.lists(st.sampled_from(LeaseState), max_size=30))
def test_a_walk_through_the_machine_ends_at_most_once(wishes: list[LeaseState]) -> None:
    """haizea F15: whatever is tried, a lease in a final state stays in it."""
    state, ends = LeaseState.NEW, 0
    for wish in wishes:
        try:
            check_transition("1", state, wish)
        except IllegalTransitionError:
            continue
        state = wish
        ends += state in FINAL_STATES
    assert ends == (state in FINAL_STATES)
