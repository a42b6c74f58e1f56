"""The protocol of power drivers, and the values that they use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError


class PowerError(LeaseSchedulerError):
    """The power of a host cannot be read or changed at present."""


def _no_session() -> Any:
    raise InvalidValueError("power.auth_type", "there are no credentials")


@dataclass(frozen=True)
class PowerDriverOptions:
    """Arguments for the construction of a power driver.

    :ivar values: the options of the group ``power`` by name
    :ivar session: returns a session of ``keystoneauth1`` with the credentials of the group, which connects to nothing
        yet. It raises ``InvalidValueError`` if there are none, or if they are incomplete
    """

    values: Mapping[str, Any]
    session: Callable[[], Any] = _no_session


class PowerDriver(Protocol):
    """Driver that switches hosts on and off. Calls come from several threads, but for one host one at a time.

    A driver gives up after ``driver_timeout`` seconds. Every call may be repeated, and returns when the hardware has
    taken the command, even if it is not carried out yet.
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
