"""On-line algorithms as a fractional policy (dfrs A23)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.fractional.kernels import IS_COMPILED
from lease_scheduler.fractional.online.decide import decide
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.fractional.base import FluidLeases, FluidNodes, Occasion
from lease_scheduler.policy.fractional.dfrs import Dfrs
from lease_scheduler.policy.fractional.max_min import MaxMin


def _policy(**options: str) -> Dfrs:
    return Dfrs(PolicyOptions({f"fractional_{name}": text for name, text in options.items()}))


def _leases(**changed: object) -> FluidLeases:
    """Lease 0 runs on host 0; lease 1 is new, and needs the memory that lease 0 has there. Host 1 has little left."""
    values: dict[str, object] = {
        "cpu": np.array([0.5, 1.0]),
        "memory": np.array([0.5, 0.6]),
        "first": np.array([0, 1, 2]),
        "release": np.array([0.0, 100.0]),
        "virtual": np.array([100.0, 0.0]),
        "hosts": np.array([0, 0]),
        "is_running": np.array([True, False]),
        "stays": np.array([False, False]),
        "others_load": np.array([0.0, 0.0]),
        "others_held": np.array([0.0, 0.45]),
    }
    return FluidLeases(**{**values, **changed})  # type: ignore[arg-type]


_NEW = Occasion(100, 1, False, False)


def test_the_default_is_the_best_algorithm_of_the_dissertation() -> None:
    policy = _policy()
    assert (policy.period, policy.places) == (600, True)
    assert policy.hosts(_leases(), _NEW) == [[1], [0]]


def test_algorithms_that_map_nothing_anew_have_no_period() -> None:
    assert _policy(algorithm="GreedyP*/OPT=MIN").period is None
    assert _policy(algorithm="/per/OPT=MIN", period="60").period == 60


def test_the_named_algorithm_decides_where_leases_run() -> None:
    """dfrs F39 to F41."""
    assert _policy(algorithm="Greedy*/OPT=MIN").hosts(_leases(), _NEW) == [[0], None]
    assert _policy(algorithm="GreedyP*/OPT=MIN").hosts(_leases(), _NEW) == [None, [0]]


def test_a_lease_that_cannot_move_is_paused() -> None:
    stays = np.array([True, False])
    assert _policy(algorithm="GreedyPM*/OPT=MIN").hosts(_leases(stays=stays), _NEW) == [None, [0]]
    period = Occasion(600, 0, False, True)
    roomy = np.zeros(2)
    heavy = {"memory": np.array([0.4, 0.5]), "is_running": np.array([True, True]), "others_held": roomy}
    moving = _leases(**heavy, hosts=np.array([0, 1]))
    staying = _leases(**heavy, hosts=np.array([0, 1]), stays=np.array([True, True]))
    assert _policy(algorithm="/per/OPT=MIN").hosts(moving, period) == [[1], [0]]
    assert _policy(algorithm="/per/OPT=MIN").hosts(staying, period) == [[0], [1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "GreedyX*/OPT=MIN"}, "option fractional_algorithm: must begin with one of Greedy"),
        ({"algorithm": "fast"}, "option fractional_algorithm: must be a name such as 'GreedyPM"),
        ({"algorithm": "/stretch-per/OPT=MAX"}, "is for simulations only.*take one with /per"),
        ({"period": "0"}, "option fractional_period: must be at least 1 s, not 0"),
    ],
)
def test_an_unknown_algorithm_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _policy(**options)


def test_shares_follow_from_the_name() -> None:
    """dfrs F48, F49."""
    nodes = FluidNodes(np.array([0.6, 1.0]), np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0.8, 0.2, 1.5]), 3)
    fair, average = (_policy(algorithm=f"Greedy*/OPT={each}").scaled_yields(nodes) for each in ("MIN", "AVG"))
    assert fair == pytest.approx([0.6, 0.6, 2 / 3])
    assert average == pytest.approx([0.6, 0.6, 2 / 3])


def test_shares_are_fair_if_the_solver_fails(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise ArithmeticError("HiGHS: time limit")

    monkeypatch.setattr("lease_scheduler.policy.fractional.dfrs.average_scaled_yields", fail)
    nodes = FluidNodes(np.array([0.5]), np.array([0, 0]), np.array([0, 1]), np.array([0.8, 0.2]), 2)
    assert _policy(algorithm="Greedy*/OPT=AVG").scaled_yields(nodes) == pytest.approx([0.5, 0.5])
    assert "share CPU fairly until the next change: HiGHS: time limit" in caplog.text


def test_other_policies_leave_places_to_the_planner() -> None:
    with pytest.raises(NotImplementedError, match="MaxMin does not decide"):
        MaxMin(PolicyOptions()).hosts(_leases(), _NEW)


def test_decisions_are_compiled_before_leases_wait() -> None:
    if IS_COMPILED:
        _policy()
        known = len(decide.nopython_signatures)  # type: ignore[attr-defined]
        assert known > 0
        _policy().hosts(_leases(), _NEW)
        assert len(decide.nopython_signatures) == known  # type: ignore[attr-defined]
