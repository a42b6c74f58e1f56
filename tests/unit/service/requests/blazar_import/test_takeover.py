from __future__ import annotations

import json
from typing import Any

import pytest

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.service.requests.blazar_import.takeover import ImportOptions, Takeover
from lease_scheduler.store.blazar.contents import BlazarLease
from tests.unit.service.requests.blazar_import.blazar_values import (
    NOW,
    floating_ip,
    host,
    lease,
    of_hosts,
    of_instances,
    reservation,
    taken,
)


def _only(found: Takeover) -> Any:
    assert found.refused == []
    (made,) = found.changes.leases.values()
    return made


def _refusal(found: Takeover) -> str:
    (refused,) = found.refused
    return str(refused)


def test_a_lease_has_as_many_hosts_as_it_was_given() -> None:
    found = taken(lease(of_hosts("1-3", "2", "3")))
    made = _only(found)
    assert (made.state, made.request.node_count, made.holdings[0].assignment) == (LeaseState.READY, 2, (2, 3))
    document = found.changes.documents["lease"]
    assert (document.reservations[0].terms["min"], document.reservations[0].terms["max"]) == (1, 3)
    assert (document.reservations[0].first_node, document.reservations[0].node_count) == (0, 2)
    assert (document.degraded, found.differences, found.changes.begun) == (False, [], [])


def test_a_lease_that_lost_hosts_is_degraded() -> None:
    found = taken(lease(of_hosts("2-2", "3")))
    document = found.changes.documents["lease"]
    assert (_only(found).request.node_count, document.degraded) == (1, True)
    assert document.reservations[0].missing_resources
    (difference,) = found.differences
    assert "has fewer hosts than were promised, 1" in difference.reason


def test_what_runs_is_made_known_to_the_cloud() -> None:
    found = taken(lease(of_hosts("1-1", "1"), status="ACTIVE", start=NOW - 50, before_end_done=True))
    made = _only(found)
    assert (made.state, made.started, made.active_since) == (LeaseState.ACTIVE, NOW - 50, NOW - 50)
    (intent,) = found.changes.begun
    assert intent.operation is not None
    assert (intent.intent_id, intent.operation.kind, intent.operation.assignment) == (1, OperationKind.ADJUST, (1,))
    assert found.changes.documents["lease"].before_end_done


def test_reservations_follow_each_other() -> None:
    found = taken(lease(of_instances(2, "3", "3"), of_hosts("1-1", "1")))
    assert _only(found).holdings[0].assignment == (3, 3, 1)
    second = found.changes.documents["lease"].reservations[1]
    assert (second.first_node, second.node_count) == (2, 1)


def test_the_hosts_that_a_lease_has_stay_allowed() -> None:
    """Blazar compares texts there: "10" is less than "9"."""
    hosts = (host("1", properties={"size": "10"}), host("2", properties={"size": "8"}), host("3"))
    made = _only(taken(lease(of_hosts("1-1", "1", query='["<", "$size", "9"]')), hosts=hosts))
    assert made.request.nodes[0].hosts == {"node1", "node2"}


def test_hosts_with_a_forbidden_trait_are_not_allowed() -> None:
    flavor = {"id": "f", "vcpus": 1, "ram": 0, "disk": 0, "extra_specs": {"trait:OLD": "forbidden"}}
    terms = {"vcpus": 1, "memory_mb": 0, "disk_gb": 0, "amount": 1, "affinity": None}
    found = taken(
        lease(reservation("flavor:instance", {**terms, "resource_properties": json.dumps(flavor)}, hosts=("1",))),
        hosts=(host("1"), host("2", traits=("OLD",)), host("3")),
    )
    assert _only(found).request.nodes[0].hosts == {"node1", "node3"}
    assert found.changes.documents["lease"].reservations[0].terms["flavor_id"] == "f"


def test_required_addresses_come_first() -> None:
    terms = {"network_id": "net", "amount": 2, "required_floatingips": ["203.0.113.2"]}
    kind = "virtual:floatingip"
    addresses = (floating_ip(1), floating_ip(2))
    found = taken(lease(reservation(kind, terms, floating_ips=("ip1", "ip2"))), floating_ips=addresses)
    made = _only(found)
    assert [node_set.hosts for node_set in made.request.nodes] == [{"203.0.113.2"}, {"203.0.113.1"}]
    assert made.holdings[0].assignment == (5, 4)
    other = taken(lease(reservation(kind, terms, floating_ips=("ip1",))), floating_ips=addresses)
    assert "other addresses than it asked for" in _refusal(other)


def test_servers_that_were_to_be_saved_are_saved() -> None:
    found = taken(lease(of_hosts("1-1", "1", before_end="snapshot")))
    document = found.changes.documents["lease"]
    assert document.saved_nodes(by_default=False) == {0}
    assert document.on_end == "delete"


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (lease(of_instances(2, "1", "2", affinity=True)), "has affinity, but more than one host"),
        (lease(of_hosts("some", "1")), "has no number of hosts"),
        (lease(of_hosts("1-1", "1", query="nonsense")), "its terms do not make sense here: resource_properties"),
        (lease(of_hosts("1-1", "9")), "it has host or floating IP 9, which is not taken over"),
        (lease(reservation("virtual:instance", None)), "has no terms"),
        (lease(of_hosts("1-1")), "has nothing left in Blazar"),
        (lease(of_hosts("1-1", "1"), end=NOW + 100), "its terms do not make sense here: end_date"),
        (lease(of_hosts("1-1", "1"), status="STARTING"), "Blazar is changing it (STARTING)"),
        (lease(of_hosts("1-1", "1"), status=None), "Blazar is changing it"),
        (lease(of_hosts("1-1", "1"), reservation("device", {})), "of the type device, which is not known here"),
    ],
)
def test_what_refuses(asked: BlazarLease, reason: str) -> None:
    found = taken(asked)
    assert reason in _refusal(found)
    left_out = taken(asked, wanted=ImportOptions(leave_out=frozenset({"lease"})))
    assert (left_out.refused, left_out.changes.leases) == ([], {})
    assert [str(each) for each in left_out.left_out] == ["lease lease (a lease): is to be left out"]


@pytest.mark.parametrize("status", ["ERROR", "CREATING", "DELETING"])
def test_what_promises_nothing_is_left_out(status: str) -> None:
    found = taken(lease(of_hosts("1-1", "1"), status=status))
    assert (found.changes.leases, found.refused) == ({}, [])
    assert f"({status})" in str(found.left_out[0])


def test_a_running_lease_that_is_late_to_end_is_taken_over() -> None:
    """The engine ends it; until then the lease must keep its hosts in the plan."""
    late = lease(of_hosts("1-1", "1"), status="ACTIVE", start=NOW - 50, end=NOW - 10)
    assert _only(taken(late)).state is LeaseState.ACTIVE
    too_late = taken(lease(of_hosts("1-1", "1"), start=NOW - 50, end=NOW - 10))
    assert (too_late.changes.leases, len(too_late.left_out)) == ({}, 1)


def test_history_that_makes_no_sense_any_more_is_left_out() -> None:
    terms = {"network_id": "net", "amount": 1, "required_floatingips": ["203.0.113.9"]}
    over = lease(reservation("virtual:floatingip", terms), status="TERMINATED", start=NOW - 50, end=NOW - 10)
    found = taken(over, wanted=ImportOptions(history=True))
    assert (found.changes.leases, found.refused, len(found.left_out)) == ({}, [], 1)
    assert taken(over).left_out == []
