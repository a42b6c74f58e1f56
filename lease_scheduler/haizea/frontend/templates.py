"""OpenNebula templates of VMs, read as requests for leases (haizea F21, F22; Sotomayor 2010, section 4.1.1).

A template is text: ``NAME = value``, ``NAME = "value"`` and ``NAME = [ KEY = value, ... ]``, ``#`` before comments. The
section ``HAIZEA`` has ``start`` (``+HH:MM:SS``, a date and time, ``now`` or ``best_effort``), ``duration``
(``HH:MM:SS`` or ``unlimited``), ``preemptible`` (``yes`` or ``no``) and ``group``. The case of names does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from lease_scheduler.haizea.frontend.lease_xml import WrittenLease
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.formats.resource_names import parse_count
from lease_scheduler.simulation.formats.times import parse_duration, parse_moment

_SECTION = "HAIZEA"
_KEYS = ("START", "DURATION", "PREEMPTIBLE", "GROUP")

#: Haizea's units of CPU in one core.
_WHOLE_CPU = 100

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_VALUE = r'"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s,\]\["#][^,\]\n#]*)'
_NAME_PATTERN = re.compile(rf"(?P<name>{_WORD})\s*=\s*")
_VALUE_PATTERN = re.compile(_VALUE)
_SPACE = re.compile(r"(?:\s|#[^\n]*)+")


@dataclass(frozen=True)
class Template:
    """A parsed template of a VM.

    :ivar path: the file
    :ivar values: NAME -> value
    :ivar section: KEY -> value of the section for Haizea; None without such a section
    """

    path: str
    values: Mapping[str, str]
    section: Mapping[str, str] | None

    def get(self, name: str) -> str:
        """Return a required value.

        :raises InputFileError: the value is missing
        """
        if name not in self.values:
            raise self.error(f"lacks {name}; add it")
        return self.values[name]

    def error(self, problem: str) -> InputFileError:
        """Return an error about this template, for the caller to raise."""
        return InputFileError(self.path, None, problem)


def parse_template(text: str, path: str) -> Template:
    """Parse a template.

    :param path: the file, for errors
    :raises InputFileError: the text is not a template; the error names the line
    """
    values: dict[str, str] = {}
    section: dict[str, str] | None = None
    place = _skip(text, 0)
    while place < len(text):
        name, place = _name(text, place, path)
        if text.startswith("[", place):
            pairs, place = _vector(text, place + 1, path)
            if name == _SECTION and section is not None:
                raise _error_at(text, place, path, f"a second section {_SECTION}; leave one")
            section = pairs if name == _SECTION else section
        else:
            values[name], place = _value(text, place, path)
        place = _skip(text, place)
    if section is not None:
        for key in section:
            if key not in _KEYS:
                known = ", ".join(word.lower() for word in _KEYS)
                raise InputFileError(path, None, f"{_SECTION} has no {key.lower()}; known are {known}")
    return Template(path, values, section)


def _name(text: str, place: int, path: str) -> tuple[str, int]:
    found = _NAME_PATTERN.match(text, place)
    if found is None:
        raise _error_at(text, place, path, "is not NAME = value")
    return found["name"].upper(), found.end()


def _value(text: str, place: int, path: str) -> tuple[str, int]:
    found = _VALUE_PATTERN.match(text, place)
    if found is None:
        raise _error_at(text, place, path, 'has no value after its "="')
    if found["quoted"] is not None:
        return re.sub(r"\\(.)", r"\1", found["quoted"]), found.end()
    return found["bare"].strip(), found.end()


def _vector(text: str, place: int, path: str) -> tuple[dict[str, str], int]:
    pairs: dict[str, str] = {}
    place = _skip(text, place)
    while not text.startswith("]", place):
        if place >= len(text):
            raise _error_at(text, place, path, 'lacks a "]"')
        name, place = _name(text, place, path)
        if name in pairs:
            raise _error_at(text, place, path, f"has {name.lower()} twice; leave one")
        pairs[name], place = _value(text, place, path)
        place = _skip(text, place)
        if text.startswith(",", place):
            place = _skip(text, place + 1)
        elif not text.startswith("]", place):
            raise _error_at(text, place, path, 'lacks a "," or a "]"')
    return pairs, place + 1


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return place if found is None else found.end()


def _error_at(text: str, place: int, path: str, problem: str) -> InputFileError:
    return InputFileError(path, text.count("\n", 0, place) + 1, problem)


def leases_of(templates: Sequence[Template], now: int) -> list[WrittenLease]:
    """Return the leases for the VMs, in the order of their first VMs.

    The VMs of one group are the nodes of one lease. The first of them gives all other terms.

    :param now: instant of the submission, to which relative starts refer
    :raises InputFileError: a template is wrong; the error names the file and the problem
    """
    groups: dict[object, list[Template]] = {}
    for number, template in enumerate(templates):
        group = (template.section or {}).get("GROUP")
        groups.setdefault(number if group is None else group, []).append(template)
    return [_lease(members, now) for members in groups.values()]


def _lease(members: Sequence[Template], now: int) -> WrittenLease:
    first = members[0]
    section = first.section
    kind, start, duration, preemptible = LeaseKind.IMMEDIATE, None, UNLIMITED, False
    if section is not None:
        missing = [key.lower() for key in _KEYS[:3] if key not in section]
        if missing:
            raise first.error(f"{_SECTION} lacks {' and '.join(missing)}; add it")
        try:
            kind, start = _start(section["START"], now)
            duration = parse_duration(section["DURATION"], f"{_SECTION} duration")
            preemptible = _flag(section["PREEMPTIBLE"])
        except InvalidValueError as error:
            raise first.error(str(error)) from error
    equal: dict[Resources, int] = {}
    for member in members:
        needed = _needed(member)
        equal[needed] = equal.get(needed, 0) + 1
    nodes = tuple(NodeSet(count, resources) for resources, count in equal.items())
    return WrittenLease(kind, nodes, preemptible, duration, start)


def _start(text: str, now: int) -> tuple[LeaseKind, int | None]:
    words = {"now": LeaseKind.IMMEDIATE, "best_effort": LeaseKind.BEST_EFFORT}
    if text.lower() in words:
        return words[text.lower()], None
    return LeaseKind.RESERVATION, parse_moment(text, f"{_SECTION} start", now)


def _flag(text: str) -> bool:
    if text.lower() not in ("yes", "no"):
        raise InvalidValueError(f"{_SECTION} preemptible", f"must be yes or no, not {text!r}")
    return text.lower() == "yes"


def _needed(template: Template) -> Resources:
    """Return the resources of a VM: ``VCPU`` processors (1 by default), each the share ``CPU`` of a core."""
    try:
        share = cpu_units(template.get("CPU"), "CPU")
        count = parse_count(template.values.get("VCPU", "1"), "VCPU", least=1)
        return Resources({VCPU: share * count, MEMORY_MB: parse_count(template.get("MEMORY"), "MEMORY", least=1)})
    except InvalidValueError as error:
        raise template.error(str(error)) from error


def cpu_units(text: str, field: str) -> int:
    """Return a number of cores in Haizea's units of CPU: 100 for ``1``, 50 for ``0.5``.

    :raises InvalidValueError: the text is not a number above 0
    """
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) or not Decimal(text):
        raise InvalidValueError(field, f"must be a number above 0, not {text!r}")
    return int((Decimal(text) * _WHOLE_CPU).to_integral_value(ROUND_CEILING))
