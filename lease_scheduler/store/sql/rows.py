"""Conversion between values of the model and rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import RowMapping

from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.approval import Approval
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.holding import Closing, Holding, MigrationRound
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import Boot, DiskImage, NodeSet
from lease_scheduler.model.planned_end import planned_end
from lease_scheduler.model.progress import Progress
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.attributes import ANSWERS, REMARKS, TERMS, plain_values, values
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord
from lease_scheduler.records.extensions import Extensions
from lease_scheduler.records.history import BreachRecord, RevenueRecord, UsageRecord
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.series import SeriesRecord
from lease_scheduler.records.units import Units

Row = Mapping[str, Any] | RowMapping
Values = dict[str, Any]

_KILL = "discard"


def node_set_values(node_set: NodeSet) -> Values:
    """Return a node set as JSON."""
    values: Values = {
        "count": node_set.count,
        "resources": dict(node_set.resources),
        "traits": sorted(node_set.required_traits),
        "hosts": None if node_set.hosts is None else sorted(node_set.hosts),
        "per_host": node_set.per_host,
    }
    if node_set.least_resources is not None:
        values["least_resources"] = dict(node_set.least_resources)
    if node_set.count_range is not None:
        values["count_range"] = list(node_set.count_range)
    if node_set.boots:
        values["boots"] = [_boot_values(boot) for boot in node_set.boots]
    if node_set.groups:
        values["groups"] = [_group_values(group) for group in node_set.groups]
    if node_set.fluid:
        values["fluid"] = node_set.fluid
    return values


def _group_values(group: ProviderGroup) -> Values:
    return {"resources": dict(group.resources), "traits": sorted(group.traits)}


def _group(values: Mapping[str, Any]) -> ProviderGroup:
    return ProviderGroup(Resources(values["resources"]), frozenset(values["traits"]))


def _boot_values(boot: Boot) -> list[Any]:
    return [None if boot.image is None else [boot.image.image_id, boot.image.size_mb], boot.count]


def _boot(values: Sequence[Any]) -> Boot:
    image, count = values
    return Boot(None if image is None else DiskImage(*image), count)


def node_set(values: Mapping[str, Any]) -> NodeSet:
    """Return a node set from JSON."""
    hosts, least, counts = values["hosts"], values.get("least_resources"), values.get("count_range")
    return NodeSet(
        values["count"],
        Resources(values["resources"]),
        frozenset(values["traits"]),
        None if hosts is None else frozenset(hosts),
        values["per_host"],
        tuple(_boot(each) for each in values.get("boots", ())),
        None if least is None else Resources(least),
        tuple(_group(each) for each in values.get("groups", ())),
        values.get("fluid", 0),
        None if counts is None else (counts[0], counts[1]),
    )


def lease_values(lease: Lease, document: LeaseDocument, units: Units) -> Values:
    """Return the columns of a lease."""
    request = lease.request
    held = lease.holdings
    columns = {
        "id": lease.lease_id,
        "sequence": lease.sequence,
        **plain_values(lease, document),
        "kind": request.kind.value,
        "submitted": request.submitted,
        "requested_start": request.start,
        "duration": request.duration,
        "deadline": request.deadline,
        "before_end": document.before_end,
        "nodes": [node_set_values(nodes) for nodes in request.nodes],
        "servers": list(document.servers),
        "state": lease.state.value,
        "reason": lease.reason,
        "before_end_done": document.before_end_done,
        "reminded_start": document.reminded_start,
        "extension_count": document.extensions.count,
        "extended_by": document.extensions.seconds,
        "longest_duration": document.extensions.longest,
        "accumulated": lease.accumulated,
        "started": lease.started,
        "ended": lease.ended,
        "active_since": lease.active_since,
        "saved_on": None if lease.saved_on is None else units.ids(lease.saved_on),
        "offered_until": lease.offered_until,
        "negotiation_id": lease.negotiation,
        "approval": None if lease.approval is None else lease.approval.value,
        "retained": lease.grant.retained,
        "missing_since": lease.missing_since,
        "missing_nodes": lease.missing_nodes,
        "penalties": lease.penalties,
        "virtual_time": None if lease.progress is None else lease.progress.virtual,
        "yield": None if lease.progress is None else lease.progress.permille,
        "yield_since": None if lease.progress is None else lease.progress.since,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
        "deleted_at": document.deleted_at,
    }
    # A lease that has ended shows the interval from its actual start to its end.
    if held or not lease.is_final:
        columns["planned_start"] = min(r.start for r in held) if held else None
        columns["planned_end"] = planned_end(lease)
        if lease.started is not None:
            columns["planned_start"] = lease.started
    else:
        columns["planned_start"], columns["planned_end"] = lease.started, lease.ended
    return columns


def lease(row: Row, holdings: Iterable[Row], units: Units) -> Lease:
    """Return a lease as the plan knows it."""
    request = LeaseRequest(
        lease_id=row["id"],
        kind=LeaseKind(row["kind"]),
        nodes=tuple(node_set(values) for values in row["nodes"]),
        submitted=row["submitted"],
        duration=row["duration"],
        start=row["requested_start"],
        deadline=row["deadline"],
        user=row["project_id"],
        moves_others=row["maintenance"],
        **values(TERMS, row),
    )
    return Lease(
        request,
        row["sequence"],
        LeaseState(row["state"]),
        row["accumulated"],
        row["started"],
        row["ended"],
        row["active_since"],
        tuple(holding(values, units) for values in holdings),
        None if row["saved_on"] is None else units.numbers(row["saved_on"]),
        row["reason"],
        row["offered_until"],
        row["negotiation_id"],
        row["missing_since"],
        row["missing_nodes"] or 0,
        row["penalties"] or 0.0,
        progress(row),
        None if row["approval"] is None else Approval(row["approval"]),
        Grant(retained=row["retained"] or 0.0, **values(ANSWERS, row)),
    )


def progress(row: Row) -> Progress | None:
    """Return the progress of a fluid lease, or None."""
    if row["virtual_time"] is None:
        return None
    return Progress(row["virtual_time"], row["yield"], row["yield_since"])


def holding_values(lease_id: str, position: int, reservation: Holding, units: Units) -> Values:
    """Return the columns of a holding.

    :param position: index of the holding among those of the lease
    """
    return {
        "lease_id": lease_id,
        "position": position,
        "start": reservation.start,
        "run_start": reservation.run_start,
        "run_end": reservation.run_end,
        "end": reservation.end,
        "closing": reservation.closing.value,
        "hosts": units.ids(reservation.assignment),
        "migrations": [_round_values(moves, units) for moves in reservation.migrations],
    }


def holding(row: Row, units: Units) -> Holding:
    """Return a holding."""
    return Holding(
        units.numbers(row["hosts"]),
        row["start"],
        row["run_start"],
        row["run_end"],
        row["end"],
        Closing(row["closing"]),
        tuple(_round(values, units) for values in row["migrations"]),
    )


def _round_values(moves: MigrationRound, units: Units) -> Values:
    return {
        "start": moves.start,
        "end": moves.end,
        "moves": [[vm, units.id(origin), units.id(destination)] for vm, origin, destination in moves.moves],
    }


def _round(values: Mapping[str, Any], units: Units) -> MigrationRound:
    moves = tuple((vm, units.number(origin), units.number(destination)) for vm, origin, destination in values["moves"])
    return MigrationRound(values["start"], values["end"], moves)


def document_reservations(document: LeaseDocument) -> list[Values]:
    """Return the rows of a lease's reservations."""
    return [
        {
            "id": reservation.reservation_id,
            "lease_id": document.lease_id,
            "position": position,
            "resource_type": reservation.resource_type,
            "resource_id": reservation.resource_id,
            "terms": dict(reservation.terms),
            "node_sets": reservation.node_sets,
            "first_node": reservation.first_node,
            "node_count": reservation.node_count,
            "missing_resources": reservation.missing_resources,
            "resources_changed": reservation.resources_changed,
            "created_at": reservation.created_at,
            "updated_at": reservation.updated_at,
        }
        for position, reservation in enumerate(document.reservations)
    ]


