"""LWFA, Haizea's annotations: terms that replace those of a workload's leases.

See Sotomayor 2010, section 4.1.3 (haizea F26).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.simulation.formats.implied_kind import derive_kind
from lease_scheduler.simulation.formats.lwf_terms import (
    SoftwareTerm,
    StartTerm,
    read_attributes,
    read_deadline,
    read_software,
    read_start,
    write_attributes,
    write_deadline,
    write_software,
    write_start,
)
from lease_scheduler.simulation.formats.xml_file import Element, XmlBuilder, stream_elements
from lease_scheduler.simulation.workload import Workload, WorkloadLease


@dataclass(frozen=True)
class LeaseAnnotation:
    """The changes of one lease; a part that is None is not changed.

    :ivar lease_id: id of the lease; None if the position in the file identifies the lease
    :ivar start: requested start; an exact instant is in seconds from the submission
    :ivar deadline: deadline in seconds from the submission
    :ivar software: software of the lease
    :ivar extras: attributes to add or to replace
    :ivar line: line in the file; None if the annotation is not from a file
    """

    lease_id: str | None = None
    start: StartTerm | None = None
    deadline: int | None = None
    software: SoftwareTerm | None = None
    extras: Mapping[str, str] = field(default_factory=dict)
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Annotations:
    """The annotations of a workload.

    :ivar entries: the annotations. Either all of them have ids or none has; without ids, the first one is for the lease
        that arrives first, and so on
    :ivar attributes: free attributes, which are added to those of the annotated workload
    :ivar path: the file, for errors
    :raises InvalidValueError: only some of the annotations have ids, or two have the same id
    """

    entries: tuple[LeaseAnnotation, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    path: str = field(default="annotations", compare=False)

    def __post_init__(self) -> None:
        ids = [entry.lease_id for entry in self.entries if entry.lease_id is not None]
        if ids and len(ids) < len(self.entries):
            raise InvalidValueError("id", "either every annotation has an id or none has")
        if len(set(ids)) < len(ids):
            repeated = next(lease_id for lease_id in ids if ids.count(lease_id) > 1)
            raise InvalidValueError("id", f"two annotations are for lease {repeated!r}; leave one")


def read_annotations(path: str | os.PathLike[str]) -> Annotations:
    """Read annotations from an LWFA file, plain or gzip.

    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    attributes: dict[str, str] | None = None
    entries: list[LeaseAnnotation] = []
    for element in stream_elements(path, "lease-annotations"):
        match element.tag:
            case "lease-annotations":
                element.expect()
            case "attributes":
                if attributes is not None:
                    raise element.error("a second <attributes>; leave one")
                attributes = read_attributes(element)
            case "lease-annotation":
                entries.append(_read_annotation(element))
            case unknown:
                raise element.error(f"<{unknown}> is not allowed here; known: attributes, lease-annotation")
    name = os.fspath(path)
    try:
        return Annotations(tuple(entries), attributes or {}, name)
    except InvalidValueError as error:
        raise InputFileError(name, _contradicting_line(entries), str(error)) from error


def write_annotations(annotations: Annotations, path: str | os.PathLike[str]) -> None:
    """Write annotations to an LWFA file in one step; reading the file gives equal annotations.

    :raises InvalidValueError: LWFA cannot express a value; the error names it
    :raises InputFileError: the file cannot be written
    """
    document = XmlBuilder("lease-annotations")
    write_attributes(document, None, "attributes", annotations.attributes)
    for entry in annotations.entries:
        element = document.add("lease-annotation", **({} if entry.lease_id is None else {"id": entry.lease_id}))
        if entry.start is not None:
            write_start(document, element, entry.start, relative=True)
        if entry.deadline is not None:
            write_deadline(document, element, entry.deadline, relative=True)
        if entry.software is not None:
            write_software(document, element, entry.software.image)
        write_attributes(document, element, "extra", entry.extras)
    document.write(path)


def annotate(workload: Workload, annotations: Annotations) -> Workload:
    """Return a workload with its leases annotated. Injected workloads must have been merged before.

    A start or a deadline in an annotation also sets the kind of the lease to that which its terms imply (see
    ``derive_kind``). A lease whose start becomes "now" loses its deadline.

    :raises InputFileError: an annotation is for a lease that the workload does not have, or gives a lease invalid
        terms; the error names the line
    """
    by_id = {entry.lease_id: entry for entry in annotations.entries if entry.lease_id is not None}
    if by_id:
        present = {lease.request.lease_id for lease in workload.leases}
        for lease_id, entry in by_id.items():
            if lease_id not in present:
                problem = f"no lease of workload {workload.name!r} has the id {lease_id!r}; remove the annotation"
                raise InputFileError(annotations.path, entry.line, problem)
        chosen = [by_id.get(lease.request.lease_id) for lease in workload.leases]
    else:
        if len(annotations.entries) > len(workload.leases):
            surplus = annotations.entries[len(workload.leases)]
            problem = f"one annotation more than workload {workload.name!r} has leases ({len(workload.leases)})"
            raise InputFileError(annotations.path, surplus.line, problem)
        chosen = [*annotations.entries, *[None] * (len(workload.leases) - len(annotations.entries))]
    leases = tuple(
        lease if entry is None else _annotated(lease, entry, annotations.path)
        for lease, entry in zip(workload.leases, chosen, strict=True)
    )
    return replace(workload, leases=leases, attributes={**workload.attributes, **annotations.attributes})


def _read_annotation(element: Element) -> LeaseAnnotation:
    element.expect(("id",), ("start", "deadline", "software", "extra"))
    start, deadline = element.find("start"), element.find("deadline")
    software, extra = element.find("software"), element.find("extra")
    return LeaseAnnotation(
        element.attributes.get("id"),
        None if start is None else read_start(start),
        None if deadline is None else read_deadline(deadline),
        None if software is None else read_software(software),
        {} if extra is None else read_attributes(extra),
        element.line,
    )


def _contradicting_line(entries: list[LeaseAnnotation]) -> int | None:
    """Return the line of the first annotation that contradicts an earlier one, or None."""
    seen: set[str | None] = set()
    for entry in entries:
        if (entry.lease_id is None) != (entries[0].lease_id is None) or (entry.lease_id and entry.lease_id in seen):
            return entry.line
        seen.add(entry.lease_id)
    return None


def _annotated(lease: WorkloadLease, entry: LeaseAnnotation, path: str) -> WorkloadLease:
    request = lease.request
    try:
        if entry.start is not None or entry.deadline is not None:
            request = _with_times(request, entry)
    except InvalidValueError as error:
        raise InputFileError(path, entry.line, f"lease {lease.request.lease_id!r}: {error}") from error
    if entry.software is not None:
        request = replace(request, software=entry.software.image)
    return replace(lease, request=replace(request, extras={**request.extras, **entry.extras}))


def _with_times(request: LeaseRequest, entry: LeaseAnnotation) -> LeaseRequest:
    submitted = request.submitted
    if entry.start is None:
        now, start = request.kind is LeaseKind.IMMEDIATE, request.start
    else:
        now = entry.start.now
        start = None if entry.start.exact is None else submitted + entry.start.exact
    deadline = request.deadline if entry.deadline is None else submitted + entry.deadline
    if entry.deadline is None and now:
        deadline = None
    kind = derive_kind(submitted=submitted, start=start, now=now, duration=request.duration, deadline=deadline)
    if deadline is not None and not now and start is None:
        start = submitted
    if kind is LeaseKind.RESERVATION:
        deadline = None
    return replace(request, kind=kind, start=start, deadline=deadline)
