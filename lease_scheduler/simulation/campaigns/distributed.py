"""Runs on a cluster of dask.distributed, an optional extra: ``pip install lease-scheduler[distributed]``.

Every worker needs the same version of this package, and the input files at the same paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.campaigns.case import Case, Failure, Success, execute

#: Seconds to wait for the scheduler, and for its first worker.
_PATIENCE = 30

_OPTION = "--scheduler"


def run_distributed(cases: Sequence[Case], scheduler: str) -> Iterator[tuple[Case, Success | Failure]]:
    """Run cases in the given order, and yield each with its result as soon as the result is known.

    If a worker dies, its case is tried on another worker, as often as the cluster is configured to.

    :param scheduler: address of the scheduler, such as ``tcp://host:8786``, or path of the scheduler's file
    :raises InvalidValueError: the package ``distributed`` is missing, or the cluster does not answer, has no workers,
        or has other versions of this package
    """
    client = _connect(scheduler)
    try:
        from distributed import as_completed

        tasks = {
            client.submit(execute, case, key=f"{case.name} {number}", pure=False, priority=-number): case
            for number, case in enumerate(cases)
        }
        try:
            for task in as_completed(list(tasks)):
                error = task.exception()
                yield tasks[task], task.result() if error is None else Failure(" ".join(str(error).split()), 1)
        finally:
            client.cancel(list(tasks))
    finally:
        client.close()


def _connect(scheduler: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        problem = "needs the package distributed: pip install lease-scheduler[distributed]"
        raise InvalidValueError(_OPTION, problem) from None
    place = {"scheduler_file": scheduler} if Path(scheduler).is_file() else {"address": scheduler}
    try:
        client = Client(**place, timeout=_PATIENCE)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidValueError(_OPTION, f"{scheduler} does not answer as a scheduler: {error}") from error
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
        found = set(client.run(_version).values()) - {_version()}
        if found:
            problem = f"its workers have version {', '.join(sorted(found))} of this package, we {_version()}"
            raise InvalidValueError(_OPTION, f"{problem}; install the same everywhere")
    except TimeoutError as error:
        client.close()
        problem = f"{scheduler} has no workers; start some with: dask worker {scheduler}"
        raise InvalidValueError(_OPTION, problem) from error
    except BaseException:
        client.close()
        raise
    return client


def _version() -> str:
    return version("lease-scheduler")
