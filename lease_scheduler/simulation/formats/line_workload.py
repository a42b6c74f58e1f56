"""Reading workload files that have one lease per line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import PurePath

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.simulation.formats.files import read_lines
from lease_scheduler.simulation.workload import Workload, WorkloadLease


def read_line_workload(
    path: str | os.PathLike[str], read_lease: Callable[[str, str], WorkloadLease], suffix: str
) -> Workload:
    """Read a workload from a file, plain or gzip; ids are the numbers of the lines with leases, from 1 on.

    :param read_lease: returns the lease for an id and a line, or raises InvalidValueError if the line is wrong
    :param suffix: suffix to remove from the name of the file; the rest is the name of the workload
    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    name = os.fspath(path)
    leases: list[WorkloadLease] = []
    for number, line in read_lines(path):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            leases.append(read_lease(str(len(leases) + 1), line))
        except InvalidValueError as error:
            raise InputFileError(name, number, str(error)) from error
    leases.sort(key=lambda lease: lease.request.submitted)
    return Workload(PurePath(name).name.removesuffix(".gz").removesuffix(suffix), tuple(leases))
