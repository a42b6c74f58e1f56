from __future__ import annotations

from dataclasses import replace

from lease_scheduler.cmd.rehearsing.casting import Cast
from lease_scheduler.cmd.rehearsing.shrinking import Case, shrunk

_CASE = Case(4, 5, 10_000.0, 7_500.0, Cast(("kill", "full", "clocks"), ("book", "boot", "end"), ("reload",), ("down",)))


def test_what_does_not_matter_is_left_out() -> None:
    ran = []

    def breaks(case: Case) -> float | None:
        ran.append(case)
        needed = "clocks" in (case.cast.faults or ()) and "book" in (case.cast.verbs or ()) and case.tenants >= 2
        return 3_000.0 if needed else None

    found = shrunk(_CASE, breaks)
    assert found.cast == Cast(("clocks",), ("book",), (), ())
    assert (found.hosts, found.tenants, found.seconds) == (1, 2, 3_001.0)
    assert found in [replace(each, seconds=found.seconds) for each in ran]
    assert len(ran) < 60


def test_a_case_in_which_everything_matters_stays() -> None:
    assert shrunk(_CASE, lambda case: None) == _CASE


def test_faults_that_come_too_late_to_matter_are_left_out() -> None:
    found = shrunk(_CASE, lambda case: 9_000.0 if case.calm >= 1_000 else None)
    assert 1_000 <= found.calm < 2_000
