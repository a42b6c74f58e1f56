"""What is planned for a lease document (Blazar's reservations, and node sets)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import DISK_GB, FLOATING_IP, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.service.core.terms import Pool, Terms, build_terms, numbered, with_count
from tests.functional.lease_document import lease_document

NOW = 1_000
HOUR = 3_600

_HOSTS = tuple(
    HostRecord(number, f"compute-{number}", 8, 1024, 0, NOW, {}, properties={"gpu": gpu, "rack": "a"})
    for number, gpu in ((1, "yes"), (2, "no"))
)
_ADDRESSES = tuple(
    FloatingIpRecord(f"ip-{last}", "net", f"192.0.2.{last}", NOW, reservable=last != 3) for last in (1, 2, 3)
)
_FLAVOR = Flavor({VCPU: 2, MEMORY_MB: 64, DISK_GB: 1}, frozenset({"CUSTOM_FAST"}))
_POOL = Pool(_HOSTS, _ADDRESSES, {"small": _FLAVOR})


def _terms(pool: Pool = _POOL, kind: str = "best-effort", **said: Any) -> Terms:
    return build_terms(lease_document("a", kind, **said), pool, NOW)


def _reserve(pool: Pool = _POOL, **reservation: Any) -> Terms:
    return _terms(pool, reservations=[{"id": "r", **reservation}])


@pytest.mark.parametrize(
    ("kind", "said", "start", "duration"),
    [
        ("reservation", {"start": NOW + 60, "end": NOW + 60 + HOUR}, NOW + 60, HOUR),
        ("reservation", {"start": NOW - 60, "end": NOW + HOUR}, NOW, HOUR),
        ("reservation", {"start": None, "duration": HOUR}, NOW, HOUR),
        ("deadline", {"duration": HOUR, "deadline": NOW + 2 * HOUR}, NOW, HOUR),
        ("best-effort", {"start": NOW + 60, "duration": HOUR}, None, HOUR),
        ("best-effort", {}, None, UNLIMITED),
        ("immediate", {"end": NOW + HOUR}, None, HOUR),
    ],
)
def test_start_and_duration(kind: str, said: dict[str, Any], start: int | None, duration: int) -> None:
    request = _terms(kind=kind, **said).request
    assert (request.start, request.duration) == (start, duration)


@pytest.mark.parametrize(
    ("kind", "said", "field"),
    [
        ("reservation", {"start": NOW + 60, "end": NOW + 60}, "end_date"),
        ("immediate", {"end": NOW}, "end_date"),
        ("reservation", {"start": NOW + 60}, "duration"),
    ],
)
def test_intervals_that_make_no_sense(kind: str, said: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        _terms(kind=kind, **said)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("affinity", "count", "vcpus", "per_host"), [(None, 3, 2, None), (False, 3, 2, 1), (True, 1, 6, None)]
)
def test_instances_with_affinity_are_one_on_a_host(
    affinity: bool | None, count: int, vcpus: int, per_host: int | None
) -> None:
    terms = _reserve(resource_type="virtual:instance", vcpus=2, memory_mb=8, disk_gb=0, amount=3, affinity=affinity)
    (nodes,) = terms.request.nodes
    assert (nodes.count, nodes.resources[VCPU], nodes.per_host) == (count, vcpus, per_host)
    assert terms.least == (count,)


_INSTANCES: dict[str, Any] = {
    "resource_type": "virtual:instance",
    "vcpus": 2,
    "memory_mb": 8,
    "disk_gb": 5,
    "amount": 1,
}


def test_extra_specs_and_the_second_disk_of_instances_are_planned() -> None:
    asked = {"resources:CUSTOM_LICENCE": "2", "trait:CUSTOM_FAST": "required"}
    (nodes,) = _reserve(**_INSTANCES, ephemeral_gb=20, extra_specs=asked).request.nodes
    assert (nodes.resources[DISK_GB], nodes.resources["CUSTOM_LICENCE"]) == (25, 2)
    assert nodes.required_traits == {"CUSTOM_FAST"}


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"trait:CUSTOM_FAST": "forbidden"}, 'must be "required"'),
        ({"resources:VGPU": 0}, "whole number of at least 1"),
        ({"resources:VGPU": "many"}, "whole number of at least 1"),
        ({"resources:VCPU": 4}, "is the vcpus of the reservation"),
    ],
)
def test_extra_specs_of_instances_that_make_no_sense(asked: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        _reserve(**_INSTANCES, extra_specs=asked)
    assert raised.value.field == f"reservations[0].extra_specs.{next(iter(asked))}"
    assert problem in raised.value.problem


def test_whole_hosts_may_be_fewer() -> None:
    terms = _reserve(resource_type="physical:host", min=1, max=2, hypervisor_properties='["=", "$gpu", "yes"]')
    assert terms.request.nodes == (NodeSet(2, Resources({HOST_SHARE: WHOLE_HOST}), hosts=frozenset({"compute-1"})),)
    assert terms.least == (1,)


def test_properties_that_are_hidden_are_found_nowhere() -> None:
    asked: dict[str, Any] = {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "resource_properties": '["=", "$gpu", "yes"]',
    }
    assert _reserve(**asked).request.nodes[0].hosts == frozenset({"compute-1"})
    hidden = Pool(_HOSTS, (), {}, hidden=frozenset({"gpu"}))
    assert _reserve(hidden, **asked).request.nodes[0].hosts == frozenset()


def test_a_private_flavor_of_others_does_not_exist() -> None:
    """As for Nova; that it is there, and what it consists of, is not told."""
    asked: dict[str, Any] = {"resource_type": "flavor:instance", "flavor_id": "big", "amount": 1}
    private = {"big": Flavor({VCPU: 2, MEMORY_MB: 64}, private_to=frozenset({"others"}))}
    with pytest.raises(InvalidValueError, match="there is no flavor big"):
        _reserve(Pool(_HOSTS, (), private), **asked)
    mine = {"big": Flavor({VCPU: 2, MEMORY_MB: 64}, private_to=frozenset({_terms().document.project_id}))}
    assert _reserve(Pool(_HOSTS, (), mine), **asked).request.nodes[0].count == 1


def test_a_flavor_is_shown_with_what_it_consists_of() -> None:
    terms = _reserve(resource_type="flavor:instance", flavor_id="small", amount=2, affinity=None)
    (nodes,) = terms.request.nodes
    assert (nodes.count, nodes.resources[MEMORY_MB], nodes.required_traits) == (2, 64, frozenset({"CUSTOM_FAST"}))
    shown = terms.document.reservations[0].terms
    assert (shown["vcpus"], shown["memory_mb"], shown["disk_gb"]) == (2, 64, 1)
    assert json.loads(shown["resource_properties"])["extra_specs"] == {"trait:CUSTOM_FAST": "required"}
    with pytest.raises(InvalidValueError, match="there is no flavor large"):
        _reserve(resource_type="flavor:instance", flavor_id="large", amount=1)


def test_addresses_that_are_required_are_node_sets_of_their_own() -> None:
    asked: dict[str, Any] = {"resource_type": "virtual:floatingip", "network_id": "net", "amount": 2}
    terms = _reserve(**asked, required_floatingips=["192.0.2.2"])
    one = Resources({FLOATING_IP: 1})
    assert terms.request.nodes == (
        NodeSet(1, one, hosts=frozenset({"192.0.2.2"})),
        NodeSet(1, one, hosts=frozenset({"192.0.2.1"})),
    )
    with pytest.raises(InvalidValueError, match=r"the site has no floating IP 192.0.2.3 to reserve in network net"):
        _reserve(**asked, required_floatingips=["192.0.2.3"])


def test_node_sets() -> None:
    nodes = [
        {"count": 4, "least": 2, "resources": {VCPU: 1}},
        {"count": 1, "resources": {}, "exclusive": True, "hosts": ["compute-2"], "properties": '["=", "$rack", "a"]'},
    ]
    terms = _reserve(resource_type="virtual:instance", nodes=nodes)
    first, second = terms.request.nodes
    assert (first.count, first.resources[HOST_SHARE], first.hosts) == (4, 1, None)
    assert (second.resources[HOST_SHARE], second.hosts) == (WHOLE_HOST, frozenset({"compute-2"}))
    assert terms.least == (2, 1)
    with pytest.raises(InvalidValueError, match="there is no host compute-9") as caught:
        _reserve(resource_type="virtual:instance", nodes=[{"count": 1, "hosts": ["compute-9"]}])
    assert caught.value.field == "reservations[0].nodes[0].hosts"


def test_a_type_that_cannot_be_leased() -> None:
    with pytest.raises(InvalidValueError, match="network is not a resource type that can be leased"):
        _reserve(resource_type="network", amount=1)


def test_vms_are_numbered_through_all_reservations() -> None:
    instance = {"resource_type": "virtual:instance", "vcpus": 1, "memory_mb": 1, "disk_gb": 0}
    reservations = [{"id": "a", **instance, "amount": 2}, {"id": "b", **instance, "amount": 3}]
    terms = _terms(reservations=reservations)
    found = numbered(terms.document, terms.request).reservations
    assert [(each.reservation_id, each.first_node, each.node_count) for each in found] == [("a", 0, 2), ("b", 2, 3)]


@pytest.mark.parametrize(
    ("reservation", "expected"),
    [
        ({"amount": 5}, {"amount": 2}),
        ({"min": 1, "max": 5}, {"min": 2, "max": 2}),
        ({"nodes": [{"count": 5, "least": 3}]}, {"nodes": [{"count": 2, "least": None}]}),
    ],
)
def test_a_reservation_with_another_number_of_nodes(reservation: dict[str, Any], expected: dict[str, Any]) -> None:
    assert with_count(reservation, 2) == expected
