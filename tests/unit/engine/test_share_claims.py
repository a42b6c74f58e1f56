"""Leases that are suspended because their project holds more than its share (shirako F105, A28)."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

from .conftest import VM, World, request

BEST_EFFORT, RESERVATION = LeaseKind.BEST_EFFORT, LeaseKind.RESERVATION
ACTIVE, QUEUED = LeaseState.ACTIVE, LeaseState.QUEUED

#: Seconds to suspend a VM of 1,024 MB at 32 MB/s.
SUSPENSION = 32


def _world(*leases: LeaseRequest, weights: dict[str, float] | None = None, **options: str) -> World:
    """Return a site of four hosts; a lease has to run for 1,000 s before it may be suspended."""
    settings = RunSettings(
        policies={"queueing": "winks"},
        planning=PlanningOptions(suspend_rate=32, resume_rate=32),
        flow_weights=weights or {},
        policy_options={"winks_preempt_after": "1000", **options},
    )
    workload = Workload("test", tuple(map(WorkloadLease, leases)), Site.homogeneous(4, VM))
    return World(Run(workload, settings))


def _of_a(count: int = 4, duration: int = 50_000, **terms: Any) -> list[LeaseRequest]:
    return [request(f"a{number}", BEST_EFFORT, 1, duration, user="a", **terms) for number in range(count)]


def _of_b(count: int = 4, duration: int = 5_000, nodes: int = 1, **terms: Any) -> list[LeaseRequest]:
    terms.setdefault("submitted", 100)
    return [request(f"b{number}", BEST_EFFORT, nodes, duration, user="b", **terms) for number in range(count)]


def _running(world: World, user: str) -> list[str]:
    live = world.run.engine.live_leases()
    return sorted(each.lease_id for each in live if each.request.user == user and each.state is ACTIVE)


def test_after_the_least_run_a_project_gets_its_share() -> None:
    """The leases that were served last are suspended, and not one more than the share needs."""
    world = _world(*_of_a(), *_of_b())

    assert _running(world.until(999 + SUSPENSION), "b") == []
    assert _running(world.until(1_000 + SUSPENSION), "b") == ["b0", "b1"]
    assert _running(world, "a") == ["a0", "a1"]
    assert world["a3"].state is LeaseState.SUSPENDED_QUEUED


def test_what_was_suspended_goes_on_with_what_it_has_done() -> None:
    world = _world(*_of_a(duration=20_000), *_of_b()).end()

    done = {lease.lease_id: lease for lease in world.run.store.load()}
    assert {lease.state for lease in done.values()} == {LeaseState.DONE}
    assert {lease.accumulated for key, lease in done.items() if key.startswith("a")} == {20_000}


def test_it_waits_for_its_share_and_not_only_for_a_free_host() -> None:
    """A suspended lease does not take the host of a lease of the project for which it was suspended."""
    world = _world(*_of_a(), *_of_b(count=6)).until(1_000 + SUSPENSION + 5_000)

    assert _running(world, "b") == ["b2", "b3"]
    assert _running(world, "a") == ["a0", "a1"]
    world.until(1_000 + SUSPENSION + 15_000 + SUSPENSION)
    assert _running(world, "a") == ["a0", "a1", "a2", "a3"], "nobody waits any more"


def test_by_default_nothing_is_suspended() -> None:
    world = _world(*_of_a(), *_of_b(), winks_preempt_after="0").until(49_000)

    assert _running(world, "a") == ["a0", "a1", "a2", "a3"]


def test_weights_say_how_much_is_too_much() -> None:
    world = _world(*_of_a(), *_of_b(), weights={"a": 3.0, "b": 1.0}).until(2_000)

    assert (_running(world, "a"), _running(world, "b")) == (["a0", "a1", "a2"], ["b0"])


def test_an_excess_that_is_allowed_is_left() -> None:
    """Of 4 hosts, 3 are half as many again as the share of 2."""
    leases = (*_of_a(3), request("b", BEST_EFFORT, 1, 50_000, user="b"), *_of_b(submitted=100))

    assert _running(_world(*leases, winks_preempt_excess="0.5").until(3_000), "b") == ["b"]
    assert _running(_world(*leases).until(3_000), "b") == ["b", "b0"]


@pytest.mark.parametrize(
    "kept",
    [
        {"preemptible": False},
        {"preemption_mode": PreemptionMode.NONE},
        {"preemption_mode": PreemptionMode.DELETE},
    ],
)
def test_what_would_lose_work_or_may_not_be_preempted_stays(kept: dict[str, Any]) -> None:
    world = _world(*_of_a(**kept), *_of_b()).until(30_000)

    assert _running(world, "a") == ["a0", "a1", "a2", "a3"]


def test_reservations_stay() -> None:
    held = [request(f"a{number}", RESERVATION, 1, 50_000, user="a", start=0, preemptible=True) for number in range(4)]
    world = _world(*held, *_of_b()).until(30_000)

    assert _running(world, "a") == ["a0", "a1", "a2", "a3"]


def test_reservations_count_for_the_share_of_their_project() -> None:
    """b has reserved its half: nothing of a is suspended for its queued leases."""
    held = [request(f"r{number}", RESERVATION, 1, 60_000, user="b", start=0) for number in range(2)]
    world = _world(*held, *_of_a(2), *_of_b()).until(30_000)

    assert _running(world, "a") == ["a0", "a1"]


def test_a_lease_that_holds_the_whole_site_makes_room() -> None:
    """It cannot keep its share alone; afterwards both are nearer to their shares than before."""
    whole = request("a0", BEST_EFFORT, 4, 20_000, user="a")
    world = _world(whole, *_of_b(3)).until(1_000 + 2 * SUSPENSION)

    assert _running(world, "a") == []
    assert _running(world, "b") == ["b0", "b1", "b2"]
    assert world.end()["a0"].accumulated == 20_000


def test_what_will_soon_be_free_is_waited_for() -> None:
    """A lease of a ends within the least run, so nothing has to be suspended for the first one of b."""
    leases = (*_of_a(3), request("a3", BEST_EFFORT, 1, 1_900, user="a"), *_of_b(1))
    world = _world(*leases).until(1_800)

    assert _running(world, "a") == ["a0", "a1", "a2", "a3"]
    assert _running(world.until(1_900), "b") == ["b0"]
