"""One run of a campaign as a value, and what comes out of it."""

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
    """One run of a campaign; a picklable value, most simply a frozen dataclass."""

    @property
    def name(self) -> str:
        """What tells it from all other cases; the same case has the same name always."""
        ...

    def run(self) -> Outcome:
        """Run it and give its figures as JSON values."""
        ...


@runtime_checkable
class DescribedCase(Protocol):
    """A case whose fields do not say best what is run."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is run, as JSON values; two cases of one name have the same."""
        ...


@dataclass(frozen=True)
class Usage:
    """What a run cost.

    :ivar started: when it began, ISO 8601, UTC
    :ivar cpu_s: CPU seconds
    :ivar wall_s: seconds of real time
    :ivar peak_rss_bytes: largest resident memory of the process that ran it
    :ivar machine: where it ran
    """

    started: str
    cpu_s: float
    wall_s: float
    peak_rss_bytes: int
    machine: str


@dataclass(frozen=True)
class Failure:
    """A run that came to nothing.

    :ivar error: why, one line
    :ivar exit_code: of its process: 1 after an exception, minus the signal's number if it was killed
    :ivar details: the traceback, if there is one
    """

    error: str
    exit_code: int
    details: str = ""


@dataclass(frozen=True)
class Success:
    """A run that came to its end."""

    outcome: Outcome
    usage: Usage


def execute(case: Case) -> Success | Failure:
    """Run a case here and now; an exception becomes a failure."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    # A run has one thread, and a worker of a cluster may have several with a run each.
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
    """What a case runs, as it is after a way through JSON.

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
    raise TypeError(f"{value!r} is no JSON value; give the case parameters of its own")
