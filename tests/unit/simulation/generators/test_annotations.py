"""Random annotations (haizea F26, F77, sections 4.20 and 5.2)."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.formats.lwf_terms import SoftwareTerm, StartTerm
from lease_scheduler.simulation.formats.lwfa import Annotations, annotate
from lease_scheduler.simulation.formats.swf import SwfOptions, read_swf
from lease_scheduler.simulation.generators.annotations import (
    AnnotationRules,
    DeadlineStretchMode,
    ImageChoice,
    StartDelayMode,
    generate_annotations,
    generate_deadline_annotations,
    generate_positional_annotations,
    image_choice,
    law_by_name,
)
from lease_scheduler.simulation.generators.distributions import (
    BoundedNormal,
    Constant,
    Inverted,
    TruncatedPareto,
    Uniform,
)
from lease_scheduler.simulation.workload import Workload, WorkloadLease

NODES = (NodeSet(1, Resources({VCPU: 100})),)


def workload_of(*, duration: int = 100, users: tuple[str | None, ...] = ("a",), **extras: str) -> Workload:
    requests = (
        LeaseRequest(
            str(number), LeaseKind.BEST_EFFORT, NODES, 50 * number, duration, preemptible=True, user=user, extras=extras
        )
        for number, user in enumerate(users)
    )
    return Workload("w", tuple(WorkloadLease(request) for request in requests))


MANY = workload_of(duration=3600, users=tuple(str(number % 50) for number in range(4000)))


def numbers(annotations: Annotations, name: str) -> list[float]:
    return [float(entry.extras[name]) for entry in annotations.entries]


def test_start_and_deadline_follow_from_the_draws() -> None:
    """haizea 4.20: start = submit + delta, deadline = start + omega + duration; tau = omega / duration."""
    annotations = generate_deadline_annotations(MANY, "uniform", "uniform", 5)
    for entry, lease in zip(annotations.entries, MANY.leases, strict=True):
        assert entry.lease_id == lease.request.lease_id
        assert entry.start is not None
        assert entry.start.exact is not None
        assert entry.deadline is not None
        wait = entry.deadline - entry.start.exact - 3600
        assert 0 <= entry.start.exact <= 86_400
        assert 0 <= wait <= 604_800
        assert entry.start.exact == pytest.approx(float(entry.extras["simul_start_delta"]), abs=0.51)
        assert float(entry.extras["simul_deadline_tau"]) == pytest.approx(wait / 3600, abs=0.006)
        assert entry.software is None
    assert annotations.attributes == {"delta": "uniform", "tau": "uniform"}


def test_annotated_leases_are_deadline_leases() -> None:
    annotations = generate_deadline_annotations(MANY, "pareto", "invpareto", 5, "pareto")
    annotated = annotate(MANY, annotations)
    assert {lease.request.kind for lease in annotated.leases} == {LeaseKind.DEADLINE}
    assert annotated.attributes == {"delta": "pareto", "tau": "invpareto", "mu": "pareto"}
    first = annotated.leases[0].request
    assert first.start == annotations.entries[0].start.exact  # type: ignore[union-attr]
    assert first.deadline == annotations.entries[0].deadline


@pytest.mark.parametrize(
    ("law", "cdf"),
    [
        ("uniform", lambda x: x),
        ("pareto", lambda x: (10 * x / (1 + 10 * x)) * 1.1),
        ("invpareto", lambda x: 1 - (10 * (1 - x) / (1 + 10 * (1 - x))) * 1.1),
    ],
)
def test_delays_have_the_named_law(law: str, cdf: Callable[[np.ndarray], np.ndarray]) -> None:
    """haizea 5.2: EARLY is skewed to the minimum, LATE to the maximum."""
    delays = np.array(numbers(generate_deadline_annotations(MANY, law, "uniform", 3), "simul_start_delta")) / 86_400
    assert stats.kstest(delays, cdf).pvalue > 0.01


def test_each_user_has_one_rate_and_each_unknown_one_its_own() -> None:
    """haizea F77, 8.2 item 11."""
    workload = workload_of(users=("a", "b", "a", None, None, "-1", "b"))
    rates = numbers(generate_deadline_annotations(workload, "uniform", "uniform", 9, "uniform"), "simul_userrate")
    assert rates[0] == rates[2]
    assert rates[1] == rates[6]
    assert len({rates[0], rates[1], rates[3], rates[4], rates[5]}) == 5
    assert all(0.10 <= rate <= 10 for rate in rates)


def test_constant_users_pay_a_rate_of_1() -> None:
    rates = numbers(generate_deadline_annotations(MANY, "uniform", "uniform", 9, "constant"), "simul_userrate")
    assert set(rates) == {1.0}


def test_rates_do_not_shift_starts_and_deadlines() -> None:
    plain = generate_deadline_annotations(MANY, "pareto", "pareto", 4)
    priced = generate_deadline_annotations(MANY, "pareto", "pareto", 4, "pareto")
    assert [(entry.start, entry.deadline) for entry in plain.entries] == [
        (entry.start, entry.deadline) for entry in priced.entries
    ]
    assert priced == generate_deadline_annotations(MANY, "pareto", "pareto", 4, "pareto")
    assert priced != generate_deadline_annotations(MANY, "pareto", "pareto", 5, "pareto")


def test_a_part_may_have_its_own_seed() -> None:
    rules = AnnotationRules(start_delay=Uniform(0, 1000), user_rate=Uniform(0, 1))
    plain = generate_annotations(rules, MANY, 1)
    seeded = generate_annotations(rules, MANY, 1, {"start-delay": 2})
    assert numbers(plain, "simul_userrate") == numbers(seeded, "simul_userrate")
    assert numbers(plain, "simul_start_delta") != numbers(seeded, "simul_start_delta")
    assert numbers(seeded, "simul_start_delta") == numbers(generate_annotations(rules, MANY, 2), "simul_start_delta")


def test_delay_and_stretch_may_be_multiples_of_the_duration() -> None:
    """haizea 4.20: other modes of the delay and the stretch."""
    rules = AnnotationRules(
        start_delay=Constant(0.508),
        start_mode=StartDelayMode.MULTIPLE_OF_DURATION,
        deadline_stretch=Constant(1.5),
        deadline_mode=DeadlineStretchMode.MULTIPLE_OF_DURATION,
    )
    entry = generate_annotations(rules, workload_of(duration=100), 1).entries[0]
    assert entry.start == StartTerm(exact=51)
    assert entry.deadline == 51 + 100 + 150
    assert entry.extras == {"simul_start_delta": "0.51", "simul_deadline_tau": "1.50"}


def test_the_stretch_follows_from_the_recorded_slowdown() -> None:
    """haizea 4.20: tau' = (slowdown - 1) * (tau - min) / (max - min), run times below 10 s count as 10 s."""
    workload = workload_of(duration=1000, SWF_waittime="30", SWF_runtime="4")
    rules = AnnotationRules(
        start_delay=Constant(0),
        deadline_stretch=Uniform(2, 4),
        deadline_mode=DeadlineStretchMode.ORIGINAL_SLOWDOWN,
    )
    seen = set()
    for seed in range(20):
        entry = generate_annotations(rules, workload, seed).entries[0]
        drawn = float(Uniform(2, 4).draw(random_stream(seed, "deadline-stretch"), 1)[0])
        assert entry.deadline == 1000 + math.floor(3 * (drawn - 2) / 2 * 1000 + 0.5)
        seen.add(entry.deadline)
    assert len(seen) > 15


