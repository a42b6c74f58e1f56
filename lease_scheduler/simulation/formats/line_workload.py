"""Workload files with a lease in every line."""

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
    """A workload from a file, plain or gzip; the ids number the lines with leases from 1.

    :param read_lease: makes a lease of its id and its line; raises InvalidValueError where the line is wrong
    :param suffix: of the file's name, which the workload's name does not have
    :raises InputFileError: the file cannot be read or is wrong, naming the line
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
