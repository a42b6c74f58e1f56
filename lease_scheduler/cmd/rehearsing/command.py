"""``lease-scheduler-manage rehearse``: run the service in a simulated world, and print the digest of its history."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lease_scheduler.cmd.rehearsing.programs import ServicePrograms
from lease_scheduler.cmd.rehearsing.tenants import Tenant, fill_pool
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.rehearsal.runtime.trace import Trace
from lease_scheduler.rehearsal.world import World, WorldOptions, opened

_DAY = 86_400.0

_PREFIX = "compute-"
_VCPUS = 8


@dataclass(frozen=True)
class Rehearsal:
    """What is rehearsed.

    :ivar seed: at least 0
    :ivar hosts: number of compute hosts
    :ivar tenants: number of tenants
    :ivar engines: number of engines
    :ivar pauses: see ``WorldOptions``
    """

    seed: int
    hosts: int = 50
    tenants: int = 20
    engines: int = 2
    pauses: float = 0.01

    def programs(self) -> ServicePrograms:
        """Return the programs of the service, for this number of hosts."""
        options: dict[tuple[str, str], Any] = {
            ("simulated_cloud", "hosts"): self.hosts,
            ("simulated_cloud", "host_prefix"): _PREFIX,
            ("simulated_cloud", "vcpus"): _VCPUS,
            ("simulated_cloud", "boot_time"): 30,
        }
        return ServicePrograms(defaults=options)

    def world_options(self) -> WorldOptions:
        """Return the options of the world."""
        return WorldOptions(self.seed, self.pauses)

    def people(self, world: World, leases: list[str]) -> None:
        """Start engines, a REST service, and those who use it.

        :param leases: gets the ids of the leases that are created
        """
        for number in range(1, self.engines + 1):
            world.start_engine(f"control-{number}")
        world.start_api("control-1")
        world.start("operator", "desk", fill_pool(self.hosts, _PREFIX))
        for number in range(1, self.tenants + 1):
            tenant = Tenant(self.seed, f"project-{number}", _VCPUS, leases.append)
            world.start("tenant", f"desk-{number}", tenant.run)


def rehearse(options: argparse.Namespace) -> None:
    """Run one world.

    :raises InvalidValueError: an option is wrong
    """
    if options.seed < 0:
        raise InvalidValueError("--seed", f"must be at least 0, not {options.seed}")
    for name, value in (("days", options.days), ("hosts", options.hosts), ("tenants", options.tenants)):
        if value <= 0:
            raise InvalidValueError(f"--{name}", f"must be above 0, not {value}")
    rehearsal = Rehearsal(options.seed, options.hosts, options.tenants)
    if options.trace is None:
        _run(rehearsal, options.days, Trace())
        return
    with options.trace.open("w") as file:
        _run(rehearsal, options.days, Trace(sink=lambda line: print(line, file=file)))


def _run(rehearsal: Rehearsal, days: float, trace: Trace) -> None:
    leases: list[str] = []
    began = time.process_time()
    with opened(rehearsal.world_options(), rehearsal.programs(), trace=trace) as world:
        rehearsal.people(world, leases)
        world.run(days * _DAY)
        crashes = _crashes(world)
        digest = world.trace.digest()
    seconds = time.process_time() - began
    print(f"seed {rehearsal.seed}: {days:g} days, {len(leases)} leases, {trace.count} events, digest {digest}")
    print(f"{days * _DAY / seconds:.0f} simulated seconds in a second of processor time")
    for crash in crashes:
        print(crash)


def _crashes(world: World) -> Sequence[str]:
    return [f"{instant:.6f} {name}: {error!r}" for instant, name, error in world.scheduler.crashes]
