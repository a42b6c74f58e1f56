"""The calendar page's document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256

from lease_scheduler.api import dates
from lease_scheduler.api.calendar.cache import Listed, ProjectAnswer, Rights
from lease_scheduler.api.calendar.parts import LeasePart
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.interfaces import SiteVersion
from lease_scheduler.api.microversions import V1_2
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.requests.pools import usable_pools
from lease_scheduler.model.documents import Document

_DAY = 86_400
#: Id and name of the row that shows when leases of other projects hold hosts.
_OTHERS = "other projects"
#: Longest span of one calendar, in seconds.
_MAXIMUM_SPAN = 366 * _DAY
_LARGEST_INSTANT = 253_402_300_799
#: Bytes of a digest that fit into a number of JavaScript.
_TAG_BYTES = 6


def show(request: ApiRequest) -> Answer:
    """Show hosts, leases, which lease has which host when, and what the caller may do."""
    query, now = request.query, request.now
    start = _instant(query["start"], "start", now) if "start" in query else now - _DAY
    end = _instant(query["end"], "end", now) if "end" in query else start + 7 * _DAY
    if not start < end <= start + _MAXIMUM_SPAN:
        raise ApiError(400, "end: must be later than start, by 366 days at most", "end")
    version = request.reader.site_version()
    text = (_site if request.sees_site else _project)(request, version, start, end, now)
    return Answer(text.encode())


def _usable_hosts(request: ApiRequest, version: SiteVersion) -> Sequence[Document]:
    """Return the hosts that leases of the caller can be on."""
    settings = request.services.settings
    hosts = request.services.calendar.hosts(request.reader, version, settings.watts).documents
    if request.sees_site or not settings.pools:
        return hosts
    pools = usable_pools(settings, request.caller)
    return [host for host in hosts if host.get("pool") in pools]


def _use(request: ApiRequest, version: SiteVersion, now: int) -> Document:
    """Return how many hosts leases of all projects hold now, and how many they could hold."""
    held = request.services.calendar.held_hosts(request.reader, version, now)
    hosts = _usable_hosts(request, version)
    return {
        "held": sum(host["id"] in held for host in hosts),
        "usable": sum(host["state"] == "up" or host["id"] in held for host in hosts),
    }


def _own_project(request: ApiRequest) -> Document | None:
    """Return id and name of the caller's project; None if identity is not checked, since nobody then has a project."""
    if request.services.settings.auth == "noauth":
        return None
    return {"id": request.caller.project_id, "name": request.caller.project_name or request.caller.project_id}


def _instant(text: str, field: str, now: int) -> int:
    if text.isascii() and text.isdigit():
        if len(text) > len(str(_LARGEST_INSTANT)) or int(text) > _LARGEST_INSTANT:
            raise ApiError(400, f"{field}: must be at most {_LARGEST_INSTANT}", field)
        return int(text)
    # The calendar accepts ISO 8601 dates at every microversion; leases accept them from 1.2 on.
    return dates.parse_date(text, field, now, V1_2)


def _site(request: ApiRequest, version: SiteVersion, start: int, end: int, now: int) -> str:
    """Return the answer to a caller who sees hosts, and leases of all projects."""
    cache, reader, since = request.services.calendar, request.reader, request.query.get("since")
    if since == version.revision:
        return _opened(request, version, now, since) + _nothing_new(request)
    changes = None
    if since is not None and since < version.revision:
        changes = cache.changes(reader, version, since, start, end)
    found = changes or cache.everything(reader, version, start, end)
    names = request.may("calendar:get_names")
    own = request.caller.project_id
    leases = ", ".join(
        part.text(
            place,
            may_change=request.may("leases:action", part.project_id),
            with_names=names or part.project_id == own,
        )
        for part, place in found.leases
    )
    states = cache.states(reader, version, None)
    hosts = cache.hosts(reader, version, request.services.settings.watts).text
    removed = json.dumps(found.removed)
    text = _rest(request, changes is None, hosts, f"[{leases}]", removed, states)
    return _opened(request, version, now, found.version.revision) + text


def _project(request: ApiRequest, version: SiteVersion, start: int, end: int, now: int) -> str:
    """Return the answer to a caller who sees only the leases of their project.

    The revision of the site would reveal how active other projects are. So the revision in this answer is computed from
    what the project sees, and changes only with that.
    """
    cache, reader, project_id = request.services.calendar, request.reader, request.caller.project_id
    rights = _rights(request)

    def make() -> ProjectAnswer:
        found = cache.everything(reader, version, start, end)
        hosts, leases, until = private_calendar(
            found,
            cache.hosts(reader, version, request.services.settings.watts).documents,
            project_id,
            now,
            usable=_usable_hosts(request, version),
            may_change=rights.may_change,
        )
        states = cache.states(reader, version, project_id)
        text = _rest(request, True, json.dumps(hosts), f"[{', '.join(leases)}]", "[]", states)
        tag = int.from_bytes(sha256(text.encode()).digest()[:_TAG_BYTES])
        return ProjectAnswer(text, tag, now, until)

    pools = tuple(usable_pools(request.services.settings, request.caller))
    answer = cache.answer((version, start, end, project_id, rights, pools), now, make)
    is_known = request.query.get("since") == answer.tag
    return _opened(request, version, now, answer.tag) + (_nothing_new(request) if is_known else answer.text)


