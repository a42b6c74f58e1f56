"""The worked examples of Grit 2007, chapters 2 to 4 and 6, that concern one site (shirako G9, G10, G12-G14)."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from math import sqrt

import numpy as np
import pytest

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.capacity.worst_fit import fitting, spread_worst_fit
from lease_scheduler.plan.changing.outages import block
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.host_selection.greedy import GreedySelection
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.policy.preemption.by_kind import ByKind
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.tracking import TrackingError
from lease_scheduler.simulation.workload import Workload, WorkloadLease


def _planner(*hosts: Resources) -> Planner:
    site = Site.of([Host(f"h{number}", capacity) for number, capacity in enumerate(hosts)])
    options = PolicyOptions()
    return Planner(
        site, PlanningOptions(), PolicySet(host_selection=GreedySelection(options), preemption=ByKind(options))
    )


def _reservation(lease_id: str, size: Resources, start: int = 0, end: int = 100, count: int = 1) -> LeaseRequest:
    nodes = (NodeSet(count, size),)
    return LeaseRequest(lease_id, LeaseKind.RESERVATION, nodes, 0, duration=end - start, start=start)


def _place(planner: Planner, request: LeaseRequest) -> Lease:
    return planner.place(Lease(request, len(planner.plan.leases), LeaseState.PENDING), 0)


def _vector(first: int, second: int) -> Resources:
    return Resources({VCPU: first, MEMORY_MB: second})


def test_slivers_of_several_shapes_fill_a_host_exactly() -> None:
    """shirako G9, figure 3.1: a (8, 4), b (4, 8) and c (4, 4) fill (16, 16); then not even (1, 1) fits."""
    planner = _planner(_vector(16, 16))
    _place(planner, _reservation("a", _vector(8, 4)))
    rows = [planner.plan.classes.index(name) for name in (VCPU, MEMORY_MB)]
    assert planner.plan.availability.free(0, 100)[rows, 0].tolist() == [8, 12]
    _place(planner, _reservation("b", _vector(4, 8)))
    _place(planner, _reservation("c", _vector(4, 4)))

    assert planner.plan.availability.free(0, 100)[rows, 0].tolist() == [0, 0]
    with pytest.raises(NotPlannableError):
        _place(planner, _reservation("d", _vector(1, 1)))


def test_a_host_is_eight_computons() -> None:
    """shirako G10: a host of 3.2 GHz, 2 GB and 1 Gbit/s is eight times 400 MHz, 256 MB and 128 Mbit/s."""
    host, computon = np.array([[3_200], [2_048], [1_024]]), np.array([400, 256, 128])

    assert fitting(host, computon).tolist() == [8]
    assert (host[:, 0] - 8 * computon).tolist() == [0, 0, 0]
    assert spread_worst_fit(host, computon, 9).tolist() == [8]


def test_biased_error() -> None:
    """shirako G12: what was received beyond the demand, and what was missing, may have different weights (4.1)."""
    error = TrackingError.of([10, 10, 10, 10], [12, 12, 8, 10])

    assert error.rmse == pytest.approx(sqrt(3), abs=1e-12)
    assert (error.above, error.below) == (1.0, 0.5)
    assert error.biased(0.5) == 0.75
    assert (error.biased(1), error.biased(0)) == (1.0, 0.5)


def _in_order(order: tuple[str, ...]) -> list[str]:
    """Return which of three changes of one instant succeed on a host that A (3 units) and B (1 unit) fill."""
    unit = _vector(1, 1)
    leases = (_reservation("A", unit, count=3), _reservation("B", unit))
    site = Site.homogeneous(1, _vector(4, 4))
    run = Run(Workload("test", tuple(WorkloadLease(lease) for lease in leases), site), RunSettings())
    run.clock.set(0)
    run.step()
    run.clock.set(10)
    live = {lease.lease_id: lease for lease in run.engine.live_leases()}
    assert {lease.state for lease in live.values()} == {LeaseState.ACTIVE}

    def sized(lease_id: str, count: int) -> LeaseRequest:
        return replace(live[lease_id].request, nodes=(NodeSet(count, unit),))

    done = []
    for change in order:
        if change == "new":
            run.engine.submit(_reservation("C", unit, 10))
            run.engine.step()
            if run.engine.lease("C") is not None:
                done.append(change)
        else:
            try:
                run.engine.change(*{"shrink": ("A", sized("A", 1)), "grow": ("B", sized("B", 2))}[change])
                done.append(change)
            except NoPlaceError:
                pass
    return done


@pytest.mark.parametrize("order", list(permutations(("shrink", "grow", "new"))))
def test_what_shrinks_goes_first(order: tuple[str, ...]) -> None:
    """shirako G13: A shrinks to 1 before B grows to 2 and C (1 unit) begins; whatever comes before that is refused.

    The dissertation processes shrink, grow, new. With these numbers the latter two may change places.
    """
    before = order[: order.index("shrink")]
    assert _in_order(order) == [change for change in order if change not in before]


def test_a_host_that_goes_before_the_end_is_not_used() -> None:
    """shirako G14: [50, 120) does not fit a source of [0, 100), although units are free; one of [0, 200) does."""
    unit = _vector(1, 1)
    planner = _planner(unit)
    block(planner.plan, 0, 100, 1_000)
    with pytest.raises(NotPlannableError):
        _place(planner, _reservation("1", unit, 50, 120))
    assert _place(planner, _reservation("2", unit, 50, 100)).holdings[0].assignment == (0,)

    planner = _planner(unit, unit)
    block(planner.plan, 0, 100, 1_000)
    block(planner.plan, 1, 200, 1_000)
    assert _place(planner, _reservation("3", unit, 50, 120)).holdings[0].assignment == (1,)
