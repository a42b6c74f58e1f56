"""The ten-column workload format of Haizea that preceded the XML of LWF (haizea F27).

Its author's reservations of 2008 are in this format. Columns: submission s, start s, requested duration s, real
duration s, nodes, CPUs per node, memory MB per node, an unused number, image name in quotes, image size MB.
"""

from __future__ import annotations

import os

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.formats.line_workload import read_line_workload
from lease_scheduler.simulation.workload import Workload, WorkloadLease

COLUMNS = 10

#: VCPU units of one CPU.
_PER_CPU = 100


def read_old_lwf(path: str | os.PathLike[str]) -> Workload:
    """Read a workload from a ten-column file, plain or gzip; ids are the numbers of the lines with leases, from 1 on.

    A lease with a start is a reservation and not preemptible. A lease whose start is ``NULL`` or -1 is best-effort and
    preemptible. In the files of 2008, some instants are before the workload's zero (the starts of 5 of 105,026
    reservations and the submissions of 14). They are moved to the zero, as the rule ``max(t, 0)`` of the generator
    intends.

    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    return read_line_workload(path, lambda lease_id, line: _read_lease(lease_id, line.split()), ".lwf")


def _read_lease(lease_id: str, fields: list[str]) -> WorkloadLease:
    if len(fields) != COLUMNS:
        raise InvalidValueError("columns", f"a line has {COLUMNS} of them, not {len(fields)}")
    submitted = max(0, _integer("submission (column 1)", fields[0]))
    best_effort = fields[1] in ("NULL", "-1")
    start = None if best_effort else max(0, _integer("start (column 2)", fields[1]))
    duration = _integer("requested duration (column 3)", fields[2])
    real = _integer("real duration (column 4)", fields[3])
    cpus, memory = _integer("CPUs (column 6)", fields[5]), _integer("memory (column 7)", fields[6])
    image, size = fields[8].strip("'\""), _integer("image size (column 10)", fields[9])
    request = LeaseRequest(
        lease_id=lease_id,
        kind=LeaseKind.BEST_EFFORT if best_effort else LeaseKind.RESERVATION,
        nodes=(
            NodeSet(_integer("nodes (column 5)", fields[4]), Resources({VCPU: cpus * _PER_CPU, MEMORY_MB: memory})),
        ),
        submitted=submitted,
        duration=duration,
        start=start,
        preemptible=best_effort,
        software=DiskImage(image, size),
    )
    return WorkloadLease(request, max(1, real) if real < duration else None)


def _integer(field: str, text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 15):
        raise InvalidValueError(field, f"must be a whole number, not {text!r}")
    return int(text)
