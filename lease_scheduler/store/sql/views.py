"""Views of table rows, as the API shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.approval import state_in_words
from lease_scheduler.model.blazar import events, reservation_status
from lease_scheduler.model.documents import Document
from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.nodes import servers_per_vm
from lease_scheduler.model.power import HostPower
from lease_scheduler.model.providers import together
from lease_scheduler.model.resources import HOST_SHARE
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.records.attributes import ATTRIBUTES
from lease_scheduler.store.sql.rows import progress

#: The closing of a holding that is not interrupted.
_TO_THE_END = Closing.SHUTDOWN.value

Row = Mapping[str, Any]


def lease(row: Any, reservations: Sequence[Any], holdings: Sequence[Any], breaches: Sequence[Any]) -> Document:
    """Return the view of a lease; ``api.views.lease`` lists the keys.

    :param row: row of the lease, with its ``operation`` and ``idle_since``
    :param reservations: rows of its reservations, by position
    :param holdings: rows of its holdings, by position
    :param breaches: rows of its breaches, oldest first
    """
    held = [_holding(holding) for holding in holdings]
    hosts = held[0]["hosts"] if held else []
    start, end = row["planned_start"], row["planned_end"]
    if start is None and row["kind"] == "reservation":
        start = row["requested_start"]
    if row["kind"] == "reservation" and row["requested_start"] is not None:
        # The interval of a reservation is what was promised, even if it started late or never. A reservation that is
        # ended early shows the instant of that request, although its servers may take longer to stop.
        start = row["requested_start"]
        if row["ended"] is not None and row["ended"] > start:
            end = row["ended"]
        elif row["operation"] != OperationKind.STOP.value or end is None:
            end = start + row["duration"]
    is_whole = LeaseState(row["state"]) in FINAL_STATES or (bool(held) and held[-1]["closing"] == _TO_THE_END)
    is_promised = row["kind"] == "reservation"
    return {
        "id": row["id"],
        "number": row["sequence"] + 1,
        **{each.name: row[each.name] for each in ATTRIBUTES},
        "kind": row["kind"],
        "state": row["state"],
        "reason": row["reason"],
        "start": start,
        "end": end,
        "latest_end": end if is_whole or is_promised else row["deadline"],
        "preempted_at": held[0]["run_end"] if held and held[0]["closing"] != _TO_THE_END else None,
        "requested_start": row["requested_start"],
        "duration": row["duration"],
        "deadline": row["deadline"],
        "before_end": row["before_end"],
        "offered_until": row["offered_until"],
        "negotiation_id": row["negotiation_id"],
        "approval": row["approval"],
        "penalties": row["penalties"] or 0.0,
        "progress": progress(row),
        "submitted": row["submitted"],
        "started": row["started"],
        "ended": row["ended"],
        "accumulated": row["accumulated"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "deleted_at": row["deleted_at"],
        "version": row["version"],
        "revision": row["revision"],
        "servers": row["servers"],
        "nodes": row["nodes"],
        "operation": row["operation"],
        "reservations": _reservations(reservations, row, hosts),
        "events": events(row, start, end),
        "holdings": held,
        "breaches": [_breach(each) for each in breaches],
        "idle_since": row["idle_since"],
    }


def _breach(row: Any) -> Document:
    return {key: row[key] for key in ("kind", "instant", "seconds", "node_seconds", "penalty")}


def _holding(row: Any) -> Document:
    return {
        "start": row["start"],
        "run_start": row["run_start"],
        "run_end": row["run_end"],
        "end": row["end"],
        "closing": row["closing"],
        "hosts": row["hosts"],
    }


def _reservations(rows: Sequence[Any], lease_row: Any, hosts: Sequence[str]) -> list[Document]:
    """Return the views of the reservations of a lease, each with its own part of the node sets."""
    found = []
    first = 0
    for row in rows:
        node_sets = lease_row["nodes"][first : first + row["node_sets"]]
        granted = {
            "granted_resources": _granted(node_sets),
            "granted_nodes": _granted_nodes(node_sets, lease_row["state"]),
        }
        found.append(_reservation(row, lease_row, hosts) | granted)
        first += row["node_sets"]
    return found


def _granted(node_sets: Sequence[Document]) -> Document | None:
    """Return the resources of each node of a reservation, or None while the lease has no place that decides them."""
    if not node_sets or node_sets[0].get("least_resources") is not None:
        return None
    needs = together(node_sets[0]["resources"], (group["resources"] for group in node_sets[0].get("groups", ())))
    return {name: amount for name, amount in needs.items() if name != HOST_SHARE}


def _granted_nodes(node_sets: Sequence[Document], state: str) -> int | None:
    """Return the number of nodes of a reservation, or None while the lease waits in the queue and it is undecided."""
    if state == LeaseState.QUEUED.value and any(each.get("count_range") for each in node_sets):
        return None
    return sum(int(each["count"]) * servers_per_vm(each["resources"]) for each in node_sets)


def _node_range(node_sets: Sequence[Document]) -> Document:
    """Return the fewest and the most nodes that a lease accepts, or nothing if it has exactly what it asked for."""
    if not any(each.get("count_range") for each in node_sets):
        return {}
    ranges = [each.get("count_range") or [each["count"], each["count"]] for each in node_sets]
    return {"node_range": [sum(fewest for fewest, _ in ranges), sum(most for _, most in ranges)]}


def _reservation(row: Any, lease_row: Any, hosts: Sequence[str]) -> Document:
    first = row["first_node"]
    return {
        "id": row["id"],
        "resource_type": row["resource_type"],
        "resource_id": row["resource_id"],
        "status": reservation_status(lease_row["state"]),
        "terms": row["terms"],
        "missing_resources": bool(row["missing_resources"]),
        "resources_changed": bool(row["resources_changed"]),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "hosts": list(dict.fromkeys(hosts[first : first + row["node_count"]])),
    }


def calendar_host(row: Any, power: HostPower | None, watts: Document) -> Document:
    """Return the view of a host on the calendar page.

    :param watts: properties of the host that say how many watts it takes
    """
    state = "up" if row["reservable"] else "disabled"
    if row["out_until"] is not None:
        state = "down"
    return {
        "id": str(row["id"]),
        "name": row["name"],
        "state": state,
        "vcpus": row["vcpus"],
        "memory_mb": row["memory_mb"],
        "power": power,
        "watts": watts,
        **_pool(row),
    }


def _pool(row: Any) -> Document:
    """Return the pool of a host or a lease, or nothing if the site has only one."""
    return {} if row["pool"] is None else {"pool": row["pool"]}


def _site(row: Any) -> Document:
    """Return the site of a lease of a gateway, and whether that does not answer; nothing for a lease of a site."""
    return {} if row["site"] is None else {"site": row["site"], "unreachable": bool(row["unreachable"])}


def calendar_lease(row: Any, holdings: Sequence[Any], past: Sequence[Any]) -> Document:
    """Return the view of a lease on the calendar page, without its place in the queue."""
    is_endless = row["duration"] == UNLIMITED and LeaseState(row["state"]) not in FINAL_STATES
    return {
        "id": row["id"],
        "name": row["name"],
        "project_id": row["project_id"],
        "kind": row["kind"],
        "state": state_in_words(row["state"], row["approval"]),
        "reason": row["reason"],
        "submitted": row["submitted"],
        "start": row["planned_start"],
        "end": None if is_endless else row["planned_end"],
        "deadline": row["deadline"],
        "offered_until": row["offered_until"],
        "duration": row["duration"],
        "accumulated": row["accumulated"],
        "nodes": sum(node_set["count"] for node_set in row["nodes"]),
        **_node_range(row["nodes"]),
        "preemptible": bool(row["preemptible"]),
        **_pool(row),
        **_site(row),
        "revision": row["revision"],
        "holdings": [_holding(holding) for holding in holdings],
        "past": [
            {"start": each["start"], "end": each["end"], "phase": each["phase"], "hosts": each["hosts"]}
            for each in past
        ],
    }
