"""A partition in which each of two hosts reaches only one of database and broker."""

from __future__ import annotations

from lease_scheduler.rehearsal.faults.weather import Weather

#: The hosts of engines.
_HOSTS = ("control-1", "control-2")


def half(weather: Weather, *, of_database: bool = False) -> str:
    """Return the host that does not reach the broker in the present spell, or the one that does not the database.

    The host follows from the spell, so that both halves of the fault agree.
    """
    return _HOSTS[(int(weather.spell) + of_database) % 2]
