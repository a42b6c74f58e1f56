"""The reader of SWF, the Standard Workload Format of the Parallel Workloads Archive.

The rules by which jobs become leases are those of Haizea's converter (Sotomayor 2010, appendix A.3; haizea F86).
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Literal

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.formats.files import Watch, plain_name, read_lines
from lease_scheduler.simulation.workload import Workload, WorkloadLease

COLUMNS = 18

#: One core, which a job uses on each of its nodes.
_VCPU = 100

#: MB of memory of a node if neither the options nor the job specify it; Haizea's default.
_DEFAULT_MEMORY_MB = 1024

_CANCELLED = 5

#: Statuses of the parts of a job that was checkpointed. Another line with its number sums them up.
_PARTS = frozenset({2, 3, 4})

#: Comments of the header that give the size of the machine, in processors and in nodes.
_HEADER = re.compile(r"\s*;+\s*(MaxProcs|MaxNodes)\s*:\s*([0-9]{1,9})\b", re.IGNORECASE)

#: A job: the number of its line, its fields, their values.
_Line = tuple[int, list[str], list[float]]

#: Why jobs are left out, by the attribute that counts them.
LEFT_OUT = {
    "swf_cancelled": "cancelled in the queue",
    "swf_unknown_size": "of unknown size",
    "swf_unknown_submission": "without a time of submission",
    "swf_without_requested_time": "without a requested time or run time",
    "swf_parts": "parts of jobs that have a line for the whole",
}

# Fields of real logs are much smaller. Larger values are errors, and would not be exact as floating point numbers.
_LARGEST = 1e15


@dataclass(frozen=True)
class SwfOptions:
    """Options for converting jobs to leases.

    :ivar begin: instant of the log that becomes the workload's zero; jobs submitted before it are left out
    :ivar length: jobs submitted more than this many seconds after ``begin`` are left out; None keeps all
    :ivar queues: queues (field 15) to keep; None keeps all
    :ivar scale: processors per node; the number of nodes is rounded down, but is at least 1
    :ivar processors_field: whether the size of a job is the requested (field 8) or the allocated (field 5) number of
        processors; if one is unknown, the other is used
    :ivar memory_mb: MB of memory that a job needs on each node; None uses the job's requested memory (field 10), or
        else its used memory (field 7), both KB per processor, or else 1024 MB
    :ivar preemptible: whether the leases are preemptible
    :ivar nodes: number of hosts of the site; None takes it from the header of the log (``MaxProcs`` by ``scale``, or
        else ``MaxNodes``), and without that the workload has no site
    :ivar node_memory_mb: MB of memory of each host; None for the most that a job needs on a node
    :ivar without_requested_time: whether to skip jobs without a requested time (field 9), or to use their run time
    :raises InvalidValueError: a value is invalid
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
    without_requested_time: Literal["skip", "use-run-time"] = "use-run-time"

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


