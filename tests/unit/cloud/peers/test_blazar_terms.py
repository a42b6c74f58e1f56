"""Terms of leases in Blazar's words, and those that it has no words for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.cloud.peers.blazar_terms import BeyondBlazarError, are_same, body_of, changes_of
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources

_NOW = 1_800_000_000
_INSTANCES = NodeSet(2, Resources({VCPU: 4, MEMORY_MB: 512, DISK_GB: 10, HOST_SHARE: 1}))
_HOSTS = NodeSet(1, Resources({HOST_SHARE: WHOLE_HOST}))


def _terms(*nodes: NodeSet, **terms: Any) -> LeaseRequest:
    values: dict[str, Any] = {"kind": LeaseKind.RESERVATION, "start": _NOW, "duration": 60, "submitted": _NOW}
    return LeaseRequest(lease_id="a", nodes=nodes or (_INSTANCES,), **{**values, **terms})


def _shown(terms: LeaseRequest) -> dict[str, Any]:
    """Return a lease as Blazar shows it when it was requested with these terms."""
    body = body_of(terms)
    reservations = [{"id": str(number), **each} for number, each in enumerate(body["reservations"])]
    dates = {key: f"{body[key].replace(' ', 'T')}:00.000000" for key in ("start_date", "end_date")}
    return {"reservations": reservations, **dates}


def test_nodes_that_share_hosts_are_instances_and_others_whole_hosts() -> None:
    instances, hosts, large = body_of(
        _terms(_INSTANCES, _HOSTS, NodeSet(3, Resources({HOST_SHARE: WHOLE_HOST, VCPU: 8, MEMORY_MB: 64})))
    )["reservations"]
    assert (instances["resource_type"], instances["amount"], instances["affinity"]) == ("virtual:instance", 2, None)
    assert (instances["vcpus"], instances["memory_mb"], instances["disk_gb"]) == (4, 512, 10)
    assert (hosts["resource_type"], hosts["min"], hosts["max"]) == ("physical:host", 1, 1)
    assert hosts["hypervisor_properties"] == ""
    assert large["hypervisor_properties"] == '["and", [">=", "$memory_mb", "64"], [">=", "$vcpus", "8"]]'


def test_the_name_is_the_id_and_times_are_minutes_in_utc() -> None:
    body = body_of(_terms(duration=7_200))
    assert (body["name"], body["start_date"], body["end_date"]) == ("a", "2027-01-15 08:00", "2027-01-15 10:00")


@pytest.mark.parametrize(("submitted", "end"), [(_NOW, "08:01"), (_NOW + 1, "08:02"), (_NOW + 60, "08:02")])
def test_a_lease_that_starts_at_once_is_never_shorter_than_requested(submitted: int, end: str) -> None:
    body = body_of(_terms(kind=LeaseKind.IMMEDIATE, start=None, submitted=submitted))
    assert (body["start_date"], body["end_date"]) == ("now", f"2027-01-15 {end}")


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"kind": LeaseKind.BEST_EFFORT, "start": None}, "kind"),
        ({"kind": LeaseKind.DEADLINE, "deadline": _NOW + 999}, "kind"),
        ({"kind": LeaseKind.IMMEDIATE, "start": None, "duration": 100 * 365 * 86_400}, "duration"),
        ({"start": _NOW + 1}, "start"),
        ({"duration": 61}, "end"),
        ({"nodes": (replace(_INSTANCES, required_traits=frozenset({"HW_CPU_X86_AVX"})),)}, r"nodes\[0\].traits"),
        ({"nodes": (replace(_INSTANCES, per_host=1),)}, r"nodes\[0\].per_host"),
        ({"nodes": (replace(_INSTANCES, groups=(ProviderGroup(Resources({"VGPU": 1})),)),)}, r"nodes\[0\].groups"),
        ({"nodes": (NodeSet(1, Resources({VCPU: 1})),)}, r"nodes\[0\].resources.MEMORY_MB"),
        ({"nodes": (NodeSet(1, Resources({VCPU: 1, MEMORY_MB: 1, "PGPU": 1})),)}, r"nodes\[0\].resources.PGPU"),
    ],
)
def test_what_blazar_cannot_do_is_named(terms: dict[str, Any], field: str) -> None:
    nodes = terms.pop("nodes", ())
    with pytest.raises(BeyondBlazarError, match=f"^{field}: "):
        body_of(_terms(*nodes, **terms))


@pytest.mark.parametrize(
    ("terms", "field"),
    [({"pool": "gpu"}, "pool"), ({"nodes": (replace(_HOSTS, hosts=frozenset({"x"})),)}, r"nodes\[0\].hosts")],
)
def test_what_has_a_meaning_only_here_is_refused(terms: dict[str, Any], field: str) -> None:
    nodes = terms.pop("nodes", ())
    with pytest.raises(InvalidValueError, match=f"^{field}: ") as caught:
        body_of(_terms(*nodes, **terms))
    assert not isinstance(caught.value, BeyondBlazarError)


_SOME = st.builds(
    lambda count, vcpus, hours: _terms(
        NodeSet(count, Resources({VCPU: vcpus, MEMORY_MB: 64, HOST_SHARE: 1})), duration=hours * 3_600
    ),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 3),
)


@given(_SOME, _SOME)
def test_a_lease_has_the_terms_of_its_request_and_a_change_of_nothing_is_empty(
    first: LeaseRequest, second: LeaseRequest
) -> None:
    shown = _shown(first)
    assert are_same(first, shown)
    assert changes_of(first, shown) == {}
    changed = changes_of(second, shown)
    assert are_same(second, shown) is (changed == {}) is (first == second)
    if changed:
        assert changed.keys() <= {"end_date", "reservations"}


def test_a_change_has_only_what_differs() -> None:
    shown = _shown(_terms())
    assert changes_of(_terms(replace(_INSTANCES, count=3)), shown) == {"reservations": [{"id": "0", "amount": 3}]}
    assert changes_of(_terms(start=_NOW + 60), shown) == {
        "start_date": "2027-01-15 08:01",
        "end_date": "2027-01-15 08:02",
    }


def test_what_blazar_changes_only_in_part_is_refused() -> None:
    for terms, shown in ((_terms(_HOSTS, _HOSTS), _shown(_terms(_HOSTS, _HOSTS))), (_terms(_HOSTS), _shown(_terms()))):
        with pytest.raises(BeyondBlazarError, match="^nodes: "):
            changes_of(terms, shown)
