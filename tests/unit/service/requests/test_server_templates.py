"""Server templates of managed leases that make no sense."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.cloud.facts import ImageFacts
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST, Resources
from lease_scheduler.records.documents import ReservationRecord
from lease_scheduler.service.requests.server_templates import check_bootable, check_images, check_servers

_NODES = [
    NodeSet(2, Resources({"VCPU": 1, HOST_SHARE: WHOLE_HOST})),
    # Three instances that are to be on one host.
    NodeSet(1, Resources({"VCPU": 6, HOST_SHARE: 3})),
]
_IMAGE = {"name": "web", "image_id": "i"}


@pytest.mark.parametrize(
    "servers",
    [
        [],
        [_IMAGE],
        [{**_IMAGE, "count": 1}, _IMAGE],
        [{**_IMAGE, "count": 3, "node_set": 1}, {**_IMAGE, "count": 2}],
        [{**_IMAGE, "user_data": "IyEvYmluL3NoCg=="}],
        [{**_IMAGE, "volume": {"size_gb": 5, "volume_type": "fast"}}],
        [{"name": "db", "count": 1, "volume": {"volume_id": name}} for name in "ab"],
    ],
)
def test_what_makes_sense(servers: list[dict[str, Any]]) -> None:
    check_servers(servers, _NODES)


@pytest.mark.parametrize(
    ("servers", "field", "problem"),
    [
        ([{**_IMAGE, "node_set": 2}], "servers[0].node_set", "there is no node set 2; they count from 0"),
        (
            [{**_IMAGE, "count": 3}],
            "servers[0].count",
            "room for 2 servers, of which 2 is left for these, not 3",
        ),
        ([_IMAGE, {**_IMAGE, "count": 1}], "servers[1].count", "of which 0 is left for these, not 1"),
        ([_IMAGE, _IMAGE], "servers[1].count", "of which 0 is left"),
        ([{"name": "web"}], "servers[0].image_id", "is missing"),
        ([{"name": "web", "volume": {"size_gb": 1}}], "servers[0].image_id", "is missing"),
        ([{**_IMAGE, "volume": {"volume_id": "a"}}], "servers[0].image_id", "has no image"),
        ([{**_IMAGE, "volume": {"volume_type": "fast"}}], "servers[0].volume", "give either"),
        ([{"name": "db", "volume": {"volume_id": "a", "size_gb": 1}}], "servers[0].volume", "give either"),
        ([{"name": "db", "volume": {"volume_id": "a"}}], "servers[0].volume.volume_id", "only one server"),
        (
            [{"name": "db", "count": 1, "volume": {"volume_id": "a"}}] * 2,
            "servers[1].volume.volume_id",
            "only one server",
        ),
        ([{**_IMAGE, "user_data": "#!/bin/sh"}], "servers[0].user_data", "must be base64, as in Nova"),
    ],
)
def test_what_makes_none_is_said(servers: list[dict[str, Any]], field: str, problem: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        check_servers(servers, _NODES)
    assert field in str(refused.value)
    assert problem in str(refused.value)


_NODES_FORM = {"nodes": [{"count": 1}]}


@pytest.mark.parametrize(
    ("resources", "server", "resource_type", "terms", "field"),
    [
        ({"VCPU": 1, "MEMORY_MB": 512}, _IMAGE, "virtual:instance", {}, "reservations[0].disk_gb"),
        ({"VCPU": 1, "MEMORY_MB": 512}, _IMAGE, "flavor:instance", {}, "reservations[0].flavor_id"),
        ({"VCPU": 1, "MEMORY_MB": 512}, _IMAGE, "virtual:instance", _NODES_FORM, "nodes[0].resources.DISK_GB"),
        ({"VCPU": 1, "DISK_GB": 1}, _IMAGE, "virtual:instance", {}, "reservations[0].memory_mb"),
        ({HOST_SHARE: WHOLE_HOST}, _IMAGE, "physical:host", _NODES_FORM, "nodes[0].resources.MEMORY_MB"),
        ({"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}, _IMAGE, "virtual:instance", {}, None),
        (
            {"VCPU": 1, "MEMORY_MB": 512},
            {"name": "db", "volume": {"volume_id": "v"}},
            "virtual:instance",
            {},
            None,
        ),
        ({"VCPU": 1, "MEMORY_MB": 512}, {**_IMAGE, "volume": {"size_gb": 5}}, "virtual:instance", {}, None),
    ],
)
def test_what_nova_would_not_boot(
    resources: dict[str, int], server: dict[str, Any], resource_type: str, terms: dict[str, Any], field: str | None
) -> None:
    """It is refused at the request, not after its start has failed three times."""
    record = ReservationRecord("r", resource_type, "r", terms, 1, 0)
    nodes = [NodeSet(1, Resources(resources))]
    if field is None:
        check_bootable([server], nodes, [record])
        return
    with pytest.raises(InvalidValueError, match=r"is missing for servers\[0\]") as refused:
        check_bootable([server], nodes, [record])
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("facts", "server", "resource_type", "terms", "field", "least"),
    [
        (ImageFacts(min_disk_gb=20), _IMAGE, "virtual:instance", {}, "reservations[0].disk_gb", "20"),
        (ImageFacts(stored_mb=10 * 1024 + 1), _IMAGE, "virtual:instance", {}, "reservations[0].disk_gb", "11"),
        (ImageFacts(min_memory_mb=1_025), _IMAGE, "virtual:instance", {}, "reservations[0].memory_mb", "1025"),
        (ImageFacts(min_memory_mb=1_025), _IMAGE, "flavor:instance", {}, "reservations[0].flavor_id", "1025"),
        (ImageFacts(min_disk_gb=11), _IMAGE, "virtual:instance", _NODES_FORM, "nodes[0].resources.DISK_GB", "11"),
        (
            ImageFacts(min_disk_gb=6),
            {**_IMAGE, "volume": {"size_gb": 5}},
            "virtual:instance",
            {},
            "servers[0].volume.size_gb",
            "6",
        ),
        (ImageFacts(10 * 1024, 10 * 1024, 10, 1_024), _IMAGE, "virtual:instance", {}, None, ""),
        (ImageFacts(min_disk_gb=20), {**_IMAGE, "volume": {"size_gb": 20}}, "virtual:instance", {}, None, ""),
        (ImageFacts(min_disk_gb=20), {"name": "db", "volume": {"volume_id": "v"}}, "virtual:instance", {}, None, ""),
    ],
)
@pytest.mark.parametrize("together", [1, 3], ids=["apart", "on one host"])
def test_what_is_too_small_for_its_image(
    facts: ImageFacts,
    server: dict[str, Any],
    resource_type: str,
    terms: dict[str, Any],
    field: str | None,
    least: str,
    together: int,
) -> None:
    """Servers that are to be on one host are planned as one VM, of which each has its share."""
    record = ReservationRecord("r", resource_type, "r", terms, 1, 0)
    amounts = {"VCPU": 1, "MEMORY_MB": 1_024, "DISK_GB": 10}
    whole = {name: amount * together for name, amount in amounts.items()}
    nodes = [NodeSet(1, Resources({**whole, **({} if together == 1 else {HOST_SHARE: together})}))]
    if field is None:
        check_images([server], nodes, [record], lambda image_id: facts)
        return
    with pytest.raises(InvalidValueError, match=f"give at least {least} per server") as refused:
        check_images([server], nodes, [record], lambda image_id: facts)
    assert refused.value.field == field
