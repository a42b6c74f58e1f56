"""Reading a workload file of any format. The content of the file determines the format."""

from __future__ import annotations

import os

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats import azure, csv_trace, old_lwf, swf
from lease_scheduler.simulation.formats.files import BYTE_ORDER_MARK, Watch, open_bytes, read_lines
from lease_scheduler.simulation.formats.lwf import read_lwf
from lease_scheduler.simulation.workload import Workload

#: First bytes of XML in UTF-16; all other formats are UTF-8.
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_workload(
    path: str | os.PathLike[str],
    swf_options: swf.SwfOptions | None = None,
    azure_options: azure.AzureOptions | None = None,
    watch: Watch | None = None,
    beginning: int | None = None,
) -> Workload:
    """Read an SWF log, a trace of Azure, an XML LWF, a ten-column LWF or an older trace with semicolons.

    All may be plain or compressed.

    :param swf_options: how the jobs of an SWF log become leases
    :param azure_options: which VMs of a trace of Azure become leases
    :param watch: is told how far an SWF log or a trace of Azure, which may be large, has been read
    :param beginning: date from which the times of an LWF count, as for ``read_lwf``
    :raises InputFileError: the file cannot be read, has none of these formats, or is wrong; the error names the line
    """
    if is_xml(path):
        return read_lwf(path, beginning)
    for number, line in read_lines(path):
        fields = line.split()
        if not fields:
            continue
        if line.count(csv_trace.SEPARATOR) >= csv_trace.COLUMNS - 1 and not fields[0].startswith(csv_trace.SEPARATOR):
            return csv_trace.read_csv_trace(path)
        if fields[0].startswith(";") or len(fields) == swf.COLUMNS:
            return swf.read_swf(path, swf_options, watch)
        if azure.is_trace(line):
            return azure.read_azure(path, azure_options, watch)
        if fields[0].startswith("#") or len(fields) == old_lwf.COLUMNS:
            return old_lwf.read_old_lwf(path)
        columns = f"{swf.COLUMNS} columns (SWF) nor {old_lwf.COLUMNS} (old LWF)"
        problem = f"is not a workload: neither XML (LWF) nor {columns} nor batches of VMs (Azure)"
        raise InputFileError(os.fspath(path), number, problem)
    raise InputFileError(os.fspath(path), None, "is empty; a workload of no leases is an LWF without lease requests")


def is_xml(path: str | os.PathLike[str]) -> bool:
    """Return whether a file, plain or gzip, starts like XML.

    :raises InputFileError: the file cannot be read
    """
    with open_bytes(path) as stream:
        head = stream.read(64)
    return head.startswith(_WIDE_MARKS) or head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"<")
