"""What the cloud is told about fluid leases, and when."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import Progress
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.service.runners import SteppedRunner
from lease_scheduler.service.upkeep.fluid_yields import FluidYields


def _lease(lease_id: str, permille: int | None) -> Lease:
    nodes = (NodeSet(1, Resources({VCPU: 4})).made_fluid(0.25),)
    request = LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, nodes, 0, preemptible=True, min_yield=0.25)
    return Lease(request, 0, progress=None if permille is None else Progress(0, permille, 0))


class _Cloud:
    """Remembers what it is told, and fails as often as it should."""

    def __init__(self) -> None:
        self.told: list[tuple[int, Mapping[str, float]]] = []
        self.failures = 0

    def share(self, revision: int, yields: Mapping[str, float]) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError("no answer")
        self.told.append((revision, yields))


@pytest.fixture(name="cloud")
def _cloud() -> _Cloud:
    return _Cloud()


def test_the_whole_truth_is_told_at_the_start_and_after_each_change(cloud: _Cloud) -> None:
    whole = Lease(LeaseRequest("whole", LeaseKind.IMMEDIATE, (NodeSet(1, Resources({VCPU: 1})),), 0), 0)
    leases = [_lease("a", 500), _lease("waits", None), _lease("suspended", 0), whole]
    yields, runner = FluidYields(cloud.share, 7, lambda: leases), SteppedRunner()
    runner.start([yields])
    runner.step(0)
    yields.note(_lease("a", 500))
    yields.note(whole)
    runner.step(1)
    yields.note(_lease("b", 250))
    runner.step(2)
    yields.note(_lease("a", 0))
    runner.step(3)
    assert cloud.told == [
        (7 * 2**32 + 1, {"a": 0.5}),
        (7 * 2**32 + 2, {"a": 0.5, "b": 0.25}),
        (7 * 2**32 + 3, {"b": 0.25}),
    ]


def test_a_cloud_that_does_not_answer_is_told_again_after_a_pause_that_doubles(cloud: _Cloud) -> None:
    """A change meanwhile does not shorten the pause."""
    cloud.failures = 3
    yields, runner = FluidYields(cloud.share, 7, lambda: [_lease("a", 500)]), SteppedRunner()
    runner.start([yields])
    tries = []
    for now in range(10):
        failures = cloud.failures
        runner.step(now)
        tries += [now] * (cloud.failures != failures)
        yields.note(_lease("b", 250))
    assert tries == [0, 1, 3]
    assert cloud.told == [(7 * 2**32 + 4, {"a": 0.5, "b": 0.25})]


def test_revisions_of_a_later_engine_are_higher() -> None:
    """However often the earlier one told something."""
    for number in (8, 7):
        cloud, runner = _Cloud(), SteppedRunner()
        runner.start([FluidYields(cloud.share, number, list)])
        runner.step(0)
        assert cloud.told == [(number * 2**32 + 1, {})]
