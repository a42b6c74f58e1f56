"""``lease-scheduler-manage rehearse``: run the service in simulated worlds, and say what breaks."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from functools import partial

from lease_scheduler.cmd.rehearsing.rehearsal import Outcome, Rehearsal, run
from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError
from lease_scheduler.rehearsal.faults.catalogue import NAMES
from lease_scheduler.rehearsal.runtime.patching import Patches, patched
from lease_scheduler.rehearsal.runtime.trace import Trace
from lease_scheduler.rehearsal.world import opened

_NONE = "none"


class BrokenWorldsError(LeaseSchedulerError):
    """Invariants were broken."""


def rehearse(options: argparse.Namespace) -> None:
    """Run one world for each seed, and print a line about each.

    :raises InvalidValueError: an option is wrong
    :raises BrokenWorldsError: an invariant was broken in one of them
    """
    if options.seed < 0:
        raise InvalidValueError("--seed", f"must be at least 0, not {options.seed}")
    for name in ("days", "hosts", "tenants", "count"):
        if getattr(options, name) <= 0:
            raise InvalidValueError(f"--{name}", f"must be above 0, not {getattr(options, name)}")
    faults = _faults(options.faults)
    broken = 0
    with ExitStack() as stack:
        patches = stack.enter_context(patched())
        sink = None
        if options.trace is not None:
            file = stack.enter_context(options.trace.open("w"))
            sink = partial(print, file=file)
        image = _image(Rehearsal(0), patches)
        for seed in range(options.seed, options.seed + options.count):
            rehearsal = Rehearsal(
                seed, options.hosts, options.tenants, with_nova=options.cloud == "nova", faults=faults
            )
            broken += _one(rehearsal, options, patches, image, Trace(sink=sink))
    if broken:
        raise BrokenWorldsError(f"{broken} of {options.count} worlds broke an invariant")


def _faults(text: str | None) -> tuple[str, ...] | None:
    """Return the names of the faults that an argument lists, or None if there is no argument.

    :raises InvalidValueError: there is no such fault
    """
    if text is None:
        return None
    found = () if text == _NONE else tuple(text.split(","))
    for name in found:
        if name not in NAMES:
            raise InvalidValueError("--faults", f"there is no fault {name!r}; give some of {', '.join(NAMES)}, or none")
    return found


def _image(rehearsal: Rehearsal, patches: Patches) -> bytes:
    """Return a database with its tables, for many worlds."""
    with opened(rehearsal.world_options(), rehearsal.programs(), patches) as world:
        return world.database.image()


def _one(rehearsal: Rehearsal, options: argparse.Namespace, patches: Patches, image: bytes, trace: Trace) -> bool:
    """Run one world, and return whether it broke an invariant."""
    began = time.process_time()
    outcome = run(rehearsal, options.days, patches, image, trace)
    speed = outcome.seconds / (time.process_time() - began)
    faults = ", ".join(rehearsal.fault_names()) or _NONE
    result = "ok" if outcome.violation is None else f"BROKEN after {outcome.seconds:.0f} s"
    print(
        f"seed {rehearsal.seed}: {result}, {options.days:g} days, {outcome.leases} leases, {outcome.events} events, "
        f"digest {outcome.digest[:16]}, {speed:.0f} simulated s/s, faults: {faults}",
        flush=True,
    )
    if outcome.violation is not None:
        _tell(rehearsal, options, outcome)
    return outcome.violation is not None


def _tell(rehearsal: Rehearsal, options: argparse.Namespace, outcome: Outcome) -> None:
    """Print what was broken, how it came to that, and how to see it again."""
    found = outcome.violation
    assert found is not None
    about = f" (lease {found.subject})" if found.subject else ""
    print(f"  {found.invariant}: {found.what}{about}")
    for line in outcome.story:
        print(f"  {line}")
    faults = "" if options.faults is None else f" FAULTS={options.faults}"
    print(
        f"  again: make world SEED={rehearsal.seed} DAYS={options.days:g} HOSTS={options.hosts} "
        f"TENANTS={options.tenants} CLOUD={options.cloud}{faults}",
        flush=True,
    )
