from __future__ import annotations

from collections import Counter

import pytest

from lease_scheduler.fractional.online.names import NAMES, Algorithm, Periodic, Sharing, Submission, parse
from lease_scheduler.model.errors import InvalidValueError


def test_there_are_116_names() -> None:
    """dfrs F45, A23: 3 greedy-only x 2 sharings, and 11 that map anew x 2 sharings x 5 bounds."""
    assert len(set(NAMES)) == len(NAMES) == 116
    by_base = Counter(name.split("/OPT=")[0] for name in NAMES)
    assert by_base == dict.fromkeys(("Greedy*", "GreedyP*", "GreedyPM*"), 2) | dict.fromkeys(
        (
            *(f"{each}{star}/per" for each in ("Greedy", "GreedyP", "GreedyPM") for star in ("", "*")),
            *("MCB*", "MCB/per", "MCB*/per", "/per", "/stretch-per"),
        ),
        10,
    )


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_and_written(name: str) -> None:
    assert str(parse(name)) == name


def test_a_name_gives_its_algorithm() -> None:
    """dfrs F44 to F50."""
    assert parse("GreedyPM*/per/OPT=MIN/MVT=600") == Algorithm(
        Submission.GREEDY_PAUSE_OR_MOVE, True, Periodic.YIELD, Sharing.LEAST, None, 600
    )
    assert parse("MCB/per/OPT=AVG/MFT=1200") == Algorithm(
        Submission.REMAP, False, Periodic.YIELD, Sharing.AVERAGE, 1200, None
    )
    assert parse("/stretch-per/OPT=MAX") == Algorithm(Submission.NOTHING, False, Periodic.STRETCH, Sharing.STRETCH)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "must be a name such as"),
        ("GreedyP*", "must be a name such as"),
        ("GreedyP*/OPT=BEST", "must be a name such as"),
        ("GreedyP*/per/OPT=MIN/MVT=0", "must be a name such as"),
        ("GreedyP*/per/OPT=MIN/MVT=-5", "must be a name such as"),
        ("GreedyP*/per/OPT=MIN/MVT=600/MFT=600", "must be a name such as"),
        # Waiting jobs would never start.
        ("GreedyP/OPT=MIN", "must begin with one of Greedy*, "),
        ("MCB/OPT=MIN", "must begin with one of"),
        ("/OPT=MIN", "must begin with one of"),
        ("*/per/OPT=MIN", "must begin with one of"),
        ("greedyp*/OPT=MIN", "must begin with one of"),
        ("Greedy*/stretch-per/OPT=MAX", "must begin with one of"),
        ("/per/OPT=MAX", "/per must have OPT=AVG or OPT=MIN, not OPT=MAX"),
        ("/stretch-per/OPT=MIN", "/stretch-per must have OPT=AVG or OPT=MAX, not OPT=MIN"),
        ("GreedyP*/OPT=MIN/MVT=600", "GreedyP* must have no MVT, as it maps nothing anew"),
    ],
)
def test_other_names_are_refused(name: str, problem: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        parse(name)
    assert refused.value.field == "algorithm"
    assert problem in refused.value.problem
