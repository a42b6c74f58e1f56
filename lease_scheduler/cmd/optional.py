"""Entry points of programs that need an extra. If it is not installed, they name it in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PACKAGE = "lease_scheduler"
_USAGE_ERROR = 2


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """End the program with one line and status 2 if the block imports a library that is not installed.

    :param extra: name of the extra in ``setup.cfg`` that installs what the block imports
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # If a module of ours is missing, no extra helps.
        if error.name is None or error.name.partition(".")[0] == _PACKAGE:
            raise
        print(
            f"{Path(sys.argv[0]).name}: {error.name} is not installed; it comes with the extra {extra}: "
            f"pip install 'lease-scheduler[{extra}]'",
            file=sys.stderr,
        )
        raise SystemExit(_USAGE_ERROR) from error


def lease_sim() -> int:
    """Run ``lease-sim``."""
    with needs_extra("simulator"):
        from lease_scheduler.cmd.lease_sim import main
    return main()


def haizea() -> int:
    """Run ``haizea``."""
    with needs_extra("haizea"):
        from lease_scheduler.cmd.haizea.program import main
    return main()


def haizea_front() -> None:
    """Run ``lease-scheduler-haizea-front``."""
    with needs_extra("haizea"):
        from lease_scheduler.cmd.haizea.front import main
    main()


def haizea_tool() -> int:
    """Run the workload tool of Haizea under whose name the process was started."""
    with needs_extra("haizea"):
        from lease_scheduler.cmd.haizea.tools import main
    return main()


def request_lease() -> int:
    """Run ``haizea-request-lease``."""
    with needs_extra("haizea"):
        from lease_scheduler.cmd.haizea.request_lease import main
    return main()


def cancel_lease() -> int:
    """Run ``haizea-cancel-lease``."""
    with needs_extra("haizea"):
        from lease_scheduler.cmd.haizea.clients import cancel_lease as main
    return main()


def list_leases() -> int:
    """Run ``haizea-list-leases``."""
    with needs_extra("haizea"):
        from lease_scheduler.cmd.haizea.clients import list_leases as main
    return main()


def list_hosts() -> int:
    """Run ``haizea-list-hosts``."""
    with needs_extra("haizea"):
        from lease_scheduler.cmd.haizea.clients import list_hosts as main
    return main()


def show_queue() -> int:
    """Run ``haizea-show-queue``."""
    with needs_extra("haizea"):
        from lease_scheduler.cmd.haizea.clients import show_queue as main
    return main()
