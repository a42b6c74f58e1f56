"""Runs on a cluster of dask.distributed, an optional extra: ``pip install lease-scheduler[distributed]``.

Every worker needs this package in the same version, and the input files under the same names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.campaigns.case import Case, Failure, Success, execute

#: How long to wait for the scheduler and for its first worker, seconds.
_PATIENCE = 30

_OPTION = "--scheduler"


def run_distributed(cases: Sequence[Case], scheduler: str) -> Iterator[tuple[Case, Success | Failure]]:
    """Run cases, the first ones first, and give each with its result as soon as that is known.

    A case whose worker dies is tried on another one as often as the cluster is told to.

    :param scheduler: address of the scheduler, such as ``tcp://host:8786``, or the file that it wrote
    :raises InvalidValueError: the package is missing, or the cluster does not answer, has no workers or other versions
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
