"""A lease in Haizea's XML, as its scripts send and read it (haizea F24, section 9.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lease_scheduler.haizea.frontend.words import kind_word, state_number, state_word
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Host
from lease_scheduler.model.lease import UNLIMITED, DiskImage, LeaseKind, LeaseRequest, NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.formats.lwf import read_lease
from lease_scheduler.simulation.formats.lwf_terms import write_attributes, write_nodes, write_software
from lease_scheduler.simulation.formats.times import format_moment, format_time, parse_moment
from lease_scheduler.simulation.formats.xml_file import Element, XmlBuilder, parse_element

#: Bytes of a lease in XML; one of a thousand different nodes has some 200,000.
MAXIMUM_SIZE = 1_000_000

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")

#: Attributes in ``<extra>`` with which the front tells what has become of a lease; Haizea's XML has no place for it.
UUID = "status:uuid"
PLANNED_START = "status:planned-start"
PLANNED_END = "status:planned-end"
STARTED = "status:started"
ENDED = "status:ended"
ACCUMULATED = "status:accumulated"
REASON = "status:reason"

#: What lists show in place of a start that is left open.
_UNSPECIFIED = "Unspecified"

#: Name of the element, and what errors call the document.
_LEASE = "lease"


@dataclass(frozen=True)
class WrittenLease:
    """A lease as its XML shows it, or is to show it.

    :ivar number: its id; none in a request, which gets one
    :ivar state: none in a request
    :ivar start: instant at which it was asked to start; none if that is left open or now
    :ivar submitted: instant; none in a request
    :ivar preemption_mode: our word for how it may be interrupted, none if that is left open
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
    """The request that a lease in XML is, and whether it says how it may be interrupted.

    Its id, state and time of submission do not count: the service gives them.

    :param now: instant of its submission, from which relative times count
    :raises InvalidValueError: naming what is wrong, and where
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
    """The text without the characters that XML cannot have, which clients of REST may have sent."""
    return _NOT_IN_XML.sub("?", text)


def write_lease(lease: WrittenLease) -> str:
    """The XML of a lease, in one line.

    :raises InvalidValueError: XML or Haizea's names of resources cannot say it
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
    """What lists show of a lease (Sotomayor 2010, figure 4.3).

    :ivar start: when it starts or started, or is to start at the earliest, as text
    :ivar duration: as text
    """

    number: str
    kind: str
    state: str
    start: str
    duration: str
    nodes: int


def read_listed(text: str) -> ListedLease:
    """What a lease that the front has written shows in lists.

    :raises InvalidValueError: it is no lease, or not one as the front writes it
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
    # What a text says of its encoding was true before it became a text.
    content = _DECLARATION.sub("", text).encode(errors="replace") if isinstance(text, str) else text
    if len(content) > MAXIMUM_SIZE:
        raise InvalidValueError(_LEASE, f"has {len(content)} bytes; at most {MAXIMUM_SIZE} are read")
    try:
        return parse_element(content, _LEASE, _LEASE)
    except InputFileError as error:
        raise _in_text(error) from error


def _in_text(error: InputFileError) -> InvalidValueError:
    """An error about a place in a text that is no file."""
    return InvalidValueError(_LEASE if error.line is None else f"{_LEASE}, line {error.line}", error.problem)
