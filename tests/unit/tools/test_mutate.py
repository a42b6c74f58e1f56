"""The sample of mutants, and the report about it; running them takes too long for a test."""

from __future__ import annotations

from tools.mutate import report, sample

_NAMES = {f"lease_scheduler.plan.{module}.x_f__mutmut_{number}": "" for module in "ab" for number in range(50)}


def test_a_seed_stands_for_a_sample() -> None:
    chosen = sample(_NAMES, "*", 10, 17)
    assert len(set(chosen)) == 10
    assert sample(dict(reversed(_NAMES.items())), "*", 10, 17) == chosen
    assert sample(_NAMES, "*", 10, 18) != chosen


def test_a_pattern_leaves_others_out() -> None:
    assert len(sample(_NAMES, "lease_scheduler.plan.a.*", 1_000, 17)) == 50
    assert sample(_NAMES, "lease_scheduler.engine.*", 10, 17) == []


def test_survivors_are_named_and_shares_are_those_of_mutants_that_were_run() -> None:
    statuses = {
        "lease_scheduler.plan.a.x_f__mutmut_1": "killed",
        "lease_scheduler.plan.a.x_f__mutmut_2": "survived",
        "lease_scheduler.plan.a.x_f__mutmut_3": "timeout",
        "lease_scheduler.engine.b.x_g__mutmut_1": "no tests",
        "lease_scheduler.engine.b.x_g__mutmut_2": "not checked",
    }
    assert report(statuses) == [
        "no tests: lease_scheduler.engine.b.x_g__mutmut_1",
        "not checked: lease_scheduler.engine.b.x_g__mutmut_2",
        "survived: lease_scheduler.plan.a.x_f__mutmut_2",
        "engine: 0 of 1 killed (0%)",
        "plan: 2 of 3 killed (67%)",
        "all: 2 of 4 killed (50%)",
        "To see what a mutant changes: mutmut show NAME",
    ]


def test_nothing_is_told_of_mutants_that_were_all_killed_but_the_shares() -> None:
    assert report({"lease_scheduler.nova.rules.x_f__mutmut_1": "killed"}) == [
        "nova: 1 of 1 killed (100%)",
        "all: 1 of 1 killed (100%)",
    ]