def _opened(request: ApiRequest, version: SiteVersion, now: int, revision: int) -> str:
    project = json.dumps(_own_project(request))
    use = json.dumps(_use(request, version, now))
    settings = request.services.settings
    pools = f'"pools": {json.dumps(usable_pools(settings, request.caller))}, ' if settings.pools else ""
    return f'{{"now": {now}, "project": {project}, "use": {use}, {pools}{_sites(request)}"revision": {revision}, '


def _sites(request: ApiRequest) -> str:
    """Return the sites behind a gateway, with the instant since which a site does not answer; nothing for a site."""
    sites = request.services.sites
    if sites is None:
        return ""
    unreachable = sites.unreachable()
    shown = [{"name": name, "unreachable_since": unreachable.get(name)} for name in sites.names]
    return f'"sites": {json.dumps(shown)}, '


def _rest(request: ApiRequest, complete: bool, hosts: str, leases: str, removed: str, states: Document | None) -> str:
    """Return the part of the answer after ``revision``. ``hosts``, ``leases`` and ``removed`` are JSON texts."""
    rights = _rights(request)
    return (
        f'"complete": {json.dumps(complete)}, "hosts": {hosts}, "leases": {leases}, "removed": {removed}, '
        f'"may_book": {json.dumps(rights.may_book)}, "may_approve": {json.dumps(rights.may_approve)}, '
        f'"states": {json.dumps(states)}}}'
    )


def _nothing_new(request: ApiRequest) -> str:
    return _rest(request, False, "[]", "[]", "[]", None)


def _rights(request: ApiRequest) -> Rights:
    def decide() -> Rights:
        may_book = request.may("quotes:post") and request.may("leases:post")
        return Rights(may_book, request.may("leases:action"), request.may("leases:approve", ""))

    return request.services.calendar.rights(request.caller, decide)


def private_calendar(
    found: Listed,
    all_hosts: Sequence[Document],
    project_id: str,
    now: int,
    *,
    usable: Iterable[Document],
    may_change: bool,
) -> tuple[list[Document], list[str], int | None]:
    """Return the calendar of one project: its leases with their hosts, and when others keep the site busy.

    All other projects share one row. Instead of their leases, it has one bar for each interval in which any of them
    holds a host. All other hosts are rows with numbers instead of names, and without leases.

    :param usable: hosts that leases of the project can be on
    :param may_change: whether the caller may change the leases of the project
    :return: the hosts, the leases as JSON, and the next instant at which time alone changes them
    """
    own = [(part, place) for part, place in found.leases if part.project_id == project_id]
    hosts = frozenset[str]().union(*(part.hosts for part, _ in own))
    spans = merged(span for part, _ in found.leases if part.project_id != project_id for span in part.spans)
    others = {"id": _OTHERS, "name": _OTHERS, "state": "up", "vcpus": 0, "memory_mb": 0, "stands_for": "projects"}
    # Whether a host sleeps would reveal how busy other projects are.
    shown = [_without_power(host) for host in all_hosts if host["id"] in hosts] + ([others] if spans else [])
    count = sum(host["state"] == "up" and host["id"] not in hosts for host in usable)
    shown += [_anonymous_host(number) for number in range(1, count + 1)]
    leases = [part.text(place, may_change=may_change, with_names=True) for part, place in own]
    busy = [LeasePart.of(_busy(start, end, now)).text(None, may_change=False, with_names=True) for start, end in spans]
    return shown, leases + busy, min((edge for span in spans for edge in span if edge > now), default=None)


def _anonymous_host(number: int) -> Document:
    """Return a row for a host that the caller may not see."""
    row = {"id": f"unnamed-{number}", "name": f"Host {number}", "state": "up", "vcpus": 0, "memory_mb": 0}
    return row | {"stands_for": "host"}


def _without_power(host: Document) -> Document:
    return {name: value for name, value in host.items() if name != "power"}


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the intervals in the order of their starts, merged where they overlap or touch, without empty ones."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found


def _busy(start: int, end: int, now: int) -> Document:
    """Return an interval in which leases of other projects hold hosts, in the form of a lease without details."""
    holding = {"start": start, "run_start": start, "run_end": end, "end": end, "closing": "shutdown"}
    state = "done" if end <= now else "active" if start <= now else "ready"
    return {
        "id": f"busy-{start}",
        "name": "",
        "project_id": "",
        "kind": "",
        "state": state,
        "reason": "",
        "submitted": start,
        "start": start,
        "end": end,
        "deadline": None,
        "offered_until": None,
        "duration": end - start,
        "accumulated": 0,
        "nodes": 0,
        "preemptible": False,
        "revision": 0,
        "holdings": [{**holding, "hosts": [_OTHERS]}],
        "past": [],
    }
