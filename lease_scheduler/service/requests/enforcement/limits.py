"""Limits of projects, from the configuration or from Keystone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True)
class Limits:
    """The limits of a project; -1 means no limit.

    :ivar leases: maximum number of live leases
    :ivar node_hours: maximum node-hours of all live leases together
    :ivar duration_hours: maximum duration of a lease
    :ivar horizon_hours: maximum time from now to the end of a lease
    :ivar lead_time_minutes: minimum time from now to the start of a reservation
    """

    leases: int = -1
    node_hours: int = -1
    duration_hours: int = -1
    horizon_hours: int = -1
    lead_time_minutes: int = -1


#: Names of the limits, in the order in which they are checked.
NAMES = tuple(field.name for field in fields(Limits))

#: Prefix of these names in Keystone.
PREFIX = "reservation:"

#: Returns the limits of a project.
LimitSource = Callable[[str], Limits]


def configured_limits(defaults: Limits, projects: Mapping[str, Limits]) -> LimitSource:
    """Return a source of limits from the configuration.

    :param projects: project id -> its limits, which replace the defaults
    """
    return lambda project_id: projects.get(project_id, defaults)


def parse_project_limits(lines: Iterable[str], defaults: Limits) -> dict[str, Limits]:
    """Return the limits of single projects, from lines such as ``PROJECT leases=5 node_hours=100``.

    :param defaults: limits that a line does not name
    :raises InvalidValueError: a line is malformed
    """
    found = parse_lines("project_limits", lines, NAMES)
    return {project_id: replace(defaults, **values) for project_id, values in found.items()}


def parse_lines(option: str, lines: Iterable[str], names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return numbers by project and name, from lines such as ``PROJECT leases=5 node_hours=100``.

    :param option: option of the group ``enforcement`` that has the lines, for messages
    :param names: names that a line may have
    :raises InvalidValueError: a line is malformed
    """
    found: dict[str, dict[str, int]] = {}
    for line in lines:
        project_id, *pairs = line.split() or [""]
        values: dict[str, int] = {}
        for pair in pairs:
            name, _, text = pair.partition("=")
            if name not in names:
                raise _wrong(option, line, f"there is no limit {name!r}; there are {', '.join(names)}")
            if name in values:
                raise _wrong(option, line, f"{name} is there twice")
            if not text.isdecimal() and text != "-1":
                problem = f"{name} must be a whole number of at least 0, or -1 for no limit, not {text!r}"
                raise _wrong(option, line, problem)
            values[name] = int(text)
        if not values:
            example = " ".join(f"{name}={number}" for name, number in zip(names, (5, 100), strict=False))
            raise _wrong(option, line, f"must be a project id and limits, e.g. 5f0c {example}")
        if project_id in found:
            raise _wrong(option, line, f"project {project_id} is there twice")
        found[project_id] = values
    return found


def _wrong(option: str, line: str, problem: str) -> InvalidValueError:
    return InvalidValueError(f"enforcement.{option}", f"{line!r}: {problem}")


def unified_limits(ask: Callable[[str, Sequence[str]], Mapping[str, int]]) -> LimitSource:
    """Return a source of limits from Keystone. A limit that is not registered there is 0 and refuses everything.

    :param ask: project id and names -> limits by name
    """

    def limits(project_id: str) -> Limits:
        found = ask(project_id, [PREFIX + name for name in NAMES])
        return Limits(**{name: found[PREFIX + name] for name in NAMES})

    return limits
