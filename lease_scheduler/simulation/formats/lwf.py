"""LWF, Haizea's XML workload format (Sotomayor 2010, section 4.1.3; haizea F24, F25)."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import count as numbers
from itertools import groupby
from math import isfinite, nan
from typing import Any

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.simulation.formats.dated_times import DatedTimes
from lease_scheduler.simulation.formats.implied_kind import derive_kind
from lease_scheduler.simulation.formats.lwf_terms import (
    StartTerm,
    read_attributes,
    read_deadline,
    read_hosts,
    read_node_sets,
    read_software,
    read_start,
    write_attributes,
    write_deadline,
    write_nodes,
    write_software,
    write_start,
)
from lease_scheduler.simulation.formats.resource_names import IMPLIED, MANDATORY, type_of
from lease_scheduler.simulation.formats.times import (
    InstantParser,
    format_time,
    is_date,
    parse_duration,
    parse_moment,
)
from lease_scheduler.simulation.formats.xml_file import Element, XmlBuilder, stream_elements
from lease_scheduler.simulation.workload import Workload, WorkloadLease

_LEASE_ATTRIBUTES = ("id", "preemptible", "user", "price", "preemption-mode", "state", "submit-time")
_LEASE_PARTS = ("nodes", "start", "duration", "deadline", "software", "extra")


def read_lwf(path: str | os.PathLike[str], beginning: int | None = None) -> Workload:
    """Read a workload from an LWF file, plain or gzip.

    * Instants may be dates, which count from the beginning of the workload.
    * Requests are ordered by arrival, then by their order in the file.
    * A lease without an id gets the smallest number that is not the id of another lease.
    * ``state`` and ``submit-time``, which Haizea adds to the leases that it prints, are ignored: a request is new, and
      its arrival is its submission.
    * If the site does not name Disk, Net-in or Net-out and a request needs it, every host has 1,000,000 of it.

    :param beginning: date from which times count, in seconds since the epoch; None means the earliest arrival that is
        a date
    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    parse = DatedTimes(lambda: _first_date(path) if beginning is None else beginning).parse
    name = ""
    site: Site | None = None
    attributes: dict[str, str] = {}
    declared: frozenset[str] = frozenset()
    requests: list[tuple[int, WorkloadLease]] = []
    seen: set[str] = set()
    for element in stream_elements(path, "lease-workload", containers=("lease-requests",)):
        if element.tag != "lease-request" and element.tag in seen:
            raise element.error(f"a second <{element.tag}>; leave one")
        seen.add(element.tag)
        match element.tag:
            case "lease-workload":
                element.expect(attributes=("name",))
                name = element.attributes.get("name", "")
            case "description":
                pass
            case "attributes":
                attributes = read_attributes(element)
            case "site":
                if requests:
                    raise element.error("<site> must stand before <lease-requests>")
                site, declared = _read_site(element)
            case "lease-request":
                types = declared | frozenset(IMPLIED) if site else None
                requests.append((element.line, _read_request(element, types, parse)))
            case unknown:
                raise element.error(f"<{unknown}> is not allowed here; known: attributes, site, lease-requests")
    if site is not None:
        site = _with_implied_resources(site, declared, [lease for _, lease in requests])
    return Workload(name, _in_order(os.fspath(path), requests), site, attributes)


def read_site(path: str | os.PathLike[str]) -> Site:
    """Read a site from an XML file whose root is the ``<site>`` of LWF.

    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    root, *children = stream_elements(path, "site")
    return _read_site(replace(root, children=tuple(children)))[0]


def write_lwf(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload to an LWF file in one step; reading the file gives an equal workload.

    Terms may be read in an equivalent form: a deadline lease with no choice of its start is read as a reservation.

    :raises InvalidValueError: LWF cannot express a value, such as a host name other than ``host-1`` and so on, or a
        resource class (see ``resource_names.type_of``)
    :raises InputFileError: the file cannot be written
    """
    document = XmlBuilder("lease-workload", name=workload.name)
    write_attributes(document, None, "attributes", workload.attributes)
    if workload.site is not None:
        _write_site(document, workload.site, workload.leases)
    requests = document.add("lease-requests")
    written: set[str] = set()
    for lease in workload.leases:
        if not lease.request.lease_id or lease.request.lease_id in written:
            raise InvalidValueError("lease_id", f"every lease needs one of its own, not {lease.request.lease_id!r}")
        written.add(lease.request.lease_id)
        _write_request(document, requests, lease)
    document.write(path)


