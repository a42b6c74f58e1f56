"""The writer of SWF, the format of many other simulators, for workloads of best-effort leases."""

from __future__ import annotations

import os
from collections.abc import Iterator

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.resources import MEMORY_MB, VCPU
from lease_scheduler.simulation.formats.files import compressed, replace_file
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: VCPU units of one processor.
_PER_PROCESSOR = 100

_UNKNOWN = "-1"
_COMPLETED = "1"


def write_swf(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload to an SWF file in one step; compress it with gzip if its name ends in ``.gz``.

    A core becomes a processor. Fields of the original log (wait, run time, CPU time, queue, group, program) are written
    if the extras of the lease have them; without one, the run time is the real duration. Users keep their numbers if
    all of them are numbers; otherwise they are numbered in the order of their first leases.

    :raises InvalidValueError: SWF cannot express a lease; the error names the lease and the reason
    :raises InputFileError: the file cannot be written
    """
    lines = [*_header(workload), *_jobs(workload)]
    replace_file(path, compressed("".join(f"{line}\n" for line in lines).encode(), path))


def _header(workload: Workload) -> Iterator[str]:
    yield "; Version: 2.2"
    yield f"; Note: workload {' '.join(workload.name.split())}"
    yield f"; MaxJobs: {len(workload.leases)}"
    if workload.site is not None:
        yield f"; MaxNodes: {len(workload.site)}"
        yield f"; MaxProcs: {workload.site.total(VCPU) // _PER_PROCESSOR}"


def _jobs(workload: Workload) -> Iterator[str]:
    users = _user_numbers(workload)
    for lease in workload.leases:
        request = lease.request
        if request.kind is not LeaseKind.BEST_EFFORT:
            problem = f"is {request.kind.value}; SWF knows only jobs that run as soon as they can"
            raise InvalidValueError(f"lease {request.lease_id}", problem)
        if not (request.lease_id.isascii() and request.lease_id.isdigit()):
            raise InvalidValueError(f"lease {request.lease_id}", "must have a number as its id; SWF knows no others")
        processors, kilobytes = _size(lease)
        run_time = str(request.duration if lease.real_duration is None else lease.real_duration)
        said = request.extras
        fields = (
            *(request.lease_id, request.submitted, said.get("SWF_waittime", _UNKNOWN)),
            *(said.get("SWF_runtime", run_time), processors, said.get("SWF_avgcputime", _UNKNOWN), _UNKNOWN),
            *(processors, request.duration, kilobytes, _COMPLETED),
            *(_UNKNOWN if request.user is None else users[request.user], said.get("SWF_group", _UNKNOWN)),
            *(said.get("SWF_execnumber", _UNKNOWN), said.get("SWF_queue", _UNKNOWN), *[_UNKNOWN] * 3),
        )
        yield " ".join(str(field) for field in fields)


def _size(lease: WorkloadLease) -> tuple[int, int]:
    """Return the number of processors, and the KB of memory that each of them needs, rounded up."""
    request = lease.request
    amount = request.total(VCPU)
    if not amount or amount % _PER_PROCESSOR:
        problem = f"needs {amount / _PER_PROCESSOR:g} cores; SWF knows whole processors only"
        raise InvalidValueError(f"lease {request.lease_id}", problem)
    processors = amount // _PER_PROCESSOR
    return processors, -(-request.total(MEMORY_MB) * 1024 // processors)


def _user_numbers(workload: Workload) -> dict[str, int]:
    users = dict.fromkeys(lease.request.user for lease in workload.leases if lease.request.user is not None)
    if all(user.isascii() and user.isdigit() for user in users):
        return {user: int(user) for user in users}
    return {user: number for number, user in enumerate(users, start=1)}