@pytest.mark.parametrize("extras", [{}, {"SWF_waittime": "5"}, {"SWF_waittime": "-1", "SWF_runtime": "5"}])
def test_original_slowdown_needs_the_log(extras: dict[str, Any]) -> None:
    rules = AnnotationRules(deadline_stretch=Uniform(0, 1), deadline_mode=DeadlineStretchMode.ORIGINAL_SLOWDOWN)
    with pytest.raises(InvalidValueError, match=r"needs the extra SWF_\w+ of at least 0 in lease 0"):
        generate_annotations(rules, workload_of(**extras), 1)


def test_deadline_without_start_delay_counts_from_the_submission() -> None:
    """haizea 8.1 item 17."""
    annotations = generate_annotations(AnnotationRules(deadline_stretch=Constant(60)), workload_of(duration=100), 1)
    assert annotations.entries[0].start == StartTerm(exact=0)
    assert annotations.entries[0].deadline == 160


def test_images_have_the_published_popularity() -> None:
    """haizea 5.3: 40 images of 4,096 MB; skewed, the first eight get 73 % of the leases."""
    uniform = [
        entry.software
        for entry in generate_annotations(AnnotationRules(images=image_choice("uniform")), MANY, 2).entries
    ]
    skewed = [
        entry.software
        for entry in generate_annotations(AnnotationRules(images=image_choice("pareto")), MANY, 2).entries
    ]
    assert set(Counter(uniform)) == {SoftwareTerm(DiskImage(f"image-{number}", 4096)) for number in range(1, 41)}
    assert stats.chisquare(list(Counter(uniform).values())).pvalue > 0.01
    popular = {SoftwareTerm(DiskImage(f"image-{number}", 4096)) for number in range(1, 9)}
    assert sum(software in popular for software in skewed) / len(skewed) == pytest.approx(11 / 15, abs=0.03)


def test_an_annotation_has_only_the_requested_parts() -> None:
    annotations = generate_annotations(AnnotationRules(images=image_choice("uniform")), workload_of(), 1)
    entry = annotations.entries[0]
    assert (entry.start, entry.deadline, entry.extras) == (None, None, {})
    assert AnnotationRules().is_empty
    assert not AnnotationRules(user_rate=Constant(1)).is_empty


