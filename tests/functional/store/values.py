"""Leases, hosts and other values to write and read back."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.holding import Closing, Holding, MigrationRound
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord
from lease_scheduler.records.extensions import Extensions
from lease_scheduler.records.feeds import FeedRecord
from lease_scheduler.records.history import Transition, UsageRecord
from lease_scheduler.records.idleness import Idleness
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.messages import Message
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.records.series import SeriesRecord
from lease_scheduler.records.subscriptions import SubscriptionRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.store.sql.store import SqlStore


def host(number: int, **values: object) -> HostRecord:
    record = HostRecord(
        host_id=number,
        name=f"compute-{number}",
        vcpus=8,
        memory_mb=1024,
        local_gb=10,
        created_at=5,
        capacity={"VCPU": 8},
        traits=("HW_CPU_X86_AVX",),
        properties={"gpu": "yes", "rack": str(number)},
        cpu_info="{}",
    )
    return replace(record, **values)  # type: ignore[arg-type]


def lease(sequence: int, **values: object) -> Lease:
    request = LeaseRequest(
        lease_id=str(uuid4()),
        kind=LeaseKind.BEST_EFFORT,
        nodes=(
            NodeSet(2, Resources({"VCPU": 1}), frozenset({"T"}), frozenset({"compute-1", "compute-2"}), 1),
            NodeSet(1, Resources({"VCPU": 2})),
        ),
        submitted=10,
        duration=100,
        preemptible=True,
        user="project",
        extras={"real_duration": "50"},
    )
    held = (
        Holding((1, 2, 1), 20, 25, 60, 70, Closing.SUSPEND),
        Holding((2, 2, 1), 90, 95, 130, 130, Closing.SHUTDOWN, (MigrationRound(80, 85, ((0, 1, 2),)),)),
    )
    made = Lease(request, sequence, LeaseState.READY, 7, 25, None, None, held, (1, 2, 1), "because")
    return replace(made, **values)  # type: ignore[arg-type]


def document(of: Lease, **values: object) -> LeaseDocument:
    made = LeaseDocument(
        lease_id=of.lease_id,
        name="a lease",
        project_id="project",
        user_id="user",
        created_at=10,
        before_end=55,
        reminded_start=45,
        extensions=Extensions(2, 30, 120),
        servers=({"name": "web", "count": 3},),
        reservations=(
            ReservationRecord(str(uuid4()), "virtual:instance", str(uuid4()), {"vcpus": 1}, 1, 10, 0, 2),
            ReservationRecord(str(uuid4()), "physical:host", str(uuid4()), {"min": 1, "max": 1}, 1, 10, 2, 1),
        ),
    )
    return replace(made, **values)  # type: ignore[arg-type]


def hosts(store: SqlStore) -> None:
    """Add three hosts and an address to the store."""
    changes = StoreChanges(1)
    changes.hosts = {number: host(number) for number in (1, 2, 3)}
    changes.floating_ips = {"ip": FloatingIpRecord("ip", "network", "10.0.0.1", 1)}
    store.commit(changes)
    store.load()


def changes_of(lease_value: Lease, document_value: LeaseDocument, instant: int = 20) -> StoreChanges:
    changes = StoreChanges(instant)
    changes.leases[lease_value.lease_id] = lease_value
    changes.documents[lease_value.lease_id] = document_value
    changes.transitions = [Transition(lease_value.lease_id, instant, "new", "ready", "planned")]
    changes.begun = [
        Intent(
            1,
            lease_value.lease_id,
            Operation(OperationKind.START, lease_value.lease_id, (1, 2, 1), 20, 25, without=frozenset({2})),
        ),
        Intent(2, lease_value.lease_id, None),
    ]
    changes.usage = [
        UsageRecord(lease_value.lease_id, "project", "best-effort", "run", 20, 30, 3, {"VCPU": 4}, (1, 2, 1))
    ]
    changes.messages = [Message("lease.create", {"lease_id": lease_value.lease_id})]
    changes.series = {"series": SeriesRecord("series", "project", "user", "s", "FREQ=DAILY;COUNT=2", {"a": 1}, 99, 1)}
    changes.subscriptions = {
        "one": SubscriptionRecord("one", "project", "user", "webhook", "https://a/", 1, ("lease.create",), "b", "c", 2),
        "other": SubscriptionRecord("other", "project", "user", "webhook", "https://a/", 3),
    }
    changes.feeds = {"feed": FeedRecord("feed", "project", "user", "phone", "d" * 64, 4)}
    changes.private_properties = {("physical:host", "rack"): True}
    changes.idleness = {lease_value.lease_id: Idleness(11, 5, 18, 17, 4)}
    return changes
