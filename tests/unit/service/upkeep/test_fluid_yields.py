"""What the cloud is told about fluid leases, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from queue import Queue

import pytest

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.progress import Progress
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.service.upkeep import fluid_yields
from lease_scheduler.service.upkeep.fluid_yields import FluidYields

_LIMIT = 60


def _lease(lease_id: str, permille: int | None) -> Lease:
    nodes = (NodeSet(1, Resources({VCPU: 4})).made_fluid(0.25),)
    request = LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, nodes, 0, preemptible=True, min_yield=0.25)
    return Lease(request, 0, progress=None if permille is None else Progress(0, permille, 0))


class _Cloud:
    """Remembers what it is told, and fails as often as it should."""

    def __init__(self) -> None:
        self.told: Queue[tuple[int, Mapping[str, float]]] = Queue()
        self.failures = 0

    def share(self, revision: int, yields: Mapping[str, float]) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError("no answer")
        self.told.put((revision, yields))


@pytest.fixture(name="cloud")
def _cloud() -> _Cloud:
    return _Cloud()


@pytest.fixture(name="yields")
def _yields(cloud: _Cloud) -> Iterator[FluidYields]:
    made = FluidYields(cloud.share, 7)
    yield made
    made.stop()


def test_the_whole_truth_is_told_at_the_start_and_after_each_change(cloud: _Cloud, yields: FluidYields) -> None:
    whole = Lease(LeaseRequest("whole", LeaseKind.IMMEDIATE, (NodeSet(1, Resources({VCPU: 1})),), 0), 0)
    yields.start([_lease("a", 500), _lease("waits", None), _lease("suspended", 0), whole])
    assert cloud.told.get(timeout=_LIMIT) == (7 * 2**32 + 1, {"a": 0.5})
    yields.note(_lease("a", 500))
    yields.note(whole)
    yields.note(_lease("b", 250))
    assert cloud.told.get(timeout=_LIMIT) == (7 * 2**32 + 2, {"a": 0.5, "b": 0.25})
    yields.note(_lease("a", 0))
    assert cloud.told.get(timeout=_LIMIT) == (7 * 2**32 + 3, {"b": 0.25})


def test_a_cloud_that_does_not_answer_is_told_again(
    cloud: _Cloud, yields: FluidYields, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fluid_yields, "_LONGEST_PAUSE", 0.01)
    yields._pause = 0.01
    cloud.failures = 3
    yields.start([_lease("a", 500)])
    assert cloud.told.get(timeout=_LIMIT) == (7 * 2**32 + 4, {"a": 0.5})


def test_revisions_of_a_later_engine_are_higher() -> None:
    """However often the earlier one told something."""
    later, earlier = _Cloud(), _Cloud()
    for number, cloud in ((8, later), (7, earlier)):
        made = FluidYields(cloud.share, number)
        made.start([])
        revision, yields = cloud.told.get(timeout=_LIMIT)
        assert yields == {}
        assert revision == number * 2**32 + 1
        made.stop()
