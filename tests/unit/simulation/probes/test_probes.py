"""The events that probes get, and what they compute from them (haizea F43, F82-F85)."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.plan import Plan
from lease_scheduler.simulation.accounting import Accounting, Entry
from lease_scheduler.simulation.probes.base import Probe
from lease_scheduler.simulation.probes.loader import load_probes, probe_names
from lease_scheduler.simulation.probes.observed_store import ObservedStore
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

ONE = Resources({"VCPU": 1})


def _request(lease_id: str, kind: LeaseKind, submitted: int, nodes: int = 2, **terms: Any) -> WorkloadLease:
    extras = {"SWF_queue": "4", "State": "odd"} if kind is LeaseKind.BEST_EFFORT else {}
    node_sets = (NodeSet(nodes, ONE),)
    duration = terms.pop("duration", 100)
    return WorkloadLease(LeaseRequest(lease_id, kind, node_sets, submitted, duration, **terms, extras=extras))


WORKLOAD = Workload(
    "small",
    (
        _request("first", LeaseKind.BEST_EFFORT, 0),
        _request("second", LeaseKind.BEST_EFFORT, 10),
        _request("third", LeaseKind.BEST_EFFORT, 10),
        _request("meeting", LeaseKind.RESERVATION, 20, start=1000),
        _request("taken", LeaseKind.RESERVATION, 30, start=1050),
        _request("now", LeaseKind.IMMEDIATE, 40),
        _request("later", LeaseKind.IMMEDIATE, 500),
        _request("night", LeaseKind.DEADLINE, 600, start=700, deadline=5000),
    ),
    Site.homogeneous(2, ONE),
)


def _accounted(*probes: str) -> Accounting:
    return Run(WORKLOAD, RunSettings(probes=probes)).execute().accounting


def test_all_probes_of_haizea_are_installed() -> None:
    assert set(probe_names()) >= {
        *("lease", "lease-extras", "ar", "best-effort", "immediate"),
        *("cpu-utilization", "disk-usage", "deadline", "price"),
    }


def test_an_unknown_probe_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"accounting.probes: there is no probe 'x'; installed are: ar, best-"):
        load_probes(["x"], Accounting())


def test_a_probe_that_is_named_twice_is_loaded_once() -> None:
    assert len(load_probes(["ar", "ar"], Accounting())) == 1


def test_without_probes_nothing_is_recorded() -> None:
    assert _accounted() == Accounting()


def test_the_lease_probe_records_every_lease() -> None:
    accounting = _accounted("lease")
    assert list(accounting.leases) == [each.request.lease_id for each in WORKLOAD.leases]
    assert accounting.leases["night"] == {
        "State": "Done",
        "Number of nodes": 2,
        "Requested duration": 100,
        "Actual duration": 100,
        "Start": 100,
        "Deadline": 4300,
    }
    assert accounting.leases["taken"]["State"] == "Rejected"
    assert accounting.run == {
        "Total requested leases": 8,
        "Total completed leases": 6,
        "Total rejected leases (by user)": 0,
        "Total rejected leases": 2,
    }


def test_extras_do_not_hide_what_became_of_a_lease() -> None:
    for probes in (("lease", "lease-extras"), ("lease-extras", "lease")):
        found = _accounted(*probes).leases["first"]
        assert (found["State"], found["SWF_queue"]) == ("Done", "4")


def test_the_ar_probe_counts_reservations() -> None:
    accounting = _accounted("ar")
    assert accounting.counters["Accepted AR"].entries == [Entry(20, 1, "meeting")]
    assert accounting.counters["Rejected AR"].entries == [Entry(30, 1, "taken")]
    assert accounting.run == {"Total accepted AR": 1, "Total rejected AR": 1}


def test_the_immediate_probe_counts_immediate_leases() -> None:
    accounting = _accounted("immediate")
    assert accounting.counters["Accepted Immediate"].entries == [Entry(500, 1, "later")]
    assert accounting.counters["Rejected Immediate"].entries == [Entry(40, 1, "now")]
    assert accounting.leases["later"] == {"Waiting time": 0, "Slowdown": 1.0}
    assert accounting.run == {"Total accepted Immediate": 1, "Total rejected Immediate": 1}


def test_the_best_effort_probe_records_waits_and_the_queue() -> None:
    """The second waits 90 s for the first, the third 190 s; slowdown = (wait + run) / run."""
    accounting = _accounted("best-effort")
    assert accounting.leases["second"] == {"Waiting time": 90, "Slowdown": 1.9}
    assert accounting.leases["third"] == {"Waiting time": 190, "Slowdown": 2.9}
    assert [entry.instant for entry in accounting.counters["Best-effort completed"].entries] == [100, 200, 300]
    queue = accounting.counters["Queue size"].entries
    assert queue[0] == Entry(0, 0)
    assert queue[-1].value == 0
    assert accounting.run == {"Total best-effort completed": 3, "all-best-effort": 300}


def test_the_deadline_probe_records_waits_and_slowdowns() -> None:
    assert _accounted("deadline").leases == {"night": {"Waiting time": 0, "Slowdown": 1.0}}


def test_the_utilization_probe_records_changes_and_averages() -> None:
    counter = _accounted("cpu-utilization").counters["CPU utilization"]
    assert [(entry.instant, entry.value) for entry in counter.entries[:3]] == [(0, 1.0), (300, 0.0), (500, 1.0)]
    assert counter.averages()[:3] == [1.0, 1.0, 0.6]


def test_the_price_probe_records_prices_and_revenue() -> None:
    run = Run(
        WORKLOAD,
        RunSettings(policies={"pricing": "constant"}, probes=("price",), policy_options={"pricing_rate": "36"}),
    )
    accounting = run.execute().accounting
    assert accounting.leases["first"] == {"Price": 2.0, "rate": 36.0}
    assert accounting.run["Revenue"] == 12.0


def test_disk_usage_without_transfers_has_no_entries() -> None:
    assert _accounted("disk-usage").counters["Disk usage"].entries == []


def test_probes_see_requests_and_ends_before_steps() -> None:
    seen: list[tuple[str, str, int]] = []

    class Listening(Probe):
        def at_request(self, lease: Lease, now: int) -> None:
            seen.append(("request", lease.lease_id, now))

        def at_end(self, lease: Lease, now: int) -> None:
            seen.append(("end", lease.lease_id, now))

        def at_step(self, plan: Plan, now: int) -> None:
            seen.append(("step", "", now))

    store = ObservedStore([Listening(Accounting())])
    plan = Plan(Site.homogeneous(2, ONE))
    first = Lease(WORKLOAD.leases[0].request, 0).to(LeaseState.PENDING)
    store.save(first.to(LeaseState.QUEUED))
    store.save(first.to(LeaseState.REJECTED))
    store.tell(plan, 3)
    store.tell(plan, 4)
    assert seen == [("request", "first", 3), ("end", "first", 3), ("step", "", 3), ("step", "", 4)]
