"""Future starts of leases: the engine writes them into the metadata of the pool; filter and weigher read them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.cloud.nova.lease.aggregate_metadata import NEVER, lease_metadata
from lease_scheduler.cloud.orders import Order
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.nova.aggregates import FROM, HostLeases, Reader, coming_metadata, read_coming, read_host
from lease_scheduler.nova.rules import Boot, Rules, free_for, refusal
from lease_scheduler.records.documents import LeaseDocument

NOW = 1_800_000_000
PLAIN = Boot("physics")


@dataclass
class Aggregate:
    name: str
    metadata: dict[str, str] = field(default_factory=dict)
    availability_zone: str | None = None


@given(
    st.dictionaries(
        st.text("abcdefghijklmnopqrstuvwxyz0123456789.-", min_size=1, max_size=60),
        st.integers(NOW, NOW + 5),
        max_size=60,
    )
)
def test_written_starts_are_read_back(starts: dict[str, int]) -> None:
    """Nova accepts values of at most 255 characters."""
    metadata = coming_metadata(starts)
    assert all(len(value) <= 255 for value in metadata.values())
    assert read_coming({**metadata, "lease:pool": "true"}) == starts


def test_metadata_that_cannot_be_read_says_nothing() -> None:
    assert read_coming({"lease:next:0": "soon compute-1", "lease:next:1": "", "lease:next:2": f"{NOW}"}) == {}


def test_each_host_has_its_own_next_start() -> None:
    pool = Aggregate("freepool", coming_metadata({"compute-1": NOW + 60, "compute-2": NOW + 600}))
    reader = Reader("freepool")
    assert [reader.read([pool], name).coming for name in ("compute-1", "compute-2", "compute-3")] == [
        NOW + 60,
        NOW + 600,
        None,
    ]
    assert read_host([pool], "freepool", "compute-2") == HostLeases(in_pool=True, coming=NOW + 600)


@pytest.mark.parametrize("begins", [NEVER, str(NOW + 600), "0"])
@pytest.mark.parametrize("exclusive", [True, False])
def test_others_keep_off_hosts_that_are_prepared_for_a_lease(begins: str, *, exclusive: bool) -> None:
    """From the instant at which the engine has made the aggregate, whenever servers of the lease may start."""
    operation = Operation(OperationKind.START, "L1", (0,), NOW, NOW + 600)
    request = LeaseRequest("L1", LeaseKind.RESERVATION, (NodeSet(1, Resources({"VCPU": 1})),), NOW, NOW + 600, 60)
    document = LeaseDocument("L1", "lease", "biology", "user", NOW)
    order = Order(1, "L1", operation, ("compute-1",), request, document)
    lease = Aggregate("lease-L1", lease_metadata(order, exclusive=exclusive) | {FROM: begins})
    found = read_host([Aggregate("freepool"), lease], "freepool", "compute-1")
    assert found.held_by[0].vacated_from == 0
    if exclusive or begins != "0":
        assert refusal(Boot("physics", preemptible=True), found, NOW, Rules()) is not None


def test_a_lease_without_a_vacating_time_has_its_hosts_from_its_start() -> None:
    """An aggregate that an operator or an old version has made."""
    lease = Aggregate("lease-L1", {"lease:id": "L1", FROM: str(NOW + 600)})
    assert read_host([lease], "freepool", "compute-1").held_by[0].vacated_from == NOW + 600


def test_ordinary_servers_keep_off_hosts_on_which_a_lease_begins_soon() -> None:
    rules = Rules(on_demand_horizon=300)
    soon, later, never = (HostLeases(in_pool=True, coming=instant) for instant in (NOW + 299, NOW + 300, None))
    assert refusal(PLAIN, soon, NOW, rules) == "a lease starts there in 4 min 59 s"
    assert refusal(PLAIN, later, NOW, rules) is None
    assert refusal(PLAIN, never, NOW, rules) is None
    assert refusal(Boot("physics", preemptible=True), soon, NOW, rules) is None


def test_the_longer_a_host_is_free_the_better() -> None:
    hosts = [HostLeases(in_pool=True, coming=instant) for instant in (NOW - 5, NOW + 60, NOW + 600, None)]
    assert [free_for(host, NOW, 3600) for host in hosts] == [0, 60, 600, 3600]
