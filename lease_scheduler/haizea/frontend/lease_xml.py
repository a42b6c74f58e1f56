"""Reading and writing leases in Haizea's XML (haizea F24)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lease_scheduler.haizea.frontend.words import kind_word, state_number, state_word
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Host
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.formats.lwf import read_lease
from lease_scheduler.simulation.formats.lwf_terms import write_attributes, write_nodes, write_software
from lease_scheduler.simulation.formats.times import format_moment, format_time, parse_moment
from lease_scheduler.simulation.formats.xml_file import Element, XmlBuilder, parse_element

#: Maximum size of a lease in XML, in bytes; a lease with a thousand different nodes has some 200,000.
MAXIMUM_SIZE = 1_000_000

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")

#: Attributes in ``<extra>`` that hold the status of a lease, for which Haizea's XML has no place.
UUID = "status:uuid"
PLANNED_START = "status:planned-start"
PLANNED_END = "status:planned-end"
STARTED = "status:started"
ENDED = "status:ended"
ACCUMULATED = "status:accumulated"
REASON = "status:reason"

#: Shown in lists for a lease without a start.
_UNSPECIFIED = "Unspecified"

#: Name of the element, and of the document in errors.
_LEASE = "lease"


@dataclass(frozen=True)
class WrittenLease:
    """The contents of a lease's XML.

    :ivar number: its id; None in a request, which has none yet
    :ivar state: None in a request
    :ivar start: requested start; None if left open or immediate
    :ivar submitted: instant of submission; None in a request
    :ivar preemption_mode: the value of a ``PreemptionMode``; None if left open
    """

    kind: LeaseKind
    nodes: tuple[NodeSet, ...]
    preemptible: bool
    duration: int = UNLIMITED
    start: int | None = None
    deadline: int | None = None
    software: DiskImage | None = None
    extras: Mapping[str, str] = field(default_factory=dict)
    number: int | None = None
    user: str | None = None
    state: LeaseState | None = None
    submitted: int | None = None
    preemption_mode: str | None = None


def read_request(content: str | bytes, now: int) -> tuple[LeaseRequest, bool]:
    """Read a request from XML, and return it and whether it names its preemption mode.

    The id, the state and the submission time in the XML are ignored, because the service sets them.

    :param now: instant of the submission, to which relative times refer
    :raises InvalidValueError: the XML is wrong; the error says what and where
    """
    element = _element(content)
    if "price" in element.attributes:
        raise InvalidValueError("<lease price>", "the service sets prices; leave the attribute out")
    try:
        request = read_lease(element, now, None, parse_moment)
    except InputFileError as error:
        raise _in_text(error) from error
    return request, "preemption-mode" in element.attributes


def clean(text: str) -> str:
    """Replace the characters that XML does not allow, which clients of REST may have sent."""
    return _NOT_IN_XML.sub("?", text)


def write_lease(lease: WrittenLease) -> str:
    """Return the XML of a lease, in one line.

    :raises InvalidValueError: XML or Haizea's names of resources cannot express the lease
    """
    written: dict[str, str] = {}
    if lease.number is not None:
        written["id"] = str(lease.number)
    if lease.state is not None:
        written["state"] = str(state_number(lease.state))
    written["preemptible"] = str(lease.preemptible)
    if lease.submitted is not None:
        written["submit_time"] = format_moment(lease.submitted)
    if lease.user is not None:
        written["user"] = lease.user
    if lease.preemption_mode is not None:
        written["preemption_mode"] = lease.preemption_mode
    document = XmlBuilder(_LEASE, **written)
    shapes = ((nodes.count, Host("", nodes.resources, nodes.required_traits)) for nodes in lease.nodes)
    write_nodes(document, None, shapes)
    start = document.add("start")
    if lease.kind is LeaseKind.IMMEDIATE:
        document.add("now", start)
    elif lease.start is not None:
        document.add("exact", start, time=format_moment(lease.start))
    document.add("duration", time=format_time(lease.duration))
    if lease.deadline is not None:
        document.add("deadline", time=format_moment(lease.deadline))
    write_software(document, None, lease.software)
    write_attributes(document, None, "extra", lease.extras)
    return document.text()


@dataclass(frozen=True)
class ListedLease:
    """The columns of a lease in lists (Sotomayor 2010, figure 4.3).

    :ivar start: actual or planned start, or else the requested one, as text
    :ivar duration: requested duration, as text
    """

    number: str
    kind: str
    state: str
    start: str
    duration: str
    nodes: int


def read_listed(text: str) -> ListedLease:
    """Read the columns for lists from a lease that the front has written.

    :raises InvalidValueError: the text is not a lease, or lacks what the front writes
    """
    element = _element(text)
    try:
        # Blazar's clients may make a lease without reservations.
        request = read_lease(element, 0, None, parse_moment, may_be_empty=True)
        number, state = element.get("id"), state_word(element.get("state"))
    except InputFileError as error:
        raise _in_text(error) from error
    start = request.extras.get(STARTED) or request.extras.get(PLANNED_START)
    if not start:
        start = _UNSPECIFIED if request.start is None else format_moment(request.start)
    duration = "unlimited" if request.duration == UNLIMITED else format_time(request.duration)
    return ListedLease(number, kind_word(request.kind), state, start, duration, request.node_count)


def _element(text: str | bytes) -> Element:
    # The encoding that the XML declaration names no longer applies to a decoded text.
    content = _DECLARATION.sub("", text).encode(errors="replace") if isinstance(text, str) else text
    if len(content) > MAXIMUM_SIZE:
        raise InvalidValueError(_LEASE, f"has {len(content)} bytes; at most {MAXIMUM_SIZE} are read")
    try:
        return parse_element(content, _LEASE, _LEASE)
    except InputFileError as error:
        raise _in_text(error) from error


def _in_text(error: InputFileError) -> InvalidValueError:
    """Return the error for a text that is not a file."""
    return InvalidValueError(_LEASE if error.line is None else f"{_LEASE}, line {error.line}", error.problem)
