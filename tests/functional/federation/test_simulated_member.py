"""A simulated site keeps the contract of members."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.member import SimulatedMember
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload
from tests.functional.federation.contract import MemberContract, ProjectsContract
from tests.functional.federation.sites import HOSTS, VCPUS, SiteBehind


@pytest.fixture
def site() -> SiteBehind:
    clock = SimulatedClock(1_800_000_000)
    hosts = Site.homogeneous(HOSTS, Resources({VCPU: VCPUS}))
    run = SiteRun(Workload("nothing", ()), RunSettings(check_invariants=True), clock, hosts)

    def wait(holds: Callable[[], bool]) -> None:
        while not holds():
            following = run.next_instant(expects=True)
            assert following is not None, "nothing more happens"
            clock.set(max(clock.now(), following))
            run.step()

    def owner(lease_id: str) -> str | None:
        lease = run.store.lease(lease_id)
        assert lease is not None
        return lease.request.user

    projects = ["physics", "biology"]
    member = SimulatedMember("simulated", run, hold_time=86_400, projects=projects)
    return SiteBehind(member, clock.now, wait, projects=projects, foreign="chemistry", owner=owner)


class TestSimulatedMember(MemberContract, ProjectsContract):
    """The whole contract."""
