"""Flows: what share of the site each project has, and what it has had."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.handlers.listing import wanted_projects
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document

_DAY = 86_400

_NOTHING: Document = {"weight": None, "source": "default", "share": None, "behind": 0.0, "queued": 0, "leases": []}


def list_flows(request: ApiRequest) -> Answer:
    """List the flow of the caller's project; administrators may list all of them."""
    project_id = wanted_projects(request, "flows:all_projects")
    policy, flows = _flows(request)
    used = _used(request)
    names = sorted({*flows, *used}) if project_id is None else [project_id]
    return Answer({"flows": [_shown(policy, name, flows, used) for name in names]})


def show(request: ApiRequest) -> Answer:
    """Show a flow. A project that has had no lease has a flow too."""
    name = request.arguments["flow"]
    if name != request.caller.project_id:
        request.require("flows:all_projects")
    return _answer(request, name)


def set_flow(request: ApiRequest) -> Answer:
    """Set the weight of a flow; null lets it have its configured weight again."""
    name = request.arguments["flow"]
    request.engine.set_flow(request.context(), name, request.body["weight"])
    return _answer(request, name)


def _answer(request: ApiRequest, name: str) -> Answer:
    policy, flows = _flows(request)
    return Answer({"flow": _shown(policy, name, flows, _used(request))})


def _flows(request: ApiRequest) -> tuple[str, dict[str, Document]]:
    found = request.engine.list_flows(request.context())
    return found["policy"], {flow["name"]: flow for flow in found["flows"]}


def _used(request: ApiRequest) -> dict[str, float]:
    """Return which part of what was used on the last day each project had."""
    used: dict[str, float] = {}
    for entry in request.reader.usage(None, request.now - _DAY, request.now, request.now):
        used[entry["project_id"]] = used.get(entry["project_id"], 0) + entry["node_seconds"]
    total = sum(used.values())
    return {name: seconds / total for name, seconds in used.items() if total}


def _shown(policy: str, name: str, flows: Mapping[str, Document], used: Mapping[str, float]) -> Document:
    flow = flows.get(name, _NOTHING)
    return {
        "name": name,
        "policy": policy,
        "weight": flow["weight"],
        "weight_source": flow["source"],
        "share": None if flow["share"] is None else round(flow["share"], 6),
        "share_of_last_day": round(used.get(name, 0.0), 6),
        "owed_host_hours": round(flow["behind"] / 3_600, 3),
        "queued": flow["queued"],
        "leases": [{**lease, "expected_start": iso_date(lease["expected_start"])} for lease in flow["leases"]],
    }
