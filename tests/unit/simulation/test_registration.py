"""Whether simulations do what a site did (prediction A2, A4, E1, E2)."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.engine.run_record import RecordedUse, RunRecord
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.pool import HostRecord
from lease_scheduler.records.site import SiteBuilder
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.registration import BOUND, register
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload, WorkloadLease
from lease_scheduler.simulation.world import World
from tests import last_fit

#: Instants are seconds since the epoch, as on a site.
_START, _END = 1_800_000_000, 1_800_000_600

_SETTINGS = RunSettings(policies={"host_selection": "packing"})

_BOOTS, _SHUTDOWNS = (2, 3, 5), (1, 2)


def _hosts(count: int = 4) -> tuple[HostRecord, ...]:
    capacity = {"VCPU": 4, "MEMORY_MB": 4_096}
    return tuple(HostRecord(number, f"compute-{number}", 4, 4_096, 0, 5, capacity) for number in range(1, count + 1))


def _request(number: int, submitted: int, duration: int, **terms: Any) -> LeaseRequest:
    nodes = (NodeSet(1 + number % 2, Resources({"VCPU": 1, "MEMORY_MB": 512, HOST_SHARE: 1})),)
    return LeaseRequest(str(number), LeaseKind.BEST_EFFORT, nodes, _START + submitted, duration, **terms)


def _requests() -> list[LeaseRequest]:
    """Return requests that come in the first third of each minute, and are over in the last."""
    random = Random(5)
    found: list[LeaseRequest] = []
    for minute in range(9):
        for number in range(4):
            at = 5 * number + random.randrange(3)
            found.append(
                _request(len(found), 60 * minute + at, 60 * random.randrange(2) + 40 - at + random.randrange(9))
            )
    return found


def _run(requests: list[LeaseRequest], seed: int = 99) -> RunRecord:
    """Return what a site did with requests. It is a simulation itself, but for the form of its record."""
    site = SiteBuilder().build(_hosts(), ())
    cloud = CloudBehaviour(
        measured={OperationKind.START: _BOOTS, OperationKind.STOP: _SHUTDOWNS},
        seed=seed,
    )
    run = SiteRun(
        Workload("site", tuple(map(WorkloadLease, requests)), site),
        replace(_SETTINGS, cloud=cloud),
        SimulatedClock(_START),
    )
    result = World({"site": run}).execute().sites["site"]
    uses = tuple(
        RecordedUse(each.lease_id, each.phase.value, each.start, each.end, each.assignment)
        for each in result.occupations
    )
    return RunRecord(_START, _END, site, result.leases, uses, _BOOTS)


def test_a_simulation_does_what_the_site_did() -> None:
    found = register(_run(_requests()), _SETTINGS, runs=6)
    assert found.agrees, found
    assert (found.leases, found.withdrawn, found.resource_class) == (36, 0, "VCPU")
    assert found.measured == {"start": 3, "suspend": 0, "resume": 0, "stop": 36}
    assert [each.host for each in found.hosts] == [f"compute-{number}" for number in range(1, 5)]
    assert found.hosts[0].recorded > 0.3
    # Each simulation draws other times.
    assert found.hosts[0].spread > 0


def test_a_scheduler_with_an_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if all that it does is to prefer other hosts (prediction E1, check 5)."""
    record = _run(_requests())
    last_fit.inject(monkeypatch)
    found = register(record, _SETTINGS, runs=2)
    assert not found.agrees
    assert found.largest > 5 * BOUND


def test_leases_that_ended_early_are_replayed_as_long_as_they_ran() -> None:
    record = _run([_request(0, 0, 100), _request(1, 0, 300)])
    short = tuple(
        replace(each, request=replace(each.request, duration=400)) if each.lease_id == "1" else each
        for each in record.leases
    )
    found = register(replace(record, leases=short), _SETTINGS, runs=6)
    assert found.agrees, found


def test_leases_that_never_ran_are_left_out() -> None:
    record = _run([_request(0, 0, 100)])
    gone = Lease(_request(7, 50, 500), 1, LeaseState.CANCELLED, ended=_START + 60)
    found = register(replace(record, leases=(*record.leases, gone)), _SETTINGS, runs=1)
    assert (found.leases, found.withdrawn) == (1, 1)
    assert found.agrees


def test_whole_hosts_and_time_outside_do_not_count_twice() -> None:
    whole = LeaseRequest(
        "1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({HOST_SHARE: WHOLE_HOST})),), _START + 300, 10_000
    )
    found = register(_run([whole]), _SETTINGS, runs=1)
    (host,) = [each for each in found.hosts if each.recorded]
    # It booted for at least two seconds, and is not over when the record ends.
    assert 0.48 < host.recorded < 0.5
    assert found.agrees


def test_a_record_that_cannot_be_replayed_is_refused() -> None:
    record = _run([_request(0, 0, 100)])
    with pytest.raises(InvalidValueError, match="no lease was submitted"):
        register(replace(record, leases=()), _SETTINGS, runs=1)
    with pytest.raises(InvalidValueError, match=r"submitted before held hosts then \(1\)"):
        register(replace(record, uses=(*record.uses, RecordedUse("x", "run", 1, 2, (1,)))), _SETTINGS, runs=1)
