from __future__ import annotations

import pytest

from lease_scheduler.model.host import Host
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, VCPU, WHOLE_HOST, Resources
from lease_scheduler.service.requests.blazar_import.promises import Claim, broken_promises

_HOSTS = {
    "node1": Host("node1", Resources({VCPU: 10, HOST_SHARE: WHOLE_HOST}), frozenset({"FAST"}), Resources({VCPU: 8})),
    "203.0.113.1": Host("203.0.113.1", Resources({FLOATING_IP: 1})),
}
_WHOLE = Resources({HOST_SHARE: WHOLE_HOST})
_ADDRESS = Resources({FLOATING_IP: 1})


def _slot(vcpus: int) -> Resources:
    return Resources({VCPU: vcpus, HOST_SHARE: 1})


def _found(*claims: tuple[str, int, int, Resources], host: str = "node1", new: str = "abc") -> list[str]:
    made = [Claim(lease_id, host, start, end, resources) for lease_id, start, end, resources in claims]
    return [str(each) for each in broken_promises(_HOSTS, made, set(new))]


def test_what_fits_is_not_told() -> None:
    assert _found(("a", 0, 10, _slot(5)), ("b", 5, 15, _slot(5)), ("c", 10, 20, _slot(5))) == []


def test_who_leaves_makes_room_for_who_comes_at_the_same_instant() -> None:
    assert _found(("b", 10, 20, _WHOLE), ("a", 0, 10, _WHOLE)) == []


def test_slots_of_one_reservation_count_each() -> None:
    """Three slots of three CPUs and two more on ten CPUs, as Blazar 18 grants them."""
    three = [("a", 0, 10, _slot(3))] * 3
    assert _found(*three) == []
    at_first, later = _found(*three, ("b", 0, 10, _slot(3)), ("c", 5, 10, _slot(1)))
    assert at_first == "leases a, b: host node1 cannot hold all of them at 1970-01-01 00:00:00 UTC: 12 VCPU of 10"
    assert later == "leases a, b, c: host node1 cannot hold all of them at 1970-01-01 00:00:05 UTC: 13 VCPU of 10"


@pytest.mark.parametrize("other", [_slot(1), _WHOLE])
def test_a_whole_host_is_for_one_lease(other: Resources) -> None:
    (found,) = _found(("a", 0, 10, _WHOLE), ("b", 9, 11, other))
    assert found == "leases a, b: one has the whole host node1 and others have it too at 1970-01-01 00:00:09 UTC"


def test_an_address_is_for_one_lease() -> None:
    (found,) = _found(("a", 0, 10, _ADDRESS), ("b", 9, 11, _ADDRESS), host="203.0.113.1")
    assert found == "leases a, b: more than one has address 203.0.113.1 at 1970-01-01 00:00:09 UTC"


def test_what_a_host_can_never_hold() -> None:
    (found,) = _found(("a", 0, 10, _slot(9)), ("a", 0, 10, _slot(9)))
    assert found == "lease a: needs more of its host node1 than one server can get: 9 VCPU of 8"
    with_trait = Claim("a", "node1", 0, 10, _slot(1), frozenset({"FAST", "SAFE"}))
    (lacking,) = broken_promises(_HOSTS, [with_trait], {"a"})
    assert lacking.reason == "its host node1 has no trait SAFE"


def test_promises_of_others_are_theirs() -> None:
    claims = (("a", 0, 10, _WHOLE), ("b", 0, 10, _WHOLE), ("a", 0, 10, _slot(9)), ("c", 20, 30, _slot(9)))
    (found,) = _found(*claims, new="c")
    assert found.startswith("lease c: needs more")
