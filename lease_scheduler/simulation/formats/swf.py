"""SWF, the Standard Workload Format of the Parallel Workloads Archive, read as leases.

The rules are those of the author's converter and front end (Sotomayor 2010, appendix A.3; haizea F86, section 4.20).
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from pathlib import PurePath
from typing import Literal

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import LeaseKind, LeaseRequest, NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.formats.files import read_lines
from lease_scheduler.simulation.workload import Workload, WorkloadLease

COLUMNS = 18

#: One core of a node, which is what a job has of each of its nodes.
_VCPU = 100

#: Memory of a node if neither the options nor the job says it, MB; the author's default.
_DEFAULT_MEMORY_MB = 1024

_CANCELLED = 5

# No field of a real log comes near; larger values are damage, and would not be exact as floating point numbers.
_LARGEST = 1e15


@dataclass(frozen=True)
class SwfOptions:
    """How jobs become leases.

    :ivar begin: jobs submitted before this second of the log are left out; it becomes the workload's zero
    :ivar length: jobs submitted more than this many seconds after ``begin`` are left out; none keeps all
    :ivar queues: queues (field 15) to keep, none for all
    :ivar scale: processors per node; a part of a node that is left over is not counted, but every job has one node
    :ivar processors_field: whether a job's size is what it requested (field 8) or what it got (field 5); where the
        one is unknown, the other is taken
    :ivar memory_mb: MB that a job needs of each node; none takes the job's requested memory (field 10), or else its
        used memory (field 7), both KB per processor, or else 1024 MB
    :ivar preemptible: whether the leases may be interrupted
    :ivar nodes: number of hosts of the site, none for a workload without site
    :ivar node_memory_mb: MB of each host of the site, none for the most that a job asks of a node
    :ivar without_requested_time: jobs that do not say how long they may run (field 9) are skipped, or are taken to
        have asked for their run time
    :raises InvalidValueError: a value that cannot be
    """

    begin: int = 0
    length: int | None = None
    queues: frozenset[int] | None = None
    scale: int = 1
    processors_field: Literal["requested", "allocated"] = "requested"
    memory_mb: int | None = _DEFAULT_MEMORY_MB
    preemptible: bool = True
    nodes: int | None = None
    node_memory_mb: int | None = None
    without_requested_time: Literal["skip", "use-run-time"] = "skip"

    def __post_init__(self) -> None:
        for name, value, least in (
            ("begin", self.begin, 0),
            ("length", self.length, 0),
            ("scale", self.scale, 1),
            ("memory_mb", self.memory_mb, 1),
            ("nodes", self.nodes, 1),
            ("node_memory_mb", self.node_memory_mb, 1),
        ):
            if value is not None and value < least:
                raise InvalidValueError(name, f"must be at least {least}, not {value}")
        for name, word, words in (
            ("processors_field", self.processors_field, ("requested", "allocated")),
            ("without_requested_time", self.without_requested_time, ("skip", "use-run-time")),
        ):
            if word not in words:
                raise InvalidValueError(name, f"must be one of {', '.join(words)}, not {word!r}")


def read_swf(path: str | os.PathLike[str], options: SwfOptions | None = None) -> Workload:
    """The jobs of an SWF log, plain or gzip, as best-effort leases in the order of submission, then job number.

    Left out are jobs that were cancelled while queued (no run time, status 5), jobs of unknown size and, unless the
    options say otherwise, jobs without requested time. The workload's attributes count them: ``swf_jobs`` in the
    window and queues, ``swf_cancelled``, ``swf_unknown_size``, ``swf_without_requested_time``;
    ``swf_last_submission`` is
    the instant of the last of these jobs, cancelled ones included. A run time of 0 counts as 1 s; a job that ran as
    long as it asked for, or longer, has no real duration: its lease ends at its end.

    :raises InputFileError: the file cannot be read or is wrong, naming the line
    """
    options = options or SwfOptions()
    name = os.fspath(path)
    leases: list[tuple[int, WorkloadLease]] = []
    first_line: dict[int, int] = {}
    counts = Counter(swf_jobs=0, swf_cancelled=0, swf_unknown_size=0, swf_without_requested_time=0)
    last_submission = 0
    last = float("inf") if options.length is None else options.begin + options.length
    for number, line in read_lines(path):
        fields = line.split()
        if not fields or fields[0].startswith(";"):
            continue
        values = _numbers(name, number, fields)
        job, submitted, queue = int(values[0]), int(values[1]), int(values[14])
        if not options.begin <= submitted <= last or (options.queues is not None and queue not in options.queues):
            continue
        if first_line.setdefault(job, number) != number:
            problem = f"job number {job} is that of line {first_line[job]}; every job needs one of its own"
            raise InputFileError(name, number, problem)
        counts["swf_jobs"] += 1
        last_submission = max(last_submission, submitted - options.begin)
        lease = _lease(fields, values, options)
        if isinstance(lease, WorkloadLease):
            leases.append((job, lease))
        else:
            counts[lease] += 1
    leases.sort(key=lambda pair: (pair[1].request.submitted, pair[0]))
    ordered = tuple(lease for _, lease in leases)
    title = PurePath(name).name.removesuffix(".gz").removesuffix(".swf")
    attributes = {key: str(count) for key, count in (counts | {"swf_last_submission": last_submission}).items()}
    return Workload(title, ordered, _site(ordered, options), attributes)


def _numbers(path: str, number: int, fields: list[str]) -> list[float]:
    if len(fields) != COLUMNS:
        raise InputFileError(path, number, f"has {len(fields)} fields; a job of SWF has {COLUMNS}")
    try:
        values = [float(field) for field in fields]
    except ValueError:
        values = []
    if not values or not all(-_LARGEST <= value <= _LARGEST for value in values):
        field = next(position for position, text in enumerate(fields, start=1) if not _is_usable(text))
        raise InputFileError(
            path, number, f"field {field} is {fields[field - 1]!r}; it must be a number, -1 if unknown"
        )
    return values


def _is_usable(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return isfinite(value) and abs(value) <= _LARGEST


def _lease(fields: list[str], values: list[float], options: SwfOptions) -> WorkloadLease | str:
    """The lease of a job, or the name of the count of those that are left out for the same reason."""
    run_time, requested_time = int(values[3]), int(values[8])
    if run_time < 0 and int(values[10]) == _CANCELLED:
        return "swf_cancelled"
    processors = (values[7], values[4]) if options.processors_field == "requested" else (values[4], values[7])
    size = int(processors[0] if processors[0] > 0 else processors[1])
    if size <= 0:
        return "swf_unknown_size"
    if requested_time <= 0 and options.without_requested_time == "use-run-time" and run_time >= 0:
        requested_time = max(1, run_time)
    if requested_time <= 0:
        return "swf_without_requested_time"
    request = LeaseRequest(
        lease_id=str(int(values[0])),
        kind=LeaseKind.BEST_EFFORT,
        nodes=_node_sets(max(1, size // options.scale), _memory_mb(values, options)),
        submitted=int(values[1]) - options.begin,
        duration=requested_time,
        preemptible=options.preemptible,
        user=str(int(values[11])) if values[11] >= 0 else None,
        extras={
            "SWF_waittime": fields[2],
            "SWF_runtime": fields[3],
            "SWF_avgcputime": fields[5],
            "SWF_queue": fields[14],
            "SWF_group": fields[12],
            "SWF_execnumber": fields[13],
        },
    )
    return WorkloadLease(request, max(1, run_time) if run_time >= 0 and max(1, run_time) < requested_time else None)


def _memory_mb(values: list[float], options: SwfOptions) -> int:
    if options.memory_mb is not None:
        return options.memory_mb
    for kilobytes in (values[9], values[6]):
        if kilobytes > 0:
            return max(1, -int(-kilobytes * options.scale // 1024))
    return _DEFAULT_MEMORY_MB


@lru_cache(maxsize=10_000)
def _node_sets(count: int, memory_mb: int) -> tuple[NodeSet, ...]:
    """Equal jobs share one value: a log has few shapes and many jobs."""
    return (NodeSet(count, Resources({VCPU: _VCPU, MEMORY_MB: memory_mb})),)


def _site(leases: tuple[WorkloadLease, ...], options: SwfOptions) -> Site | None:
    if options.nodes is None:
        return None
    memory = options.node_memory_mb or max(
        (nodes.resources[MEMORY_MB] for lease in leases for nodes in lease.request.nodes),
        default=options.memory_mb or _DEFAULT_MEMORY_MB,
    )
    return Site.homogeneous(options.nodes, Resources({VCPU: _VCPU, MEMORY_MB: memory}))
