"""The protocol of power drivers, and the values that they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lease_scheduler.model.errors import LeaseSchedulerError


class PowerError(LeaseSchedulerError):
    """The power of a host cannot be read or changed at present."""


@dataclass(frozen=True)
class PowerDriverOptions:
    """Arguments for the construction of a power driver.

    :ivar values: the options of the group ``power`` by name
    :ivar credentials: options of the cloud's credentials for ``keystoneauth1``, or None if there are none
    """

    values: Mapping[str, Any]
    session: Any = None


class PowerDriver(Protocol):
    """Switches hosts on and off. Calls come from several threads, for one host one after the other.

    A driver gives up after ``driver_timeout`` seconds. Every call may be repeated, and returns when the hardware has
    taken the command, which need not be carried out yet.
    """

    def is_on(self, host: str) -> bool | None:
        """Return whether a host is switched on, or None if that is not known.

        :raises PowerError: the hardware does not answer, or answers with an error
        """
        ...

    def turn_on(self, host: str) -> None:
        """Switch a host on.

        :raises PowerError: as in ``is_on``
        """
        ...

    def turn_off(self, host: str) -> None:
        """Have the operating system of a host shut down, so that it switches off.

        :raises PowerError: as in ``is_on``
        """
        ...
