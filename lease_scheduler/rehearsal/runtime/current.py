"""The world that runs now, for code that is called by libraries and gets no argument of ours."""

from __future__ import annotations

from _thread import get_ident
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lease_scheduler.rehearsal.runtime.scheduler import GreenThread, Scheduler


class NoWorldError(RuntimeError):
    """Code of a rehearsal was called while no world runs."""


class _Running:
    """The running scheduler and the real thread that it runs in."""

    scheduler: Scheduler | None = None
    real_thread = 0


_RUNNING = _Running()


def enter(scheduler: Scheduler) -> None:
    """Make a scheduler the running one, in the calling real thread.

    :raises RuntimeError: another world runs in this Python process
    """
    if _RUNNING.scheduler is not None:
        raise RuntimeError("only one world can run at a time; close the other one first")
    _RUNNING.scheduler, _RUNNING.real_thread = scheduler, get_ident()


def leave() -> None:
    """Have no running world any more."""
    _RUNNING.scheduler = None


def running() -> Scheduler | None:
    """Return the scheduler of the world that runs in the calling real thread, or None."""
    scheduler = _RUNNING.scheduler
    return scheduler if scheduler is not None and get_ident() == _RUNNING.real_thread else None


def scheduler() -> Scheduler:
    """Return the scheduler of the running world.

    :raises NoWorldError: no world runs in this thread
    """
    found = running()
    if found is None:
        raise NoWorldError("no world runs here; transports and databases of a rehearsal exist in a world only")
    return found


def thread() -> GreenThread | None:
    """Return the simulated thread that runs now, or None outside of all of them."""
    found = _RUNNING.scheduler
    if found is None or found.current is None or get_ident() != _RUNNING.real_thread:
        return None
    return found.current