def document(row: Row, reservations: Sequence[Row]) -> LeaseDocument:
    """Return the document of a lease."""
    return LeaseDocument(
        lease_id=row["id"],
        created_at=row["created_at"],
        before_end=row["before_end"],
        before_end_done=row["before_end_done"],
        reminded_start=row["reminded_start"],
        extensions=Extensions(row["extension_count"] or 0, row["extended_by"] or 0, row["longest_duration"] or 0),
        servers=tuple(row["servers"]),
        updated_at=row["updated_at"],
        deleted_at=row["deleted_at"],
        reservations=tuple(
            ReservationRecord(
                reservation_id=of_it["id"],
                resource_type=of_it["resource_type"],
                resource_id=of_it["resource_id"],
                terms=of_it["terms"],
                node_sets=of_it["node_sets"],
                first_node=of_it["first_node"],
                node_count=of_it["node_count"],
                created_at=of_it["created_at"],
                updated_at=of_it["updated_at"],
                missing_resources=of_it["missing_resources"],
                resources_changed=of_it["resources_changed"],
            )
            for of_it in reservations
        ),
        **values(REMARKS, row),
    )


def intent_values(intent: Intent, units: Units) -> Values:
    """Return the columns of an intent."""
    operation = intent.operation
    if operation is None:
        return {
            "id": intent.intent_id,
            "lease_id": intent.lease_id,
            "kind": _KILL,
            "hosts": [],
            "begun": 0,
            "due": 0,
            "step": intent.step,
            "migration": None,
            "image": None,
            "without": None,
        }
    return {
        "id": intent.intent_id,
        "lease_id": intent.lease_id,
        "kind": operation.kind.value,
        "hosts": units.ids(operation.assignment),
        "begun": operation.begun,
        "due": operation.due,
        "step": intent.step,
        "migration": None if operation.migration is None else _round_values(operation.migration, units),
        "image": None if operation.image is None else [operation.image.image_id, operation.image.size_mb],
        "without": units.ids(tuple(sorted(operation.without))) or None,
    }


