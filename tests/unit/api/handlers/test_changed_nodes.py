"""Leases that were created with nodes, changed through Blazar's API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site
from tests.unit.api.handlers.test_leases import DATES


def changed(client: Client, site: Site, nodes: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the node set that the engine is told to plan instead."""
    made = (client.post("/v1/leases", {"name": "mine", **DATES, "nodes": [nodes]}).json or {})["lease"]
    reservation = {"id": made["reservations"][0]["id"], **changes}
    answer = client.put(f"/v1/leases/{made['id']}", {"reservations": [reservation]})
    if answer.status_code != 200:
        return {"refused": (answer.status_code, (answer.json or {})["field"])}
    (asked,) = site.calls[-1][3]["reservations"]
    assert asked.items() >= changes.items()
    (node_set,) = asked["nodes"]
    assert isinstance(node_set, dict)
    return node_set


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"amount": 5}, {"count": 5, "resources": {"VCPU": 2}}),
        ({"vcpus": 4, "disk_gb": 0}, {"count": 2, "resources": {"VCPU": 4}}),
        ({"memory_mb": 512}, {"resources": {"VCPU": 2, "MEMORY_MB": 512}}),
        ({"affinity": False}, {"per_host": 1}),
        ({"resource_properties": '["==", "$gpu", "yes"]'}, {"properties": '["==", "$gpu", "yes"]'}),
        ({"affinity": True}, {"refused": (409, "reservations[0].affinity")}),
    ],
)
def test_keys_of_instances_change_the_nodes(
    member: Client, site: Site, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    nodes = {"count": 2, "resources": {"VCPU": 2}}
    assert changed(member.at("1.2"), site, nodes, **changes).items() >= expected.items()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"min": 1, "max": 4}, {"count": 4, "least": 1, "exclusive": True}),
        ({"max": 3}, {"count": 3, "least": 2}),
        (
            {"hypervisor_properties": '["==", "$vcpus", "4"]'},
            {"refused": (409, "reservations[0].hypervisor_properties")},
        ),
    ],
)
def test_keys_of_hosts_change_the_nodes(
    member: Client, site: Site, changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    nodes = {"count": 2, "exclusive": True}
    assert changed(member.at("1.2"), site, nodes, **changes).items() >= expected.items()
