"""Workloads that are shipped with the package: a recorded month, and three sets of reservations to inject into it.

``blue1`` is a month of a 144-host machine, as Sotomayor cut it out of the log (SWF; the NOTICE file names the origin).
``t10``, ``t20`` and ``t30`` are the presets T10, T20 and T30 of the generator of reservations with ``SHIPPED_SEED``
(LWF). ``lease-sim generate --preset t20 --output FILE`` reproduces ``t20``.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.formats.azure import AzureOptions
from lease_scheduler.simulation.formats.files import Watch
from lease_scheduler.simulation.formats.swf import SwfOptions
from lease_scheduler.simulation.formats.workload_file import read_workload
from lease_scheduler.simulation.workload import Workload

#: Seed of the shipped sets of reservations, and default seed of the generators.
SHIPPED_SEED = 20_100_801

_BLUE1_HOSTS = 144

_FILES = MappingProxyType({"blue1": "blue1.swf.gz", "t10": "t10.lwf.gz", "t20": "t20.lwf.gz", "t30": "t30.lwf.gz"})


def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped workloads, sorted."""
    return tuple(sorted(_FILES))


def shipped_path(name: str) -> Path:
    """Return the file of a shipped workload.

    :raises InvalidValueError: there is no shipped workload with this name
    """
    if name not in _FILES:
        known = ", ".join(shipped_names())
        raise InvalidValueError("workload", f"there is no shipped workload {name!r}; known are {known}")
    return Path(str(files("lease_scheduler.simulation") / "data" / _FILES[name]))


def load_workload(
    name: str,
    swf_options: SwfOptions | None = None,
    azure_options: AzureOptions | None = None,
    watch: Watch | None = None,
    beginning: int | None = None,
) -> Workload:
    """Return the workload in a file or, if there is no such file, the shipped workload with this name.

    :param name: path of a workload file, plain or gzip, or name of a shipped workload
    :param swf_options: how the jobs of an SWF log become leases; by default, ``blue1`` has a site of 144 hosts
    :param azure_options: which VMs of a trace of Azure become leases
    :param watch: is told how far the file has been read, if its format may be large
    :param beginning: date from which the times of an LWF count, as for ``read_lwf``
    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    path = find_workload(name)
    if name == "blue1" and path == shipped_path(name):
        options = swf_options or SwfOptions()
        swf_options = replace(options, nodes=_BLUE1_HOSTS) if options.nodes is None else options
    return read_workload(path, swf_options, azure_options, watch, beginning)


def find_workload(name: str) -> Path:
    """Return the path of a workload file from a path or, if there is no such file, the name of a shipped workload."""
    return shipped_path(name) if name in _FILES and not Path(name).exists() else Path(name)