def test_positional_annotations_have_no_ids() -> None:
    """haizea 6.4: annotations that are assigned in the order of submission."""
    rules = AnnotationRules(images=image_choice("pareto"), start_delay=Uniform(0, 9), user_rate=Constant(2))
    annotations = generate_positional_annotations(rules, 3, 1)
    assert [entry.lease_id for entry in annotations.entries] == [None, None, None]
    assert all(entry.software is not None and entry.start is not None for entry in annotations.entries)
    assert numbers(annotations, "simul_userrate") == [2.0, 2.0, 2.0]
    assert len(annotate(MANY, annotations).leases) == len(MANY.leases)


@pytest.mark.parametrize(
    ("rules", "count", "field"),
    [
        (AnnotationRules(images=image_choice("uniform")), 0, "count"),
        (AnnotationRules(deadline_stretch=Constant(1)), 5, "start-delay"),
        (
            AnnotationRules(start_delay=Constant(1), start_mode=StartDelayMode.MULTIPLE_OF_DURATION),
            5,
            "start-delay",
        ),
    ],
    ids=["count", "deadline", "multiple"],
)
def test_impossible_positional_annotations_are_refused(rules: AnnotationRules, count: int, field: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        generate_positional_annotations(rules, count, 1)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: AnnotationRules(start_delay=Uniform(-1, 1)), "start-delay"),
        (lambda: AnnotationRules(deadline_stretch=BoundedNormal(-math.inf, 1, 0, 1)), "deadline-stretch"),
        (lambda: AnnotationRules(user_rate=Constant(-1)), "user-rate"),
        (
            lambda: AnnotationRules(deadline_stretch=Constant(1), deadline_mode=DeadlineStretchMode.ORIGINAL_SLOWDOWN),
            "deadline-stretch",
        ),
        (lambda: ImageChoice((), Uniform(0, 1)), "values"),
        (lambda: ImageChoice((DiskImage("a", 1),), Uniform(0, 2)), "distribution"),
        (lambda: image_choice("normal"), "law"),
        (lambda: law_by_name("normal", 0, 1), "law"),
        (lambda: generate_deadline_annotations(MANY, "constant", "pareto", 1), "law"),
        (lambda: generate_deadline_annotations(MANY, "pareto", "pareto", -1), "seed"),
    ],
)
def test_impossible_rules_are_refused(make: Callable[[], object], field: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        make()
    assert caught.value.field == field


def test_laws_are_found_by_name() -> None:
    assert law_by_name("pareto", 0, 5) == TruncatedPareto(0, 5)
    assert law_by_name("invpareto", 0, 5) == Inverted(TruncatedPareto(0, 5))
    assert law_by_name("uniform", 0, 5) == Uniform(0, 5)
    assert law_by_name("constant", 0, 5) == Constant(1.0)


WINDOWS = {
    "BLUE2": ("BLUE2.swf.gz", SwfOptions(begin=70_154_553, scale=8)),
    "DS": ("DS.swf.gz", SwfOptions(begin=4_293_741, scale=8, queues=frozenset({2, 3}))),
}


@cache
def window(name: str) -> Workload:
    file, options = WINDOWS[name]
    return read_swf(Path(os.environ["LEASE_SCHEDULER_DATA"]) / "windows" / file, options)


@pytest.mark.skipif(
    "LEASE_SCHEDULER_DATA" not in os.environ, reason="needs the recorded data; set LEASE_SCHEDULER_DATA to its folder"
)
@pytest.mark.parametrize(
    ("name", "start_law", "deadline_law", "by_slack", "by_wait"),
    [
        ("BLUE2", "invpareto", "pareto", 1_161, 3_409),
        ("BLUE2", "uniform", "uniform", 214, 884),
        ("BLUE2", "pareto", "invpareto", 24, 97),
        ("DS", "invpareto", "pareto", 2_231, 3_460),
        ("DS", "uniform", "uniform", 482, 813),
        ("DS", "pareto", "invpareto", 51, 87),
    ],
)
def test_as_many_leases_are_tight_as_published(
    name: str, start_law: str, deadline_law: str, by_slack: int, by_wait: int
) -> None:
    """haizea 5.2, "out of": leases with omega / duration <= 2, and with omega + duration <= 120,960 s.

    Within four standard deviations of a Poisson count (check E2.2); the mean of eight seeds within two of its own.
    """
    workload = window(name)
    durations = np.array([lease.request.duration for lease in workload.leases])
    slack_counts, wait_counts = [], []
    for seed in range(8):
        entries = generate_deadline_annotations(workload, start_law, deadline_law, seed).entries
        rooms = np.array([entry.deadline - entry.start.exact for entry in entries])  # type: ignore[operator, union-attr]
        slack_counts.append(np.sum((rooms - durations) / durations <= 2))
        wait_counts.append(np.sum(rooms <= 120_960))
    for counts, expected in ((slack_counts, by_slack), (wait_counts, by_wait)):
        assert np.abs(np.array(counts) - expected).max() <= 4 * math.sqrt(expected)
        assert abs(np.mean(counts) - expected) <= 2 * math.sqrt(expected / 8) + 0.5
