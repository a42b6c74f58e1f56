"""Workloads that come with the package: a recorded month and three sets of reservations to inject into it.

``blue1`` is a month of a 144-host machine as its researcher cut it out of the log (SWF, the NOTICE file names the
origin); ``t10``, ``t20`` and ``t30`` are the presets T10, T20 and T30 of the reservation generator with
``SHIPPED_SEED``
(LWF). ``lease-sim generate --preset t20 --output FILE`` makes the second one again.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.formats.swf import SwfOptions
from lease_scheduler.simulation.formats.workload_file import read_workload
from lease_scheduler.simulation.workload import Workload

#: Seed of the shipped reservation sets, and of the generators where none is given.
SHIPPED_SEED = 20_100_801

_BLUE1_HOSTS = 144

_FILES = MappingProxyType({"blue1": "blue1.swf.gz", "t10": "t10.lwf.gz", "t20": "t20.lwf.gz", "t30": "t30.lwf.gz"})


def shipped_names() -> tuple[str, ...]:
    """Names of the workloads that come with the package, sorted."""
    return tuple(sorted(_FILES))


def shipped_path(name: str) -> Path:
    """The file of a workload that comes with the package.

    :raises InvalidValueError: there is none of that name
    """
    if name not in _FILES:
        raise InvalidValueError("workload", f"none is shipped as {name!r}; known are {', '.join(shipped_names())}")
    return Path(str(files("lease_scheduler.simulation") / "data" / _FILES[name]))


def load_workload(name: str, swf_options: SwfOptions | None = None) -> Workload:
    """A workload from a file or, where no file has that name, one that comes with the package.

    :param name: path of an SWF or LWF file, plain or gzip, or a shipped name
    :param swf_options: how the jobs of an SWF log become leases; ``blue1`` has its 144 hosts unless they say otherwise
    :raises InputFileError: the file cannot be read or is wrong, naming the line
    """
    path = find_workload(name)
    if name == "blue1" and path == shipped_path(name):
        options = swf_options or SwfOptions()
        swf_options = replace(options, nodes=_BLUE1_HOSTS) if options.nodes is None else options
    return read_workload(path, swf_options)


def find_workload(name: str) -> Path:
    """A workload file as a user names it: a path, or the name of a shipped one where no file has that name."""
    return shipped_path(name) if name in _FILES and not Path(name).exists() else Path(name)
