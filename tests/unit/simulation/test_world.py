"""Sites that share a clock, and routers that distribute requests to them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.transfers.options import TransferOptions
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings, StopWhen
from lease_scheduler.simulation.site_run import SiteRun, Watcher
from lease_scheduler.simulation.workload import Workload, WorkloadLease
from lease_scheduler.simulation.world import Arrivals, RoutableSite, Router, World, WorldResult

_VM = Resources({VCPU: 100, MEMORY_MB: 1024})
_CHECKED = RunSettings(check_invariants=True)


def _best_effort(lease_id: str, submitted: int = 0, duration: int = 100, nodes: int = 1, **terms: Any) -> LeaseRequest:
    return LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, (NodeSet(nodes, _VM),), submitted, duration, **terms)


def _reservation(lease_id: str, start: int, submitted: int = 0, duration: int = 100, nodes: int = 1) -> LeaseRequest:
    return LeaseRequest(lease_id, LeaseKind.RESERVATION, (NodeSet(nodes, _VM),), submitted, duration, start)


def _workload(*requests: LeaseRequest, hosts: int = 1) -> Workload:
    return Workload("test", tuple(WorkloadLease(each) for each in requests), Site.homogeneous(hosts, _VM))


def _sites(
    *workloads: Workload, settings: RunSettings = _CHECKED, site_type: type[SiteRun] = SiteRun
) -> dict[str, SiteRun]:
    """Return a site for each workload on one clock; they are called a, b, c and so on."""
    clock = SimulatedClock()
    return {chr(ord("a") + number): site_type(each, settings, clock) for number, each in enumerate(workloads)}


def _route(router: Router, *requests: LeaseRequest, sites: dict[str, SiteRun] | None = None) -> WorldResult:
    """Route requests to two sites of one host each, or to the given ones."""
    chosen = sites or _sites(_workload(), _workload())
    return World(chosen, Arrivals(_workload(*requests), router)).execute()


def _lives(result: RunResult) -> dict[str, tuple[LeaseState, int | None, int | None]]:
    return {lease.lease_id: (lease.state, lease.started, lease.ended) for lease in result.leases}


def _noting(sites: dict[str, SiteRun]) -> tuple[list[tuple[str, int]], Watcher]:
    """Return a list, and a watcher that appends the name of the site and the instant to it."""
    seen: list[tuple[str, int]] = []
    names = {id(site): name for name, site in sites.items()}
    return seen, lambda site: seen.append((names[id(site)], site.clock.now()))


# -- one clock -------------------------------------------------------------------------------------------


def test_sites_take_their_steps_in_order_at_the_instants_at_which_something_is_due() -> None:
    sites = _sites(_workload(_best_effort("1", 0, 100)), _workload(_best_effort("1", 50, 50), _best_effort("2", 150)))
    order = {"b": sites["b"], "a": sites["a"]}
    seen, watch = _noting(sites)

    results = World(order).execute([watch]).sites

    at_the_end = [("b", 250), ("a", 250)]
    assert seen == [("a", 0), ("b", 50), ("b", 100), ("a", 100), ("b", 150), ("b", 250), *at_the_end]
    assert list(results) == ["b", "a"]
    assert [results["a"].end, results["b"].end] == [100, 250]
    assert results["a"].wall_s == results["b"].wall_s > 0


def test_a_world_of_one_site_equals_a_run() -> None:
    workload = _workload(_best_effort("1"), _best_effort("2", 20, nodes=2), _reservation("3", 90, 30), hosts=2)
    ours, run = _sites(workload), Run(workload, _CHECKED)
    (ours_seen, watch), (run_seen, watch_run) = _noting(ours), _noting({"a": run})

    result = World(ours).execute([watch]).sites["a"]
    expected = run.execute([watch_run])

    assert replace(result, wall_s=0.0, peak_rss_bytes=0) == replace(expected, wall_s=0.0, peak_rss_bytes=0)
    assert ours_seen == run_seen
    assert len(ours_seen) > 4


def test_a_lease_that_can_get_no_place_ends_when_that_is_certain_although_other_sites_go_on() -> None:
    stuck = _workload(_best_effort("1", nodes=2), _best_effort("2", duration=30), hosts=2)
    sites = _sites(stuck, _workload(_best_effort("1", duration=900)))
    sites["a"].engine.hosts.out("host-2")

    results = World(sites).execute().sites

    assert _lives(results["a"]) == {"1": (LeaseState.CANCELLED, None, 30), "2": (LeaseState.DONE, 0, 30)}
    assert (results["a"].end, results["b"].end) == (30, 900)


def test_a_site_that_stops_at_an_instant_does_not_stop_the_others() -> None:
    clock = SimulatedClock()
    workload = _workload(_best_effort("1"), _best_effort("2", 250, 300))
    until = replace(_CHECKED, stop_when=StopWhen.EXACT, stop_time=200)
    sites = {"a": SiteRun(workload, until, clock), "b": SiteRun(workload, _CHECKED, clock)}

    results = World(sites).execute().sites

    assert (results["a"].end, list(_lives(results["a"]))) == (200, ["1"])
    assert (results["b"].end, list(_lives(results["b"]))) == (550, ["1", "2"])


def test_the_clock_reaches_the_instant_at_which_the_last_site_stops() -> None:
    until = replace(_CHECKED, stop_when=StopWhen.EXACT, stop_time=200)
    sites = _sites(_workload(_best_effort("1", 500)), settings=until)
    seen, watch = _noting(sites)

    assert (World(sites).execute([watch]).sites["a"].end, seen) == (200, [("a", 200)])


class _Forwarding(SiteRun):
    """A site that forwards what it refuses to another one."""

    other: SiteRun

    def step(self, watchers: Any = ()) -> None:
        super().step(watchers)
        for lease in self.store.load():
            at_once = lease.state is LeaseState.REJECTED and lease.ended == self.clock.now()
            if at_once and self.other.engine.lease(lease.lease_id) is None:
                self.other.submit(WorkloadLease(lease.request))


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_a_request_that_a_site_forwards_is_due_at_the_same_instant(names: str) -> None:
    """Whichever of the two comes first in the order of the sites."""
    clock = SimulatedClock()
    forwarding = _Forwarding(_workload(_best_effort("1", 70, nodes=2), hosts=1), _CHECKED, clock)
    other = SiteRun(_workload(hosts=2), _CHECKED, clock)
    forwarding.other = other
    sites = {name: {"a": forwarding, "b": other}[name] for name in names}
    seen, watch = _noting(sites)

    results = World(sites).execute([watch]).sites

    assert _lives(results["a"]) == {"1": (LeaseState.REJECTED, None, 70)}
    assert _lives(results["b"]) == {"1": (LeaseState.DONE, 70, 170)}
    assert seen[:3] == [("a", 70), ("b", 70), ("b", 170)]


# -- routers ---------------------------------------------------------------------------------------------


def _least_loaded(request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
    return min(sites, key=lambda name: len(sites[name].view().live))


def _shortest_queue(request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
    return min(sites, key=lambda name: len(sites[name].view().queued))


def _fair_to_users(request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
    """Choose the site where the user has the fewest leases."""
    return min(sites, key=lambda name: len(sites[name].view().live_by_project.get(request.user, ())))


def _soonest(request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
    """Choose the site that quotes the earliest start; refuse what no site would grant."""
    starts = {
        name: found.lease.holdings[0].start if found.lease.holdings else math.inf
        for name, site in sites.items()
        if (found := site.quote(request)).lease is not None
    }
    return min(starts, key=starts.__getitem__, default=None)


def test_a_router_by_load_balances_even_requests_of_one_instant() -> None:
    """Each request is routed when the site of the one before has decided on it."""
    result = _route(_least_loaded, *(_best_effort(str(number)) for number in range(4)))

    assert result.destinations == {"0": "a", "1": "b", "2": "a", "3": "b"}
    assert {name: [lease.ended for lease in each.leases] for name, each in result.sites.items()} == {
        "a": [100, 200],
        "b": [100, 200],
    }


def test_a_router_by_queue_sees_what_has_ended_and_what_the_sites_get_themselves() -> None:
    a = _workload(*(_best_effort(f"own-{number}", number, 500) for number in range(3)))
    b = _workload(*(_best_effort(f"own-{number}", number, 300) for number in range(2)))
    requests = (_best_effort("1", 20), _best_effort("2", 30), _best_effort("3", 300), _best_effort("4", 300))
    result = _route(_shortest_queue, *requests, sites=_sites(a, b))

    # One lease runs and one has a place; only those behind them are queued. At 20 that is one at a, at 30 one at each.
    # At 300 a lease of b ends and the queue there moves up, before request 3 is routed.
    assert result.destinations == {"1": "b", "2": "a", "3": "b", "4": "b"}


def test_a_router_by_user_sees_the_live_leases_of_each() -> None:
    requests = [_best_effort(f"{user}{number}", number, user=user) for number in range(2) for user in ("x", "y")]

    assert _route(_fair_to_users, *requests).destinations == {"x0": "a", "y0": "a", "x1": "b", "y1": "b"}


def test_a_router_by_quotes_takes_the_earliest_start_and_refuses_what_no_site_can_hold() -> None:
    sites = _sites(_workload(_best_effort("own", 0, 1000)), _workload(_best_effort("b-own", 0, 400)))
    requests = (_best_effort("1", 10), _best_effort("2", 10, nodes=2), _best_effort("3", 400, duration=10))
    result = _route(_soonest, *requests, sites=sites)

    assert (result.destinations, result.refused) == ({"1": "b", "3": "b"}, ("2",))
    assert _lives(result.sites["b"])["3"] == (LeaseState.DONE, 500, 510)
    assert list(_lives(result.sites["a"])) == ["own"]


def test_asking_for_quotes_changes_nothing() -> None:
    """Not even when transfers of disk images are planned."""
    image = DiskImage("image", 1000)
    transfers = replace(_CHECKED, transfers=TransferOptions(bandwidth=100.0))
    requests = [
        replace(_best_effort(str(number), number * 37), software=image, submitted=number * 37) for number in range(6)
    ]

    def send_to_b(request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
        return "b"

    def ask_all_and_send_to_b(request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
        assert all(site.quote(request).granted for site in sites.values())
        return "b"

    asked, plain = (
        _route(router, *requests, sites=_sites(_workload(), _workload(hosts=2), settings=transfers))
        for router in (ask_all_and_send_to_b, send_to_b)
    )

    assert _without_times(asked) == _without_times(plain)
    assert asked.sites["b"].counters["image_transfers"] > 0


@pytest.mark.parametrize(
    "wanted", [_best_effort("1", 400), _reservation("1", start=480, submitted=400)], ids=["best-effort", "reservation"]
)
def test_a_quote_plans_no_transfer_in_the_past(wanted: LeaseRequest) -> None:
    """A site where nothing has been due for a while quotes from the present instant on."""
    settings = replace(_CHECKED, transfers=TransferOptions(bandwidth=100.0))
    quoted: list[int] = []

    def note_the_start(request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
        found = sites["a"].quote(request).lease
        assert found is not None
        quoted.append(found.holdings[0].start)
        return "a"

    # The transfer takes 80 s.
    with_image = replace(wanted, software=DiskImage("image", 1000))
    result = _route(note_the_start, with_image, sites=_sites(_workload(), settings=settings))

    assert (quoted, _lives(result.sites["a"])) == ([480], {"1": (LeaseState.DONE, 480, 580)})


def test_a_site_that_expects_requests_sees_what_happens_to_its_idle_hosts() -> None:
    """A host that failed at 500 and was back at 600 is as good as any other at 700, one that is away is not."""
    cloud = CloudBehaviour(host_failures=(HostFailure(0, 500, 300),))
    sites = _sites(_workload(), settings=replace(_CHECKED, cloud=cloud))
    result = _route(_soonest, _best_effort("1", 700), sites=sites)

    assert _lives(result.sites["a"]) == {"1": (LeaseState.DONE, 800, 900)}
    assert result.sites["a"].counters["host_failures"] == 1


def test_a_site_that_gets_all_requests_equals_a_run_of_them() -> None:
    """As long as no request coincides with anything else: at one instant, what else is due comes before requests."""
    requests = (_best_effort("1", 3), _best_effort("2", 21, 80, 2), _reservation("3", 55, 34), _best_effort("4", 71))
    workload = _workload(*requests, hosts=2)
    leases = tuple(replace(lease, real_duration=lease.request.duration - 11) for lease in workload.leases)
    workload = replace(workload, leases=leases)

    routed = World(_sites(_workload(hosts=2)), Arrivals(workload, _least_loaded)).execute().sites["a"]
    expected = Run(workload, _CHECKED).execute()

    assert replace(routed, wall_s=0.0, peak_rss_bytes=0) == replace(expected, wall_s=0.0, peak_rss_bytes=0)
    assert expected.counters["early_ends"] > 0


def test_the_same_input_twice_gives_the_same_result() -> None:
    requests = [_best_effort(str(number), 7 * number, 40 + 13 * number, 1 + number % 2) for number in range(12)]
    first, second = (
        _route(router, *requests, sites=_sites(_workload(hosts=2), _workload(_best_effort("own", 5), hosts=3)))
        for router in (_soonest, _soonest)
    )

    assert _without_times(first) == _without_times(second)
    assert set(first.destinations.values()) == {"a", "b"}


def _without_times(result: WorldResult) -> WorldResult:
    sites = {name: replace(each, wall_s=0.0, peak_rss_bytes=0) for name, each in result.sites.items()}
    return replace(result, sites=sites)


# -- what is refused -------------------------------------------------------------------------------------


def test_a_router_must_choose_a_site_of_the_world() -> None:
    with pytest.raises(InvalidValueError, match="router: chose 'c' for lease 1; choose one of a, b"):
        _route(lambda request, sites: "c", _best_effort("1"))


def test_a_world_needs_a_site() -> None:
    with pytest.raises(InvalidValueError, match="sites: there are none; give at least one"):
        World({})


def test_sites_with_different_clocks_are_refused() -> None:
    sites = {"a": Run(_workload(), _CHECKED), "b": Run(_workload(), _CHECKED)}
    with pytest.raises(InvalidValueError, match=r"sites\[b\]: has another clock; give all sites of a world the same"):
        World(sites)


def test_sites_that_get_routed_requests_run_until_all_leases_are_done() -> None:
    sites = _sites(_workload(), settings=replace(_CHECKED, stop_when=StopWhen.BEST_EFFORT_DONE))
    with pytest.raises(InvalidValueError, match=r"sites\[a\]: may stop before all leases are done"):
        World(sites, Arrivals(_workload(_best_effort("1")), _least_loaded))


@pytest.mark.parametrize(
    ("own", "routed"), [(("1",), ("1",)), ((), ("1", "1"))], ids=["own and routed", "routed twice"]
)
def test_leases_that_could_meet_at_a_site_need_different_ids(own: tuple[str, ...], routed: tuple[str, ...]) -> None:
    sites = _sites(_workload(), _workload(*map(_best_effort, own)))
    with pytest.raises(InvalidValueError, match="arrivals: lease 1 exists twice"):
        World(sites, Arrivals(_workload(*map(_best_effort, routed)), _least_loaded))
