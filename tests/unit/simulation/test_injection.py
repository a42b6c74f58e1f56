"""Merging workloads (haizea F27)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.workload import Workload, WorkloadLease

NODES = (NodeSet(1, Resources({"VCPU": 100})),)


def _workload(name: str, *leases: tuple[str, int], site: Site | None = None, **attributes: str) -> Workload:
    made = (WorkloadLease(LeaseRequest(lease_id, LeaseKind.BEST_EFFORT, NODES, at, 60), 30) for lease_id, at in leases)
    return Workload(name, tuple(made), site, attributes)


def _ids(workload: Workload) -> list[tuple[str, int]]:
    return [(lease.request.lease_id, lease.request.submitted) for lease in workload.leases]


def test_leases_are_merged_by_submission_and_ids_are_shifted_per_file() -> None:
    merged = inject(
        _workload("base", ("1", 0), ("2", 50), ("3", 100)),
        _workload("x", ("1", 50), ("2", 60)),
        _workload("y", ("1", 50)),
    )
    assert _ids(merged) == [
        ("1", 0),
        ("2", 50),
        ("1000001", 50),
        ("2000001", 50),
        ("1000002", 60),
        ("3", 100),
    ]


def test_name_site_and_attributes_of_the_base_take_precedence() -> None:
    site = Site.homogeneous(1, Resources({"VCPU": 100}))
    other = Site.homogeneous(2, Resources({"VCPU": 100}))
    merged = inject(
        _workload("base", site=site, a="base"),
        _workload("x", site=other, a="x", b="x", c="x"),
        _workload("y", b="y", d="y"),
    )
    assert (merged.name, merged.site) == ("base", site)
    assert merged.attributes == {"a": "base", "b": "x", "c": "x", "d": "y"}


def test_an_id_that_is_no_number_is_shifted_too() -> None:
    assert _ids(inject(_workload("base", ("a", 0)), _workload("x", ("a", 0)))) == [("a", 0), ("a+1000000", 0)]


def test_a_clash_of_ids_is_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"lease_id: after injection two leases are 'a\+1000000'"):
        inject(_workload("base", ("a+1000000", 0)), _workload("x", ("a", 0)))


def test_ids_above_a_million_do_not_clash() -> None:
    base, first, second = ("1000001", 0), ("1", 0), ("2500000", 0)
    merged = inject(_workload("base", base), _workload("x", first), _workload("y", second), _workload("z", first))
    assert [lease for lease, _ in _ids(merged)] == ["1000001", "2000001", "5500000", "6000001"]


def test_nothing_injected_changes_nothing() -> None:
    base = _workload("base", ("1", 0), a="1")
    assert inject(base) == base
    assert inject(base, _workload("empty")) == base


@given(
    st.lists(st.integers(0, 20), max_size=8).map(sorted), st.lists(st.lists(st.integers(0, 20), max_size=8), max_size=3)
)
def test_no_lease_is_lost_or_changed_but_for_its_id(base: list[int], others: list[list[int]]) -> None:
    workloads = [
        _workload("w", *((str(number), at) for number, at in enumerate(sorted(times)))) for times in [base, *others]
    ]
    merged = inject(*workloads)
    submitted = [lease.request.submitted for lease in merged.leases]
    assert submitted == sorted(at for times in [base, *others] for at in times)
    for position, workload in enumerate(workloads):
        own = [each for each in _ids(merged) if int(each[0]) // 1_000_000 == position]
        assert own == [(str(int(name) + position * 1_000_000), at) for name, at in _ids(workload)]
