"""Haizea's leases as bodies of REST, and back (haizea F23)."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.haizea.frontend.documents import Translation, body_of, host_of, written_lease
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState

NOW = 1_900_000_000
NODES = (NodeSet(2, Resources({"VCPU": 150, "MEMORY_MB": 512, "Disk": 1_025}), frozenset({"HW_GPU"})),)


def _request(kind: LeaseKind = LeaseKind.BEST_EFFORT, **terms: Any) -> LeaseRequest:
    return LeaseRequest("", kind, terms.pop("nodes", NODES), NOW, **{"duration": 3_600, **terms})


def _body(says_mode: bool = False, translation: Translation | None = None, /, **terms: Any) -> dict[str, Any]:
    return body_of(_request(**terms), says_mode, translation or Translation())


def test_nodes_become_resources_of_the_service() -> None:
    """Fractions of VCPUs and of GB are rounded up; where VCPUs are hundredths there are no fractions."""
    (nodes,) = _body()["nodes"]
    assert nodes == {
        "count": 2,
        "resources": {"VCPU": 2, "MEMORY_MB": 512, "DISK_GB": 2},
        "traits": ["HW_GPU"],
    }
    assert _body(False, Translation(cpu_units=1))["nodes"][0]["resources"]["VCPU"] == 150
    with pytest.raises(InvalidValueError, match="'Net-in' is unknown to the service"):
        _body(nodes=(NodeSet(1, Resources({"Net-in": 1})),))


@pytest.mark.parametrize(
    ("kind", "terms", "dates"),
    [
        (LeaseKind.IMMEDIATE, {}, {}),
        (LeaseKind.BEST_EFFORT, {}, {}),
        (LeaseKind.RESERVATION, {"start": NOW}, {"start_date": "2030-03-17T17:46:40Z"}),
        (
            LeaseKind.DEADLINE,
            {"start": NOW, "deadline": NOW + 7_200},
            {"start_date": "2030-03-17T17:46:40Z", "deadline": "2030-03-17T19:46:40Z"},
        ),
    ],
)
def test_kinds_and_dates_become_keys_of_the_service(
    kind: LeaseKind, terms: dict[str, Any], dates: dict[str, str]
) -> None:
    body = _body(kind=kind, **terms)
    assert (body["kind"], body["duration"]) == (kind.value, 3_600)
    assert {key: body[key] for key in ("start_date", "deadline") if key in body} == dates


def test_a_date_after_the_year_9999_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="<exact time>: lies beyond the year 9999"):
        _body(kind=LeaseKind.RESERVATION, start=10**14)


def test_the_preemption_mode_of_a_lease_goes_before_the_configured_one() -> None:
    """The lease's own attribute counts; a lease that is not preemptible has none."""
    assert "preemption_mode" not in _body(preemptible=False)
    assert _body(preemptible=True)["preemption_mode"] == "shelve"
    assert _body(False, Translation(preemption_mode="stop"), preemptible=True)["preemption_mode"] == "stop"
    said = _body(True, preemptible=True, preemption_mode=PreemptionMode.DELETE)
    assert said["preemption_mode"] == "delete"


def _shown(**values: Any) -> dict[str, Any]:
    return {
        "id": "8d9c6a4c-0000-4000-8000-000000000000",
        "number": 7,
        "kind": "best-effort",
        "state": "queued",
        "start_date": None,
        "end_date": None,
        "earliest_start": None,
        "duration": None,
        "deadline": None,
        "preemptible": True,
        "preemption_mode": "shelve",
        "submitted_at": "2030-03-17T17:46:40Z",
        "started_at": None,
        "ended_at": None,
        "accumulated": 0,
        "reason": "",
        "extras": {},
        "reservations": [
            {"resource_type": "virtual:instance", "amount": 2, "resources": {"VCPU": 2}, "traits": []},
        ],
        **values,
    }


def test_a_lease_of_the_service_becomes_one_of_haizea() -> None:
    extras = {"haizea:user": "7", "haizea:image": "foo", "haizea:image-size": "10", "a": "b"}
    lease = written_lease(_shown(extras=extras, reason="no room"), Translation())
    assert (lease.number, lease.kind, lease.state) == (7, LeaseKind.BEST_EFFORT, LeaseState.QUEUED)
    assert (lease.duration, lease.start, lease.submitted) == (UNLIMITED, None, NOW)
    assert (lease.user, lease.software) == ("7", DiskImage("foo", 10))
    assert lease.nodes == (NodeSet(2, Resources({"VCPU": 200})),)
    assert lease.extras == {
        "a": "b",
        "status:uuid": "8d9c6a4c-0000-4000-8000-000000000000",
        "status:accumulated": "0",
        "status:reason": "no room",
    }


def test_the_start_of_a_deadline_lease_is_its_earliest_one() -> None:
    """A lease without a start may start from its submission on, as in a request."""
    shown = _shown(kind="deadline", deadline="2030-03-18T00:00:00Z")
    assert written_lease(shown, Translation()).start == NOW
    later = written_lease({**shown, "earliest_start": "2030-03-17T18:00:00Z"}, Translation())
    assert later.start == NOW + 800


@pytest.mark.parametrize(
    ("reservation", "count", "resources"),
    [
        ({"resource_type": "physical:host", "min": 3, "max": 4}, 3, {"HOST_SHARE": 1_000_000}),
        ({"resource_type": "virtual:floatingip", "amount": 2, "network_id": "n"}, 2, {"FLOATING_IP": 1}),
        (
            {"resource_type": "virtual:instance", "amount": 1, "vcpus": 2, "memory_mb": 512, "disk_gb": 3},
            1,
            {"VCPU": 200, "MEMORY_MB": 512, "Disk": 3_072},
        ),
    ],
)
def test_reservations_of_blazar_become_nodes(
    reservation: dict[str, Any], count: int, resources: dict[str, int]
) -> None:
    (nodes,) = written_lease(_shown(reservations=[reservation]), Translation()).nodes
    assert nodes == NodeSet(count, Resources(resources))


def test_a_host_of_the_service_becomes_one_of_haizea() -> None:
    shown = {"id": "3", "hypervisor_hostname": "node", "vcpus": 8, "memory_mb": 32_768}
    assert host_of(shown, Translation()) == {"id": 3, "hostname": "node", "cpu": 800, "mem": 32_768}


def test_a_range_of_hosts_counts_the_hosts_that_it_holds() -> None:
    """If the front end may see the hosts; otherwise the requested minimum."""
    hosts = {"resource_type": "physical:host", "min": 1, "max": 2}
    held = [{"hosts": ["node1", "node2"]}]
    (nodes,) = written_lease(_shown(reservations=[hosts], holdings=held), Translation()).nodes
    assert nodes.count == 2
    (nodes,) = written_lease(_shown(reservations=[hosts], holdings=[{}]), Translation()).nodes
    assert nodes.count == 1
    address = {"resource_type": "virtual:floatingip", "amount": 1}
    held = [{"hosts": ["node1", "192.0.2.1"]}]
    found = written_lease(_shown(reservations=[hosts, address], holdings=held), Translation()).nodes
    assert [each.count for each in found] == [1, 1]
