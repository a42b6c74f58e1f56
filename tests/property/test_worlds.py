"""Random sites that share a clock, with and without requests that are routed to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.plan.transfers.options import TransferOptions
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.probes.loader import probe_names
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings, StopWhen
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload
from lease_scheduler.simulation.world import Arrivals, RoutableSite, World, WorldResult

from .random_runs import RUN_SETTINGS, clouds, workloads, workloads_with_images

_EXAMPLES = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
_NAMES = ("a", "b", "c")


@st.composite
def _run_settings(draw: st.DrawFn, workload: Workload) -> RunSettings:
    assert workload.site is not None
    transfers = draw(st.sampled_from([None, None, TransferOptions(bandwidth=100.0)]))
    cloud = draw(clouds(len(workload.site)))
    return replace(draw(RUN_SETTINGS), cloud=cloud, transfers=transfers)


def _comparable(result: RunResult) -> RunResult:
    return replace(result, wall_s=0.0, peak_rss_bytes=0)


# -- sites with workloads of their own -------------------------------------------------------------------


@_EXAMPLES
@given(st.lists(workloads_with_images(), min_size=1, max_size=3), st.data())
def test_sites_with_separate_workloads_equal_separate_runs(separate: list[Workload], data: st.DataObject) -> None:
    """Whatever happens in the clouds, and whenever each of them stops."""
    chosen = []
    for workload in separate:
        until = data.draw(st.sampled_from([StopWhen.ALL_LEASES_DONE, *StopWhen]))
        run_settings = replace(
            data.draw(_run_settings(workload)),
            stop_when=until,
            stop_time=data.draw(st.integers(0, 3000)) if until is StopWhen.EXACT else None,
            probes=tuple(probe_names()),
        )
        chosen.append((workload, run_settings))
    clock = SimulatedClock()
    sites = {name: SiteRun(*each, clock) for name, each in zip(_NAMES, chosen, strict=False)}

    together = World(sites).execute()

    alone = {name: Run(*each).execute() for name, each in zip(_NAMES, chosen, strict=False)}
    assert {name: _comparable(each) for name, each in together.sites.items()} == {
        name: _comparable(each) for name, each in alone.items()
    }
    assert (dict(together.destinations), together.refused) == ({}, ())
    assert clock.now() == max(each.end for each in alone.values())


# -- sites with a router ---------------------------------------------------------------------------------


class _Chosen:
    """A router that follows a list, and may look at all sites before it does.

    :param choices: names of sites and None, which are taken in turns
    """

    def __init__(self, choices: list[str | None], *, looks: bool) -> None:
        self._choices = choices
        self._looks = looks
        self._asked = 0

    def __call__(self, request: LeaseRequest, sites: Mapping[str, RoutableSite]) -> str | None:
        if self._looks:
            for site in sites.values():
                quote, view = site.quote(request), site.view()
                assert (quote.lease is None) == (quote.refusal is not None)
                assert len(view.queued) <= len(view.live)
                assert all(not lease.is_final for lease in view.live)
        self._asked += 1
        return self._choices[(self._asked - 1) % len(self._choices)]


def _with_ids(workload: Workload, prefix: str) -> Workload:
    leases = (
        replace(lease, request=replace(lease.request, lease_id=prefix + lease.request.lease_id))
        for lease in workload.leases
    )
    return replace(workload, leases=tuple(leases))


def _routed(
    own: list[tuple[Workload, RunSettings]], arrivals: Workload, choices: list[str | None], *, looks: bool
) -> WorldResult:
    clock = SimulatedClock()
    sites = {name: SiteRun(*each, clock) for name, each in zip(_NAMES, own, strict=False)}
    return World(sites, Arrivals(arrivals, _Chosen(choices, looks=looks))).execute()


@_EXAMPLES
@given(st.lists(workloads(), min_size=1, max_size=2), workloads(), st.data())
def test_no_routed_request_is_lost(own: list[Workload], arrivals: Workload, data: st.DataObject) -> None:
    """Each is at one site or refused, the sites keep what they promise, and looking at them makes no difference."""
    chosen = [
        (workload, data.draw(RUN_SETTINGS if exact else _run_settings(workload)), exact)
        for name, each in zip(_NAMES, own, strict=False)
        for workload, exact in [(_with_ids(each, name), data.draw(st.booleans()))]
    ]
    sites = [(workload, run_settings) for workload, run_settings, _ in chosen]
    choices = data.draw(st.lists(st.sampled_from([None, *_NAMES[: len(own)]]), min_size=1, max_size=8))

    result = _routed(sites, arrivals, choices, looks=True)

    everywhere = [lease.request.lease_id for lease in arrivals.leases]
    assert sorted([*result.destinations, *result.refused]) == sorted(everywhere)
    for (name, each), (workload, _, exact) in zip(result.sites.items(), chosen, strict=True):
        got = [lease for lease in arrivals.leases if result.destinations.get(lease.request.lease_id) == name]
        check_result(each, replace(workload, leases=(*workload.leases, *got)), exact=exact)
        assert each.last_submission == max(lease.request.submitted for lease in (*workload.leases, *got))

    again = _routed(sites, arrivals, choices, looks=False)
    assert {name: _comparable(each) for name, each in again.sites.items()} == {
        name: _comparable(each) for name, each in result.sites.items()
    }
    assert (again.destinations, again.refused) == (result.destinations, result.refused)