def _read_site(element: Element) -> tuple[Site, frozenset[str]]:
    element.expect(children=("resource-types", "nodes"))
    declaration = element.require("resource-types")
    declaration.expect(attributes=("names",))
    types = declaration.get("names").split()
    for type_name in MANDATORY:
        if type_name not in types:
            raise declaration.error(f"<resource-types> lacks {type_name}, which every site has; add it to the names")
    return Site(read_hosts(element.require("nodes"), frozenset(types))), frozenset(types)


def _first_date(path: str | os.PathLike[str]) -> int | None:
    """Return the earliest arrival that is a date, in seconds since the epoch, or None."""
    requests = stream_elements(path, "lease-workload", containers=("lease-requests",))
    dates = (each.convert("arrival", parse_moment) for each in requests if is_date(each.attributes.get("arrival", "")))
    return min(dates, default=None)


def _read_request(element: Element, types: frozenset[str] | None, parse: InstantParser) -> WorkloadLease:
    element.expect(attributes=("arrival",), children=("lease", "realduration"))
    submitted = element.convert("arrival", lambda text, field: parse(text, field, 0))
    lease = element.require("lease")
    request = read_lease(lease, submitted, types, parse)
    return WorkloadLease(request, _read_real_duration(element, request.duration), _read_grant(lease))


def read_lease(
    lease: Element,
    submitted: int,
    types: frozenset[str] | None,
    parse: InstantParser,
    *,
    may_be_empty: bool = False,
) -> LeaseRequest:
    """Read what a ``<lease>`` asks for; the id of the request is empty if the element has none.

    :param submitted: instant of the submission in seconds
    :param types: permitted resource types; None permits all
    :param parse: parser of instants
    :param may_be_empty: whether the lease may have no nodes
    :raises InputFileError: the element is wrong; the error names the line
    """
    lease.expect(_LEASE_ATTRIBUTES, _LEASE_PARTS)
    nodes = lease.require("nodes")
    start = read_start(lease.require("start"), submitted, parse)
    length = lease.require("duration")
    length.expect(attributes=("time",))
    duration = length.convert("time", parse_duration)
    deadline_element = lease.find("deadline")
    deadline = None if deadline_element is None else read_deadline(deadline_element, submitted, parse)
    software = lease.find("software")
    extra = lease.find("extra")
    kind = derive_kind(submitted=submitted, start=start.exact, now=start.now, duration=duration, deadline=deadline)
    if kind is LeaseKind.RESERVATION:
        start = StartTerm(exact=submitted if start.exact is None else start.exact)
        deadline = None
    elif kind is LeaseKind.DEADLINE and start.exact is None:
        start = StartTerm(exact=submitted)
    try:
        return LeaseRequest(
            # A missing id is chosen when all others are known. Empty marks it, since no id in a file is empty.
            lease_id=_read_id(lease),
            kind=kind,
            nodes=() if may_be_empty and not nodes.children else read_node_sets(nodes, types),
            submitted=submitted,
            duration=duration,
            start=start.exact,
            deadline=deadline,
            preemptible=lease.convert("preemptible", _parse_flag),
            preemption_mode=_read_preemption_mode(lease),
            user=None if lease.attributes.get("user", "-1") == "-1" else lease.get("user"),
            software=None if software is None else read_software(software).image,
            extras={} if extra is None else read_attributes(extra),
        )
    except InvalidValueError as error:
        raise lease.error(str(error)) from error


def _read_id(lease: Element) -> str:
    if "id" not in lease.attributes:
        return ""
    if not lease.get("id"):
        raise lease.error("the id is empty; give one or leave the attribute out")
    return lease.get("id")


def _read_grant(lease: Element) -> Grant:
    return Grant(price=lease.convert("price", _parse_price)) if "price" in lease.attributes else UNANSWERED


