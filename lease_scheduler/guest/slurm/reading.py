"""Slurm's JSON as a view of the queue: answers of ``sinfo --json`` and ``squeue --json`` (data parser 0.0.38)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from lease_scheduler.guest.errors import UnavailableError
from lease_scheduler.guest.interfaces import QueueView
from lease_scheduler.guest.nodes import Power, QueueNode
from lease_scheduler.guest.values import Job

_MINUTE = 60

#: Jobs that have nodes, and those of them that wait for their nodes.
_ON_NODES = frozenset({"CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING"})
_STARTING = "CONFIGURING"

#: Reason of nodes that have not registered within ``ResumeTimeout``.
_LATE = "ResumeTimeout reached"

_BRACKETS = re.compile(r"\[([^\]]*)\]")


def view(nodes: Mapping[str, Any], jobs: Mapping[str, Any], partitions: Sequence[str]) -> QueueView:
    """Return the queue.

    :param nodes: answer of ``sinfo --json``
    :param jobs: answer of ``squeue --json``
    :param partitions: those whose nodes count; all if there are none
    :raises UnavailableError: an answer has not the expected form
    """
    try:
        return _view(nodes["nodes"], jobs["jobs"], frozenset(partitions))
    except (KeyError, TypeError, ValueError) as error:
        raise UnavailableError(f"the answer of Slurm cannot be read: {error!r}") from error


def _view(nodes: Sequence[Mapping[str, Any]], jobs: Sequence[Mapping[str, Any]], wanted: frozenset[str]) -> QueueView:
    on_nodes: dict[str, list[str]] = {}
    starting: list[Job] = []
    job_nodes: dict[str, str] = {}
    for job in jobs:
        if job["job_state"] not in _ON_NODES:
            continue
        names = expanded(job["nodes"])
        job_id = str(job["job_id"])
        for name in names:
            on_nodes.setdefault(name, []).append(job_id)
        if job["job_state"] == _STARTING:
            starting.append(Job(job_id, len(names), _limit(job["time_limit"])))
            job_nodes |= dict.fromkeys(names, job_id)
    found = {
        str(each["name"]): _node(each, tuple(on_nodes.get(str(each["name"]), ())))
        for each in nodes
        if "CLOUD" in each["state_flags"] and (not wanted or wanted.intersection(each["partitions"]))
    }
    return QueueView(found, starting, {name: job for name, job in job_nodes.items() if name in found})


def _node(shown: Mapping[str, Any], jobs: tuple[str, ...]) -> QueueNode:
    flags = frozenset(shown["state_flags"])
    power = Power.UP
    # A node may have several of them; a node that has been asked for again is wanted, whatever else it is.
    for flag, meaning in (
        ("POWERED_DOWN", Power.DOWN),
        ("POWERING_DOWN", Power.POWERING_DOWN),
        ("POWERING_UP", Power.POWERING_UP),
        ("POWER_UP", Power.POWERING_UP),
    ):
        if flag in flags:
            power = meaning
    is_draining = bool(flags & {"DRAIN", "POWER_DOWN"})
    has_failed = shown["state"] in ("down", "error", "fail")
    is_late = has_failed and str(shown["reason"]).startswith(_LATE)
    return QueueNode(str(shown["name"]), power, jobs, is_draining, has_failed, is_late)


def _limit(minutes: Any) -> int | None:
    """Return a time limit in seconds; Slurm has unlimited ones as null or as the largest number."""
    if isinstance(minutes, int) and 0 < minutes < 2**31:
        return minutes * _MINUTE
    return None


def expanded(names: str) -> list[str]:
    """Return the nodes of a host list, such as ``c[1-3,07],login``.

    :raises ValueError: it is not a host list
    """
    found: list[str] = []
    for part in _parts(names):
        pieces = _BRACKETS.split(part)
        choices = [list(_numbers(piece)) if place % 2 else [piece] for place, piece in enumerate(pieces)]
        found += ["".join(each) for each in product(*choices)]
    return found


def _parts(names: str) -> Iterator[str]:
    """Yield the parts between commas that are not within brackets."""
    depth, start = 0, 0
    for place, character in enumerate(names):
        depth += {"[": 1, "]": -1}.get(character, 0)
        if depth not in (0, 1):
            raise ValueError(f"{names} is no list of hosts")
        if character == "," and depth == 0:
            yield names[start:place]
            start = place + 1
    if depth:
        raise ValueError(f"{names} is no list of hosts")
    if names[start:]:
        yield names[start:]


def _numbers(ranges: str) -> Iterable[str]:
    for each in ranges.split(","):
        first, _, last = each.partition("-")
        yield from (str(number).zfill(len(first)) for number in range(int(first), int(last or first) + 1))
