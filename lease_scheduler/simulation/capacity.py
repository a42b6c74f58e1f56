"""The capacity report of a recorded site: its use, read from files, and its plot."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.prediction.capacity import CapacityReport, Use
from lease_scheduler.simulation.formats.eucalyptus import read_eucalyptus
from lease_scheduler.simulation.formats.files import read_lines
from lease_scheduler.simulation.formats.usage_table import read_usage_table
from lease_scheduler.simulation.reports.figure import FAINT, INK, PALETTE, picture


def read_uses(paths: Sequence[str | os.PathLike[str]], hosts: int, cores: int | None) -> list[Use]:
    """Read tables of usage, or traces of Eucalyptus clouds; the first word of a file tells which it is.

    :param cores: cores of a host, for traces
    :raises InputFileError: a file cannot be read or is wrong; the error names the line
    """
    found: list[Use] = []
    for path in paths:
        _, first = next(read_lines(path), (1, ""))
        if first.split()[:1] not in (["START"], ["STOP"]):
            found += read_usage_table(path, hosts)
        elif cores is None:
            raise InputFileError(os.fspath(path), 1, "is a trace of instances; say --cores, how many cores a host has")
        else:
            found += [Use(each.start, each.end, each.cores / cores) for each in read_eucalyptus(path)]
    return found


def plot_capacity(report: CapacityReport, path: str | os.PathLike[str]) -> None:
    """Plot the share of hours whose demand exceeds each number of hosts, and the hosts that each promise needs.

    :param path: ``.png`` or ``.svg``
    """
    with picture(path, 8, 4.5) as figure:
        axes = figure.subplots()
        count = len(report.peaks)
        over = 1 - np.arange(1, count + 1) / max(1, count)
        axes.step(report.peaks, over, where="post", color=PALETTE[0], label="hours with a higher demand")
        axes.axvline(report.hosts, color=INK, linestyle="--", label=f"the present {report.hosts} hosts")
        for colour, need in zip(PALETTE[1:], report.needs, strict=False):
            if need.hosts is not None:
                axes.axvline(need.hosts, color=colour, label=f"{need.promise:.6g}: {need.hosts} hosts")
        axes.set(xlabel="hosts", ylabel="share of the hours with use", xlim=(0, None), ylim=(0, 1))
        axes.grid(color=FAINT, alpha=0.4)
        axes.legend(loc="upper right")
