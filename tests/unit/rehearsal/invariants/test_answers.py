from __future__ import annotations

import pytest

from lease_scheduler.rehearsal.disturbances import Disturbance
from lease_scheduler.rehearsal.invariants import answers
from lease_scheduler.rehearsal.invariants.facts import Facts
from lease_scheduler.rehearsal.story import BadAnswer


def _broken(status: int, *disturbances: Disturbance) -> list[str]:
    answer = BadAnswer(1_000.0, 1_010.0, "project-1", "POST leases", status)
    facts = Facts(2_000.0, None, answers=[answer], disturbances=disturbances)
    return [each.invariant for each in answers.bad(facts)]


@pytest.mark.parametrize("status", [0, 500, 503])
def test_errors_have_a_cause(status: int) -> None:
    assert _broken(status) == ["the service answers"]
    assert _broken(status, Disturbance("kill", 900.0, 930.0)) == ["the service answers"]
    assert _broken(status, Disturbance("kill", 900.0, 950.0)) == []
    assert _broken(status, Disturbance("kill", 1_005.0, 1_050.0)) == []
    assert _broken(status, Disturbance("kill", 1_011.0, 1_050.0)) == ["the service answers"]


def test_nothing_excuses_that_a_wrong_request_was_accepted() -> None:
    assert _broken(201, Disturbance("kill", 900.0, 2_000.0)) == ["wrong requests are refused"]
