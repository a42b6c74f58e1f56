"""Availability: when nodes are free."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import V1_17
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.requests.pools import pools_for
from lease_scheduler.api.schemas.base import MAXIMUM_INTEGER
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.property_query import parse_query
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU

_WEEK = 7 * 86_400
_HOUR = 3_600
_RESOURCE = re.compile(r"([A-Z0-9_]{1,255}):([0-9]{1,10})", re.ASCII)
_TRAIT = re.compile(r"[A-Z0-9_]{1,255}", re.ASCII)


def show(request: ApiRequest) -> Answer:
    """Show when a reservation of the nodes would be granted, and when they are free without preemption."""
    query, now = request.query, request.now
    start = dates.parse_date(query["start"], "start", now, request.version) if "start" in query else now
    start = max(start, now)
    end = dates.parse_date(query["end"], "end", now, request.version) if "end" in query else start + _WEEK
    if end <= start:
        raise ApiError(400, "end: must be later than start and than now", "end")
    duration = dates.parse_duration(query["duration"], "duration") if "duration" in query else _HOUR
    asked = {
        "nodes": _nodes(query),
        "start": start,
        "end": end,
        "duration": duration,
        "count": query.get("count", 1),
    }
    pools = pools_for(request.services.settings, request.caller, query.get("pool")).get("pools")
    if pools is not None:
        asked["pool"] = query.get("pool", pools[0])
    found = request.engine.availability(request.context(), asked)
    shown = _shown(found, with_kinds=request.version >= V1_17)
    if request.version >= V1_17:
        shown["free"] = _shown(found["free"], with_kinds=False)
    return Answer({"availability": shown})


def _shown(found: Document, *, with_kinds: bool) -> Document:
    windows = []
    for window in found["windows"]:
        one: Document = {
            "start": dates.iso_date(window["start"]),
            "end": dates.iso_date(window["end"]),
            "count": window["count"],
        }
        if with_kinds:
            one["preempted_kinds"] = window["preempted"]
        windows.append(one)
    return {"windows": windows, "earliest": dates.iso_date(found["earliest"])}


def _nodes(query: Mapping[str, Any]) -> Document:
    resources = _resources(query.get("resources", ""))
    for key, name in (("vcpus", VCPU), ("memory_mb", MEMORY_MB), ("disk_gb", DISK_GB)):
        if key in query:
            resources[name] = query[key]
    groups = [_parse_group(part.strip()) for part in query.get("groups", "").split(",") if part.strip()]
    if not resources and not groups and not query.get("exclusive"):
        raise ApiError(400, "vcpus: say what a node needs, or ask for exclusive ones", "vcpus")
    text = query.get("properties", "")
    try:
        parse_query(text, field="properties")
    except InvalidValueError as error:
        raise ApiError(400, str(error), "properties") from error
    nodes = {
        "count": query.get("count", 1),
        "resources": resources,
        "traits": _traits(query.get("traits", "")),
        "properties": text,
        "exclusive": query.get("exclusive", False),
        "per_host": query.get("per_host"),
    }
    return {**nodes, "groups": groups} if groups else nodes


def _resources(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        match = _RESOURCE.fullmatch(part.strip())
        if match is None or not 1 <= int(match[2]) <= MAXIMUM_INTEGER:
            raise ApiError(
                400, f'resources: {part} is not an amount of a resource class; right is "PCPU:4"', "resources"
            )
        found[match[1]] = int(match[2])
    return found


def _parse_group(text: str) -> Document:
    """Return a group: amounts of classes, separated by ``/``, and after an ``@`` traits, separated likewise."""
    amounts, has_traits, traits = text.partition("@")
    try:
        resources = _resources(amounts.replace("/", ","))
        found = _traits(traits.replace("/", ","))
    except ApiError as error:
        raise ApiError(400, f"groups: {error.message}", "groups") from error
    if not resources or bool(found) != bool(has_traits):
        raise ApiError(400, f'groups: {text} is not a group; right is "VGPU:1@CUSTOM_NVIDIA_11"', "groups")
    return {"resources": resources, "traits": found}


def _traits(text: str) -> list[str]:
    found = sorted({part.strip() for part in text.split(",")} - {""})
    for trait in found:
        if not _TRAIT.fullmatch(trait):
            raise ApiError(400, f"traits: {trait} is not a trait; use capital letters, digits and _", "traits")
    return found
