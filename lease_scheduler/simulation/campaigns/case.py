"""Cases, which are the runs of a campaign as values, and their results."""

from __future__ import annotations

import dataclasses
import json
import resource
import socket
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

Outcome = dict[str, Any]


class Case(Protocol):
    """One run of a campaign: a picklable value, usually a frozen dataclass."""

    @property
    def name(self) -> str:
        """The name that identifies the case; it must not change from one call to the next."""
        ...

    def run(self) -> Outcome:
        """Run the case, and return its figures as JSON values."""
        ...


@runtime_checkable
class DescribedCase(Protocol):
    """A case whose parameters are not its fields."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of the run as JSON values; cases with the same name have the same parameters."""
        ...


@runtime_checkable
class CostedCase(Protocol):
    """A case with an estimate of its cost, so that long runs start first and the progress shows the time left."""

    @property
    def cost_s(self) -> float:
        """Roughly the CPU seconds of a run. Only ratios matter once runs of the campaign have been measured."""
        ...


@dataclass(frozen=True)
class Usage:
    """The resources that a run used.

    :ivar started: start in ISO 8601, UTC
    :ivar cpu_s: CPU seconds
    :ivar wall_s: seconds of real time
    :ivar peak_rss_bytes: largest resident memory of the process that did the run
    :ivar machine: name of the machine
    """

    started: str
    cpu_s: float
    wall_s: float
    peak_rss_bytes: int
    machine: str


@dataclass(frozen=True)
class Failure:
    """A run that failed.

    :ivar error: reason, in one line
    :ivar exit_code: exit code of its process: 1 after an exception, minus the signal's number if it was killed
    :ivar details: the traceback, or empty
    """

    error: str
    exit_code: int
    details: str = ""


@dataclass(frozen=True)
class Success:
    """A run that was completed."""

    outcome: Outcome
    usage: Usage


def execute(case: Case) -> Success | Failure:
    """Run a case in this thread; return a failure if it raises an exception."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    # The time of the thread, not of the process: a worker of a cluster may do several runs, one in each thread.
    cpu, wall = time.thread_time(), time.perf_counter()
    try:
        outcome = case.run()
    except Exception as error:
        line = " ".join(f"{type(error).__name__}: {error}".split())
        return Failure(line, 1, traceback.format_exc())
    usage = Usage(
        started=started,
        cpu_s=round(time.thread_time() - cpu, 3),
        wall_s=round(time.perf_counter() - wall, 3),
        peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        machine=socket.gethostname(),
    )
    return Success(outcome, usage)


def parameters_of(case: object) -> dict[str, Any]:
    """Return the parameters of a case as they are after a round trip through JSON.

    :raises TypeError: the case is neither a dataclass nor a ``DescribedCase``
    """
    if isinstance(case, DescribedCase):
        fields = dict(case.parameters)
    elif dataclasses.is_dataclass(case) and not isinstance(case, type):
        values = ((field.name, getattr(case, field.name)) for field in dataclasses.fields(case))
        fields = {"kind": type(case).__name__, **dict(values)}
    else:
        raise TypeError(f"{case!r}: a case is a dataclass or has parameters")
    found: dict[str, Any] = json.loads(json.dumps(fields, default=_plain))
    return found


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{value!r} is not a JSON value; define the parameters of the case")
