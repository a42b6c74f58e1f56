"""A world: servers, hosts with processes, and those who use the service, driven by one seed."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lease_scheduler.rehearsal.runtime import patching
from lease_scheduler.rehearsal.runtime.broker import Broker
from lease_scheduler.rehearsal.runtime.database import DatabaseServer
from lease_scheduler.rehearsal.runtime.elections import ElectionService
from lease_scheduler.rehearsal.runtime.patching import Patches
from lease_scheduler.rehearsal.runtime.processes import HostClock, Process
from lease_scheduler.rehearsal.runtime.rest import Application, RestServers
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.rehearsal.runtime.trace import Trace

#: Seconds after which a supervisor starts a program again that could not begin.
_UNTIL_RESTART = 1.0


class Programs(Protocol):
    """The programs that run in a world. Each method is called by the main thread of a simulated process."""

    def prepare(self, folder: Path) -> None:
        """Make the tables of the database.

        :param folder: folder of the world, which is deleted with it
        """
        ...

    def engine(self, folder: Path) -> None:
        """Run an engine, which goes on in its threads."""
        ...

    def api(self, folder: Path) -> Application:
        """Return the REST service."""
        ...


@dataclass(frozen=True)
class WorldOptions:
    """How a world is made.

    :ivar seed: at least 0
    :ivar pauses: probability that a thread pauses when it takes a lock of the service, or reads a clock there
    :ivar image: content of the database, from ``DatabaseServer.image``; None to have the tables made
    """

    seed: int
    pauses: float = 0.0
    image: bytes | None = None


class World:
    """A world. It exists within a block of ``opened``.

    :param folder: folder for what outlives processes and is not in the database
    :param shared_locks: locks of modules that all processes share; those of a killed process become free
    """

    def __init__(
        self, options: WorldOptions, programs: Programs, folder: Path, scheduler: Scheduler, patches: Patches
    ) -> None:
        self.scheduler = scheduler
        self.trace = scheduler.trace
        self.broker = Broker(scheduler)
        self.elections = ElectionService(scheduler)
        self.rest = RestServers(scheduler)
        self.database = DatabaseServer(scheduler, options.image)
        self.processes: list[Process] = []
        self._programs, self._folder, self._patches = programs, folder, patches
        self._is_prepared = options.image is not None

    def prepare(self) -> None:
        """Make the tables of the database, unless they came with the options."""
        if not self._is_prepared:
            self._is_prepared = True
            self.start("setup", "setup", lambda: self._programs.prepare(self._folder))
            self.run(1.0)

    def start(self, name: str, host: str, main: Callable[[], object], clock: HostClock | None = None) -> Process:
        """Start a process.

        :param name: name in the trace
        :param host: name of its host
        :param main: what its main thread does
        :param clock: clocks of the host; None for true ones
        """
        process = Process(self.scheduler, name, host, clock)
        process.on_death.append(self._free_shared_locks)
        self.processes = [each for each in self.processes if each.is_alive] + [process]
        process.start(main)
        return process

    def start_engine(self, host: str, clock: HostClock | None = None) -> Process:
        """Start an engine under a supervisor."""
        return self._supervise("engine", host, clock, lambda process: self._programs.engine(self._folder))

    def start_api(self, host: str, clock: HostClock | None = None) -> Process:
        """Start a REST service under a supervisor."""
        return self._supervise(
            "api", host, clock, lambda process: self.rest.add(process, self._programs.api(self._folder))
        )

    def _supervise(self, name: str, host: str, clock: HostClock | None, program: Callable[[Process], None]) -> Process:
        """Start a program, and start it again in a new process if it cannot begin. A killed one is not started."""

        def main() -> None:
            try:
                program(process)
            except Exception as error:
                self.trace.note(f"{self.scheduler.now:.6f} {process.label} cannot begin: {type(error).__name__}")
                self.scheduler.call_later(_UNTIL_RESTART, lambda: self._supervise(name, host, clock, program))
                process.kill()

        process = self.start(name, host, main, clock)
        return process

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.scheduler.run(seconds)

    def close(self) -> None:
        """Kill all processes, and end their threads."""
        for process in self.processes:
            process.kill()
        # What dead processes say of their end is no event of the world.
        disabled = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        try:
            self.scheduler.close()
        finally:
            logging.disable(disabled)
        self.database.close()

    def _free_shared_locks(self) -> None:
        for lock in self._patches.shared_locks:
            lock.release_of_dead()


@contextmanager
def opened(
    options: WorldOptions, programs: Programs, patches: Patches | None = None, trace: Trace | None = None
) -> Iterator[World]:
    """Make a world that runs within the block.

    :param patches: from ``patching.patched``, to run many worlds within one such block; None for one of its own
    :param trace: records what happens; None for a new one
    """
    if patches is None:
        with patching.patched() as own, opened(options, programs, own, trace) as world:
            yield world
        return
    scheduler = Scheduler(options.seed, options.pauses, trace)
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder, patching.entered(scheduler):
        world = World(options, programs, Path(folder), scheduler, patches)
        try:
            world.prepare()
            yield world
        finally:
            world.close()
