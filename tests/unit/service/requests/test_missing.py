"""What the site does not have is named, with what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.records.pool import FloatingIpRecord
from lease_scheduler.service.core.terms import Pool
from lease_scheduler.service.requests.missing import check_site_has
from tests.unit.service.core.test_terms import _HOSTS

_IPS = (FloatingIpRecord("1", "net", "192.0.2.1", 0), FloatingIpRecord("2", "net", "192.0.2.2", 0))
_POOL = Pool(_HOSTS, _IPS, {})


def _refusal(pool: Pool, **reservation: Any) -> tuple[str, str | None]:
    with pytest.raises(RefusedError) as caught:
        check_site_has({"reservations": [reservation]}, pool)
    assert caught.value.code == 409
    return caught.value.message, caught.value.field


def test_a_pool_without_hosts_says_so_and_who_fills_it() -> None:
    message, field = _refusal(Pool((), _IPS, {}), resource_type="virtual:instance", nodes=[{"count": 1}])
    assert message.startswith("Not enough hosts available: the pool has no hosts; ")
    assert "lease-scheduler-manage pool fill" in message
    assert field is None


def test_properties_that_no_host_has() -> None:
    message, field = _refusal(
        _POOL, resource_type="virtual:instance", nodes=[{"count": 1, "properties": '["==", "$colour", "red"]'}]
    )
    assert field == "nodes[0].properties"
    assert f"{field}: no host has the property colour; hosts have " in message
    assert "gpu" in message
    hidden = Pool(_HOSTS, _IPS, {}, hidden=frozenset({"gpu"}))
    message, field = _refusal(hidden, resource_type="physical:host", resource_properties='["==", "$gpu", "yes"]')
    assert field == "reservations[0].resource_properties"
    assert "no host has the property gpu; hosts have " in message
    assert message.count("gpu") == 1, "private properties are not there for those who may not see them"


@pytest.mark.parametrize(
    ("network", "amount", "problem", "key"),
    [
        ("other", 1, "the site has no floating IPs in network other, not 1; name another network", "network_id"),
        ("net", 3, "the site has 2 floating IPs in network net, not 3; ask for at most 2", "amount"),
    ],
)
def test_floating_ips_that_the_site_does_not_have(network: str, amount: int, problem: str, key: str) -> None:
    message, field = _refusal(_POOL, resource_type="virtual:floatingip", network_id=network, amount=amount)
    assert field == f"reservations[0].{key}"
    assert message.startswith(f"{field}: {problem}")


@pytest.mark.parametrize(
    "reservation",
    [
        {"resource_type": "virtual:floatingip", "network_id": "net", "amount": 2},
        {"resource_type": "physical:host", "resource_properties": '["not", ["==", "$colour", "red"]]'},
        {"resource_type": "flavor:instance", "resource_properties": '{"id": "1", "vcpus": 1}'},
        {"resource_type": "physical:host", "resource_properties": '["==", "$gpu", "a value that no host has"]'},
    ],
)
def test_what_may_be_there_is_left_to_the_plan(reservation: dict[str, Any]) -> None:
    check_site_has({"reservations": [reservation]}, _POOL)