def _read_real_duration(element: Element, duration: int) -> int | None:
    real = element.find("realduration")
    if real is None:
        return None
    real.expect(attributes=("time",))
    seconds = max(1, real.convert("time", parse_duration))
    return seconds if seconds < duration else None


def _read_preemption_mode(lease: Element) -> PreemptionMode:
    text = lease.attributes.get("preemption-mode", PreemptionMode.SUSPEND.value)
    try:
        return PreemptionMode(text)
    except ValueError:
        words = ", ".join(mode.value for mode in PreemptionMode)
        raise lease.error(f"preemption-mode must be one of {words}, not {text!r}") from None


def _parse_flag(text: str, field: str) -> bool:
    flags = {"true": True, "yes": True, "false": False, "no": False}
    if text.strip().lower() not in flags:
        raise InvalidValueError(field, f"must be true or false, not {text!r}")
    return flags[text.strip().lower()]


def _parse_price(text: str, field: str) -> float:
    try:
        price = float(text)
    except ValueError:
        price = nan
    if not isfinite(price):
        raise InvalidValueError(field, f"must be a number, not {text!r}")
    return price


def _in_order(path: str, requests: list[tuple[int, WorkloadLease]]) -> tuple[WorkloadLease, ...]:
    taken: set[str] = set()
    for line, lease in requests:
        lease_id = lease.request.lease_id
        if lease_id in taken:
            raise InputFileError(path, line, f"the id {lease_id!r} is that of an earlier lease; change one")
        if lease_id:
            taken.add(lease_id)
    free = (str(number) for number in numbers(1) if str(number) not in taken)
    leases = [
        lease if lease.request.lease_id else replace(lease, request=replace(lease.request, lease_id=next(free)))
        for _, lease in requests
    ]
    return tuple(sorted(leases, key=lambda lease: lease.request.submitted))


def _with_implied_resources(site: Site, declared: frozenset[str], leases: list[WorkloadLease]) -> Site:
    wanted = {name for lease in leases for nodes in lease.request.nodes for name in nodes.resources}
    added = {name: amount for name, amount in IMPLIED.items() if name in wanted - declared}
    if not added:
        return site
    return Site.of(replace(host, capacity=host.capacity.replaced(**added)) for host in site.hosts)


def _write_site(document: XmlBuilder, site: Site, leases: tuple[WorkloadLease, ...]) -> None:
    for number, host in enumerate(site.hosts, start=1):
        if host.name != f"host-{number}":
            raise InvalidValueError("site", f"LWF has no host names; rename {host.name!r} to 'host-{number}'")
    classes = {name for lease in leases for nodes in lease.request.nodes for name in nodes.resources}
    names = {type_of(name) for name in classes.union(site.resource_classes)}
    element = document.add("site")
    document.add("resource-types", element, names=" ".join([*MANDATORY, *sorted(names - set(MANDATORY))]))
    equal = groupby(replace(host, name="") for host in site.hosts)
    write_nodes(document, element, ((len(list(group)), host) for host, group in equal))


def _write_request(document: XmlBuilder, parent: Any, lease: WorkloadLease) -> None:
    request = lease.request
    element = document.add("lease-request", parent, arrival=format_time(request.submitted))
    if lease.real_duration is not None:
        document.add("realduration", element, time=format_time(lease.real_duration))
    written = {"id": request.lease_id, "preemptible": str(request.preemptible).lower()}
    if request.user is not None:
        written["user"] = request.user
    if lease.grant.price is not None:
        written["price"] = repr(lease.grant.price)
    if request.preemption_mode is not PreemptionMode.SUSPEND:
        written["preemption_mode"] = request.preemption_mode.value
    terms = document.add("lease", element, **written)
    shapes = ((nodes.count, Host("", nodes.resources, nodes.required_traits)) for nodes in request.nodes)
    write_nodes(document, terms, shapes)
    write_start(document, terms, StartTerm(request.start, request.kind is LeaseKind.IMMEDIATE))
    document.add("duration", terms, time=format_time(request.duration))
    if request.deadline is not None:
        write_deadline(document, terms, request.deadline)
    write_software(document, terms, request.software)
    write_attributes(document, terms, "extra", request.extras)
