"""Reading of workloads for a command line, with a progress bar."""

from __future__ import annotations

import sys
from pathlib import PurePath

from rich.console import Console
from rich.progress import Progress

from lease_scheduler.simulation.formats.azure import AzureOptions
from lease_scheduler.simulation.formats.swf import SwfOptions, left_out
from lease_scheduler.simulation.shipped import load_workload
from lease_scheduler.simulation.workload import Workload


def read_with_bar(
    name: str,
    swf_options: SwfOptions | None = None,
    azure_options: AzureOptions | None = None,
    *,
    beginning: int | None = None,
    quiet: bool = False,
) -> Workload:
    """Return the workload in a file, or a shipped one. On a terminal, a bar shows how much has been read.

    :param name: as for ``load_workload``
    :param beginning: as for ``load_workload``
    :param quiet: whether to show no bar
    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        return load_workload(name, swf_options, azure_options, None, beginning)
    return _with_bar(name, swf_options, azure_options, beginning, console)


def tell_left_out(*read: tuple[str, Workload]) -> None:
    """Print to standard error how many jobs of logs were left out, and why.

    Call it only after the request has succeeded, because the output of an error is one line.

    :param read: (name, workload as it was read)
    """
    for name, workload in read:
        reasons = left_out(workload.attributes)
        if reasons:
            print(f"{name}: left out: {', '.join(reasons)}", file=sys.stderr)


def _with_bar(
    name: str,
    swf_options: SwfOptions | None,
    azure_options: AzureOptions | None,
    beginning: int | None,
    console: Console,
) -> Workload:
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(f"reading {PurePath(name).name}", total=None)

        def show(done: int, size: int) -> None:
            progress.update(task, completed=done, total=size)

        return load_workload(name, swf_options, azure_options, show, beginning)
