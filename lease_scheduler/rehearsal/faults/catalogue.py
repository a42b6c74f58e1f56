"""All faults by name, and those of a seed."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.faults import buses, clouds, databases, processes
from lease_scheduler.rehearsal.faults.setting import Setting
from lease_scheduler.rehearsal.swarm import chosen

_PROCESSES = (processes.KilledProcesses, processes.JumpingClocks, processes.SeparatedEngines)
_DATABASES = (
    databases.FailingStatements,
    databases.FullDatabase,
    databases.AbsentDatabase,
    databases.SlowDatabase,
    databases.FrozenEngines,
    databases.HalfReachedDatabase,
)
_BUSES = (
    buses.LostMessages,
    buses.LateMessages,
    buses.DoubleMessages,
    buses.LostHints,
    buses.AbsentBroker,
    buses.RestartingBroker,
    buses.HalfReachedBroker,
)
_CLOUDS = (clouds.FailingServices, clouds.SilentServices, clouds.HangingServices, clouds.ExpiringTokens)

#: Names of all faults.
NAMES = tuple(dict.fromkeys(each.name for each in (*_PROCESSES, *_DATABASES, *_BUSES, *_CLOUDS)))

#: Probability of each fault: with three or four at once, most worlds still do much else.
_SHARE = 0.2


def names_for(seed: int) -> tuple[str, ...]:
    """Return the names of the faults that a seed switches on."""
    return chosen(seed, "faults", NAMES, _SHARE)


def switch_on(setting: Setting, names: tuple[str, ...]) -> None:
    """Have things go wrong in a world.

    :param names: from ``NAMES``
    """

    def used(kinds: Any) -> list[Any]:
        return [kind(setting) for kind in kinds if kind.name in names]

    used(_PROCESSES)
    setting.world.database.faults = databases.ManyDatabaseFaults(used(_DATABASES))
    setting.world.broker.faults = buses.ManyBrokerFaults(used(_BUSES))
    if setting.site is not None:
        setting.site.faults = clouds.ManyRequestFaults(used(_CLOUDS))