def read_swf(path: str | os.PathLike[str], options: SwfOptions | None = None, watch: Watch | None = None) -> Workload:
    """Read the jobs of an SWF log, plain or compressed, as best-effort leases, ordered by submission and job number.

    These jobs are left out: those that were cancelled while they were queued (no run time, status 5), those of unknown
    size or time of submission, and those without a requested time and run time. A job that was checkpointed has a line
    for the whole, which counts, and lines for its parts (status 2, 3 or 4), which do not.

    The attributes of the workload count jobs in the window and the queues: ``swf_jobs`` is the number of all, and those
    of ``LEFT_OUT`` are the numbers of those left out. ``swf_last_submission`` is the instant of the last of all these
    jobs.

    A run time of 0 counts as 1 s. A job that ran for at least its requested time has no real duration, so its lease
    runs for the whole duration.

    :param watch: is told how far the file has been read
    :raises InputFileError: the file cannot be read or is wrong, and the error names the line; or no job is left
    """
    options = options or SwfOptions()
    name = os.fspath(path)
    machine: dict[str, int] = {}
    leases: list[tuple[int, WorkloadLease]] = []
    first_line: dict[int, int] = {}
    counts = Counter(swf_jobs=0, swf_cancelled=0, swf_unknown_size=0, swf_without_requested_time=0)
    last_submission = 0
    last = float("inf") if options.length is None else options.begin + options.length
    parts: defaultdict[int, list[_Line]] = defaultdict(list)
    wholes = set[int]()

    def take(line: _Line) -> None:
        nonlocal last_submission
        number, fields, values = line
        job, submitted, queue = int(values[0]), int(values[1]), int(values[14])
        if options.queues is not None and queue not in options.queues:
            return
        if submitted < 0:
            counts.update(swf_jobs=1, swf_unknown_submission=1)
            return
        if not options.begin <= submitted <= last:
            return
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

    for line in _jobs(path, watch, machine):
        job = int(line[2][0])
        if int(line[2][10]) in _PARTS:
            parts[job].append(line)
        else:
            wholes.add(job)
            take(line)
    for job, of_job in parts.items():
        if job in wholes:
            counts["swf_parts"] += len(of_job)
        else:
            take(_merged(of_job))
    if not leases:
        raise InputFileError(name, None, _describe_left_out(counts))
    leases.sort(key=lambda pair: (pair[1].request.submitted, pair[0]))
    ordered = tuple(lease for _, lease in leases)
    title = plain_name(path).removesuffix(".swf")
    attributes = {key: str(count) for key, count in {**counts, "swf_last_submission": last_submission}.items()}
    hosts = options.nodes or machine.get("MAXPROCS", 0) // options.scale or machine.get("MAXNODES")
    return Workload(title, ordered, _site(ordered, hosts, options), attributes)


def left_out(attributes: Mapping[str, str]) -> list[str]:
    """Return why jobs of a log were left out of its workload, and how many: ``3 of unknown size``."""
    numbers = {key: int(attributes.get(key, "0")) for key in LEFT_OUT}
    return [f"{number:,} {LEFT_OUT[key]}" for key, number in numbers.items() if number]


def _describe_left_out(counts: Mapping[str, int]) -> str:
    reasons = left_out({key: str(count) for key, count in counts.items()})
    if not reasons:
        return "has no jobs in the window and the queues that were asked for"
    return f"no job is left to become a lease: {', '.join(reasons)}"


def _merged(parts: Sequence[_Line]) -> _Line:
    """Return one line for a checkpointed job that has none for the whole: its first part, with the run time of all
    parts.
    """
    number, fields, values = parts[0]
    run_time = sum(max(0.0, part[2][3]) for part in parts)
    return number, [*fields[:3], f"{run_time:g}", *fields[4:]], [*values[:3], run_time, *values[4:]]


def read_numbers(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[float]]]:
    """Yield the jobs of an SWF log as they are, plain or compressed: (1-based number of the line, its 18 fields).

    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    for number, _, values in _jobs(path):
        yield number, values


def _jobs(
    path: str | os.PathLike[str], watch: Watch | None = None, machine: dict[str, int] | None = None
) -> Iterator[_Line]:
    """Yield the jobs of a log: (1-based number of the line, its fields, their values).

    :param machine: is filled with the sizes of the machine in the header, by their names in capital letters
    """
    name = os.fspath(path)
    for number, line in read_lines(path, watch):
        fields = line.split()
        if machine is not None and (said := _HEADER.match(line)) is not None:
            machine[said[1].upper()] = int(said[2])
        if fields and not fields[0].startswith(";"):
            yield number, fields, _numbers(name, number, fields)


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
    """Return the lease of a job or, if the job is left out, the name of the attribute that counts such jobs."""
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
    """Return the node sets of a job; jobs of equal shape share one value, since a log has many jobs of few shapes."""
    return (NodeSet(count, Resources({VCPU: _VCPU, MEMORY_MB: memory_mb})),)


def _site(leases: tuple[WorkloadLease, ...], hosts: int | None, options: SwfOptions) -> Site | None:
    """Return the site of a workload, or None if the number of its hosts is not known."""
    if not hosts:
        return None
    memory = options.node_memory_mb or max(
        (nodes.resources[MEMORY_MB] for lease in leases for nodes in lease.request.nodes),
        default=options.memory_mb or _DEFAULT_MEMORY_MB,
    )
    return Site.homogeneous(hosts, Resources({VCPU: _VCPU, MEMORY_MB: memory}))
