"""Reservations."""

from __future__ import annotations

from lease_scheduler.model.holding import Closing, Holding, MigrationRound


def test_the_first_instant_without_migrations_is_the_start() -> None:
    """haizea F28: a resumption, if there is one, is part of the reservation."""
    reservation = Holding((0, 1), start=100, run_start=120, run_end=200, end=230, closing=Closing.SUSPEND)
    assert reservation.first_instant == 100


def test_the_first_instant_with_migrations_is_the_first_of_them() -> None:
    """haizea F54: memory moves before any host is held."""
    rounds = (MigrationRound(40, 60, ((0, 3, 0),)), MigrationRound(60, 80, ((1, 3, 1),)))
    reservation = Holding((0, 1), start=100, run_start=120, run_end=200, end=200, migrations=rounds)
    assert reservation.first_instant == 40


def test_several_vms_of_one_host_hold_one_host() -> None:
    """haizea F33: the hosts are a set, the assignment is per VM."""
    reservation = Holding((2, 2, 0), start=0, run_start=0, run_end=10, end=10)
    assert reservation.hosts == {0, 2}
    assert reservation.closing is Closing.SHUTDOWN
