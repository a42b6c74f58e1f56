"""The oldest trace format of Haizea, which preceded the ten-column LWF: columns separated by semicolons.

Columns, counted from 1: 1 submission s, 5 nodes, 6 memory MB per node, 9 seconds from the submission to the start or
``NULL`` for best-effort, 10 requested duration s, 11 real duration s. The other columns are not used.
"""

from __future__ import annotations

import os

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.formats.line_workload import read_line_workload
from lease_scheduler.simulation.formats.resource_names import parse_count
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Minimum number of columns.
COLUMNS = 11

SEPARATOR = ";"

_VCPU = 100


def read_csv_trace(path: str | os.PathLike[str]) -> Workload:
    """Read a workload from a trace, plain or gzip; ids are the numbers of the lines with leases, from 1 on.

    Every node has one CPU. A lease with a start is a reservation and not preemptible. A lease without a start is
    best-effort and preemptible.

    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    return read_line_workload(path, lambda lease_id, line: _read_lease(lease_id, line.split(SEPARATOR)), ".csv")


def _read_lease(lease_id: str, fields: list[str]) -> WorkloadLease:
    if len(fields) < COLUMNS:
        raise InvalidValueError("columns", f"a line has at least {COLUMNS} of them, not {len(fields)}")
    submitted = parse_count(fields[0], "submission (column 1)")
    best_effort = fields[8].strip() == "NULL"
    duration = parse_count(fields[9], "requested duration (column 10)", least=1)
    real = parse_count(fields[10], "real duration (column 11)")
    memory = parse_count(fields[5], "memory (column 6)", least=1)
    nodes = parse_count(fields[4], "nodes (column 5)", least=1)
    request = LeaseRequest(
        lease_id=lease_id,
        kind=LeaseKind.BEST_EFFORT if best_effort else LeaseKind.RESERVATION,
        nodes=(NodeSet(nodes, Resources({VCPU: _VCPU, MEMORY_MB: memory})),),
        submitted=submitted,
        duration=duration,
        start=None if best_effort else submitted + parse_count(fields[8], "start (column 9)"),
        preemptible=best_effort,
    )
    return WorkloadLease(request, max(1, real) if real < duration else None)
