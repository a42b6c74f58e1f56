"""``lease-scheduler-manage rehearse``: run the service in simulated worlds, and say what breaks."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial

from lease_scheduler.cmd.rehearsing.casting import Cast, named, parse
from lease_scheduler.cmd.rehearsing.rehearsal import CALM, DAY, Outcome, Rehearsal, run
from lease_scheduler.cmd.rehearsing.shrinking import Case, shrunk
from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError
from lease_scheduler.rehearsal.runtime.patching import Patches, patched
from lease_scheduler.rehearsal.runtime.trace import Trace
from lease_scheduler.rehearsal.world import opened


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
    if options.calm is not None and options.calm < 0:
        raise InvalidValueError("--calm", f"must be at least 0, not {options.calm}")
    cast = Cast(**{each.name: parse(each.name, getattr(options, each.name)) for each in fields(Cast)})
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
                seed, options.hosts, options.tenants, with_nova=options.cloud == "nova", cast=cast, calm=options.calm
            )
            outcome = _one(rehearsal, options, patches, image, Trace(sink=sink))
            if outcome.violation is not None:
                broken += 1
                if options.shrink:
                    _shrink(rehearsal, outcome, options, patches, image)
    if broken:
        raise BrokenWorldsError(f"{broken} of {options.count} worlds broke an invariant")


def _image(rehearsal: Rehearsal, patches: Patches) -> bytes:
    """Return a database with its tables, for many worlds."""
    with opened(rehearsal.world_options(), rehearsal.programs(), patches) as world:
        return world.database.image()


def _one(rehearsal: Rehearsal, options: argparse.Namespace, patches: Patches, image: bytes, trace: Trace) -> Outcome:
    """Run one world, and tell how it went."""
    began = time.process_time()
    outcome = run(rehearsal, options.days, patches, image, trace)
    speed = outcome.seconds / (time.process_time() - began)
    faults = named(rehearsal.drawn())["faults"]
    result = "ok" if outcome.violation is None else f"BROKEN after {outcome.seconds:.0f} s"
    print(
        f"seed {rehearsal.seed}: {result}, {options.days:g} days, {outcome.leases} leases, {outcome.events} events, "
        f"digest {outcome.digest[:16]}, {speed:.0f} simulated s/s, faults: {faults}",
        flush=True,
    )
    if outcome.violation is not None:
        _tell(rehearsal, options, options.days, outcome)
    return outcome


def _tell(rehearsal: Rehearsal, options: argparse.Namespace, days: float, outcome: Outcome) -> None:
    """Print what was broken, how it came to that, and how to see it again."""
    found = outcome.violation
    assert found is not None
    about = f" (lease {found.subject})" if found.subject else ""
    print(f"  {found.invariant}: {found.what}{about}")
    for line in outcome.story:
        print(f"  {line}")
    said = {
        "SEED": rehearsal.seed,
        "DAYS": f"{days:.9g}",
        "HOSTS": rehearsal.hosts,
        "TENANTS": rehearsal.tenants,
        "CLOUD": options.cloud,
        **{name.upper(): value for name, value in named(rehearsal.cast).items()},
        **({} if rehearsal.calm is None else {"CALM": f"{rehearsal.calm:g}"}),
    }
    print(f"  again: make world {' '.join(f'{name}={value}' for name, value in said.items())}", flush=True)


def _shrink(
    rehearsal: Rehearsal, outcome: Outcome, options: argparse.Namespace, patches: Patches, image: bytes
) -> None:
    """Find the smallest world that breaks the same invariant, and tell how it went."""
    assert outcome.violation is not None
    invariant = outcome.violation.invariant
    last = [(rehearsal, outcome)]
    count = 0

    def breaks(case: Case) -> float | None:
        nonlocal count
        count += 1
        smaller = replace(rehearsal, hosts=case.hosts, tenants=case.tenants, cast=case.cast, calm=case.calm)
        found = run(smaller, case.seconds / DAY, patches, image)
        if found.violation is None or found.violation.invariant != invariant:
            return None
        last[0] = (smaller, found)
        return found.seconds

    calm = options.days * DAY * CALM if rehearsal.calm is None else rehearsal.calm
    case = shrunk(Case(rehearsal.hosts, rehearsal.tenants, outcome.seconds + 1.0, calm, rehearsal.drawn()), breaks)
    print(f"  the smallest of {count} worlds that break this:")
    _tell(last[0][0], options, case.seconds / DAY, last[0][1])