def intent(row: Row, units: Units) -> Intent:
    """Return an intent."""
    if row["kind"] == _KILL:
        return Intent(row["id"], row["lease_id"], None, row["step"])
    operation = Operation(
        OperationKind(row["kind"]),
        row["lease_id"],
        units.numbers(row["hosts"]),
        row["begun"],
        row["due"],
        None if row["migration"] is None else _round(row["migration"], units),
        None if row["image"] is None else DiskImage(*row["image"]),
        frozenset(units.numbers(row["without"] or [])),
    )
    return Intent(row["id"], row["lease_id"], operation, row["step"])


def usage_values(record: UsageRecord, units: Units) -> Values:
    """Return the columns of a usage record."""
    return {
        "lease_id": record.lease_id,
        "project_id": record.project_id,
        "kind": record.kind,
        "phase": record.phase,
        "start": record.start,
        "end": record.end,
        "nodes": record.nodes,
        "resources": dict(record.resources),
        "hosts": units.ids(record.hosts),
    }


def revenue_values(record: RevenueRecord) -> Values:
    """Return the columns of a revenue record."""
    return {
        "lease_id": record.lease_id,
        "project_id": record.project_id,
        "instant": record.instant,
        "outcome": record.outcome,
        "price": record.price,
        "max_price": record.max_price,
    }


def breach_values(record: BreachRecord) -> Values:
    """Return the columns of a breach."""
    breach = record.breach
    return {
        "lease_id": breach.lease_id,
        "project_id": record.project_id,
        "kind": breach.kind.value,
        "instant": breach.instant,
        "seconds": breach.seconds,
        "node_seconds": breach.node_seconds,
        "penalty": breach.penalty,
    }


_SERIES_COLUMNS = ("project_id", "user_id", "name", "rule", "time_zone", "planned_until", "created_at", "deleted_at")


def series_values(record: SeriesRecord) -> Values:
    """Return the columns of a series."""
    return {
        "id": record.series_id,
        "template": dict(record.template),
        **{name: getattr(record, name) for name in _SERIES_COLUMNS},
    }


def series(row: Row) -> SeriesRecord:
    """Return a series."""
    return SeriesRecord(series_id=row["id"], template=row["template"], **{name: row[name] for name in _SERIES_COLUMNS})
