"""Power of hosts: whether they are awake, and the watts that they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import isfinite

from lease_scheduler.model.errors import InvalidValueError

#: Properties of a host with the watts that it takes awake and asleep.
WATTS = ("watts_awake", "watts_asleep")


class PowerState(Enum):
    """Power state of a host.

    ``FALLING_ASLEEP`` and ``WAKING`` mean that it was requested, but is not confirmed. A host that is ``FAILED`` should
    be awake and is not.
    """

    AWAKE = "awake"
    FALLING_ASLEEP = "falling-asleep"
    ASLEEP = "asleep"
    WAKING = "waking"
    FAILED = "failed"

    @property
    def is_off(self) -> bool:
        """Whether the host is to be switched off."""
        return self in (PowerState.FALLING_ASLEEP, PowerState.ASLEEP)


@dataclass(frozen=True, slots=True)
class HostPower:
    """The power of a host.

    :ivar since: instant at which it entered its state
    :ivar slept: seconds that it slept before that instant
    """

    state: PowerState
    since: int
    slept: int = 0

    def to(self, state: PowerState, now: int) -> HostPower:
        """Return the power of the host after it enters a state now."""
        return HostPower(state, now, self.seconds_asleep(now))

    def seconds_asleep(self, now: int) -> int:
        """Return the total seconds that it has slept until now."""
        return self.slept + (max(0, now - self.since) if self.state is PowerState.ASLEEP else 0)


@dataclass(frozen=True, slots=True)
class Watts:
    """Watts that a host takes awake and asleep."""

    awake: float = 0.0
    asleep: float = 0.0

    def of(self, properties: Mapping[str, str]) -> Watts:
        """Return the watts of a host, with those in its properties in place of these.

        Properties that are not numbers are ignored: they may have been set before they had a meaning here.
        """
        awake, asleep = WATTS
        return Watts(_figure(properties, awake, self.awake), _figure(properties, asleep, self.asleep))

    def saved_wh(self, seconds: int) -> float:
        """Return the watt-hours that a host saves by sleeping for some seconds."""
        return (self.awake - self.asleep) * seconds / 3600


def _figure(properties: Mapping[str, str], name: str, default: float) -> float:
    text = properties.get(name)
    if text is None:
        return default
    try:
        check_watts(name, text)
    except InvalidValueError:
        return default
    return float(text)


def check_watts(name: str, text: str) -> None:
    """Check a property of a host that gives its watts.

    :raises InvalidValueError: the text is not a number of at least 0
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not isfinite(value) or value < 0:
        raise InvalidValueError(name, f"must be a number of watts of at least 0, not {text!r}")
