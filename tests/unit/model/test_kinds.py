"""Kinds of lease and modes of preemption."""

from __future__ import annotations

import pickle

import pytest

from lease_scheduler.model.kinds import LeaseKind, PreemptionMode


def test_the_words_that_users_see() -> None:
    """haizea F9-F12: results are read by scripts, so these words stay."""
    assert [kind.value for kind in LeaseKind] == ["reservation", "immediate", "deadline", "best-effort"]
    assert [mode.value for mode in PreemptionMode] == ["shelve", "suspend", "stop", "delete", "migrate", "none"]


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("promises_interval", {LeaseKind.RESERVATION, LeaseKind.IMMEDIATE}),
        ("has_start", {LeaseKind.RESERVATION, LeaseKind.DEADLINE}),
        ("is_prepared", {LeaseKind.RESERVATION, LeaseKind.DEADLINE}),
        ("is_preemptor", {LeaseKind.RESERVATION, LeaseKind.DEADLINE}),
        ("is_preemptible_by_default", {LeaseKind.DEADLINE, LeaseKind.BEST_EFFORT}),
    ],
)
def test_questions_about_kinds(question: str, kinds: set[LeaseKind]) -> None:
    assert {kind for kind in LeaseKind if getattr(kind, question)} == kinds


def test_a_kind_is_its_word() -> None:
    assert [kind.value for kind in LeaseKind] == ["reservation", "immediate", "deadline", "best-effort"]
    assert all(LeaseKind(kind.value) is kind and pickle.loads(pickle.dumps(kind)) is kind for kind in LeaseKind)


def test_reservations_get_new_hosts_first() -> None:
    assert sorted(LeaseKind, key=lambda kind: kind.precedence) == list(LeaseKind)
