"""Flows: what share of the site each project has, and what it has had."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.handlers.listing import wanted_projects
from lease_scheduler.api.microversions import V1_28, V1_31
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document

_HOUR, _HOURS = 3_600, 24

_NOTHING: Document = {"weight": None, "source": "default", "share": None, "behind": 0.0, "queued": 0, "leases": []}


@dataclass(frozen=True)
class _Used:
    """Use of the last day, in node-seconds.

    :ivar hours: starts of the hours of the day, ascending; the first one starts 24 hours before now, the last one
        contains now, so both may be incomplete
    :ivar by_project: what each project used in each of these hours
    :ivar in_all: what all projects together used in each of these hours
    """

    hours: tuple[int, ...]
    by_project: Mapping[str, Mapping[int, float]]
    in_all: Mapping[int, float]

    def share(self, name: str, hour: int) -> float | None:
        """Return the share of a project in the use of an hour; None if nothing was used."""
        used = self.in_all.get(hour)
        return self.by_project.get(name, {}).get(hour, 0.0) / used if used else None

    def share_of_day(self, name: str) -> float:
        """Return the share of a project in the use of the day."""
        used = sum(self.in_all.values())
        return sum(self.by_project.get(name, {}).values()) / used if used else 0.0


def list_flows(request: ApiRequest) -> Answer:
    """List the flow of the caller's project; administrators may list all of them."""
    may_see_all = bool(request.query.get("visible")) and request.may("flows:all_projects")
    project_id = None if may_see_all else wanted_projects(request, "flows:all_projects")
    policy, flows = _flows(request)
    used = _used(request)
    names = sorted({*flows, *used.by_project}) if project_id is None else [project_id]
    return Answer({"flows": [_shown(request, policy, name, flows, used) for name in names]})


def show(request: ApiRequest) -> Answer:
    """Show a flow. A project that has had no lease has a flow too."""
    name = request.arguments["flow"]
    if name != request.caller.project_id:
        request.require("flows:all_projects")
    return _answer(request, name)


def set_flow(request: ApiRequest) -> Answer:
    """Set the weight of a flow; null restores its configured weight."""
    name = request.arguments["flow"]
    request.engine.set_flow(request.context(), name, request.body["weight"])
    return _answer(request, name)


def _answer(request: ApiRequest, name: str) -> Answer:
    policy, flows = _flows(request)
    return Answer({"flow": _shown(request, policy, name, flows, _used(request))})


def _flows(request: ApiRequest) -> tuple[str, dict[str, Document]]:
    found = request.engine.list_flows(request.context())
    return found["policy"], {flow["name"]: flow for flow in found["flows"]}


def _used(request: ApiRequest) -> _Used:
    first = request.now - _HOURS * _HOUR
    # The first hour is shown for the part of it that is within the day.
    hours = (first, *range(first - first % _HOUR + _HOUR, request.now, _HOUR))
    by_project: defaultdict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    in_all: defaultdict[int, float] = defaultdict(float)
    for entry in request.reader.usage(None, first, request.now, request.now, _HOUR):
        by_project[entry["project_id"]][entry["start"]] += entry["node_seconds"]
        in_all[entry["start"]] += entry["node_seconds"]
    return _Used(hours, by_project, in_all)


def _shown(request: ApiRequest, policy: str, name: str, flows: Mapping[str, Document], used: _Used) -> Document:
    flow = flows.get(name, _NOTHING)
    shown: Document = {
        "name": name,
        "policy": policy,
        "weight": flow["weight"],
        "weight_source": flow["source"],
        "share": None if flow["share"] is None else round(flow["share"], 6),
        "share_of_last_day": round(used.share_of_day(name), 6),
        "owed_host_hours": round(flow["behind"] / 3_600, 3),
        "queued": flow["queued"],
        "leases": [_shown_lease(request, lease) for lease in flow["leases"]],
    }
    if request.version >= V1_28:
        shown["hours"] = [{"start": iso_date(hour), "share": _rounded(used.share(name, hour))} for hour in used.hours]
    return shown


def _shown_lease(request: ApiRequest, lease: Document) -> Document:
    shown = {**lease, "expected_start": iso_date(lease["expected_start"])}
    if request.version < V1_31:
        del shown["blocked"]
    return shown


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)
