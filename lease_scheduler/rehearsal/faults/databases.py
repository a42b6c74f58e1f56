"""A database that fails, is away, or is slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lease_scheduler.rehearsal.faults.partition import half
from lease_scheduler.rehearsal.faults.setting import Setting
from lease_scheduler.rehearsal.runtime.database import (
    BEGIN,
    COMMIT,
    ConnectionLostError,
    DatabaseFaults,
    Moment,
    disk_full,
    lock_timeout,
    read_only,
)
from lease_scheduler.rehearsal.runtime.processes import Process

_CALLERS = ("engine", "api")

_WRITES = ("INSERT", "UPDATE", "DELETE")

#: Probability that a statement fails, that a commit does, and that a full database takes no write, in bad weather.
_STATEMENT_FAILS, _COMMIT_FAILS, _WRITE_FAILS = 0.01, 0.2, 0.5

#: Probability that an engine stands still before a transaction in bad weather, and the seconds of that: least, most.
_FREEZES, _FROZEN = 0.1, (1.0, 60.0)

#: Seconds by which statements are late: mean of an exponential distribution.
_DELAY = 0.5


def _is_of_service(process: Process) -> bool:
    return process.label.startswith(_CALLERS)


class ManyDatabaseFaults(DatabaseFaults):
    """All faults of a seed, one after the other."""

    def __init__(self, faults: Sequence[DatabaseFaults]) -> None:
        self._faults = faults

    def connect(self, process: Process) -> None:
        """See ``DatabaseFaults``."""
        for each in self._faults:
            each.connect(process)

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        """See ``DatabaseFaults``."""
        for each in self._faults:
            each.strike(process, statement, moment)


class FailingStatements(DatabaseFaults):
    """Statements and commits fail, before their effect or after it."""

    name = "statements"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather("statements", 600.0), setting.story

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        """See ``DatabaseFaults``."""
        if not _is_of_service(process):
            return
        if self._weather.strikes(_COMMIT_FAILS if statement == COMMIT else _STATEMENT_FAILS):
            self._story.tell(process.label, f"loses its connection {moment.value} {statement.split(' ', 1)[0]}")
            raise ConnectionLostError


class FullDatabase(DatabaseFaults):
    """The database takes no writes: its disk is full, it can only be read, or others hold a lock for too long."""

    name = "full"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather("full", 60.0), setting.story
        self._errors: tuple[Callable[[], Exception], ...] = (disk_full, read_only, lock_timeout)

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        """See ``DatabaseFaults``."""
        is_write = moment is Moment.BEFORE and statement.startswith(_WRITES)
        if is_write and _is_of_service(process) and self._weather.strikes(_WRITE_FAILS):
            error = self._weather.random.choice(self._errors)()
            self._story.tell(process.label, f"cannot write: {error}")
            raise error


class AbsentDatabase(DatabaseFaults):
    """The database does not answer."""

    name = "database-away"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather("database-away", 60.0), setting.story

    def connect(self, process: Process) -> None:
        """See ``DatabaseFaults``."""
        if _is_of_service(process) and self._weather.is_bad():
            raise ConnectionLostError

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        """See ``DatabaseFaults``."""
        self.connect(process)


class SlowDatabase(DatabaseFaults):
    """Statements take long."""

    name = "database-slow"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._world = setting.weather("database-slow", 300.0), setting.world

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        """See ``DatabaseFaults``."""
        if moment is Moment.BEFORE and self._world.scheduler.current is not None and self._weather.is_bad():
            self._world.scheduler.sleep(self._weather.random.expovariate(1.0 / _DELAY))


class FrozenEngines(DatabaseFaults):
    """An engine stands still before a transaction, until another one leads. It does not know how late it is then."""

    name = "frozen"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather(self.name), setting.story
        self._disturbances, self._scheduler = setting.disturbances, setting.world.scheduler

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        """See ``DatabaseFaults``."""
        is_planned = statement == BEGIN and moment is Moment.BEFORE and process.label.startswith("engine")
        if is_planned and self._scheduler.current is not None and self._weather.strikes(_FREEZES):
            seconds = self._weather.random.uniform(*_FROZEN)
            self._story.tell(process.label, f"stands still for {seconds:.1f} s")
            self._disturbances.add(self.name, self._scheduler.now + seconds)
            process.freeze(seconds)


class HalfReachedDatabase(DatabaseFaults):
    """One of two hosts does not reach the database, while the other one does not reach the broker.

    ``buses.HalfReachedBroker`` is the other half.
    """

    name = "partition"

    def __init__(self, setting: Setting) -> None:
        self._weather, self._story = setting.weather(self.name), setting.story
        self._told = 0.0

    def connect(self, process: Process) -> None:
        """See ``DatabaseFaults``."""
        if not self._weather.is_bad() or process.host != half(self._weather, of_database=True):
            return
        if self._told != self._weather.spell:
            self._told = self._weather.spell
            self._story.tell(process.host, f"does not reach the database, and {half(self._weather)} not the broker")
        raise ConnectionLostError

    def strike(self, process: Process, statement: str, moment: Moment) -> None:
        """See ``DatabaseFaults``."""
        self.connect(process)
