"""The driver ``noop``, which switches nothing."""

from __future__ import annotations

from lease_scheduler.cloud.power.base import PowerDriverOptions


class NoopPower:
    """Driver that only remembers commands, to rehearse: hosts are closed as if they slept."""

    def __init__(self, options: PowerDriverOptions) -> None:
        del options
        self._on: dict[str, bool] = {}

    def is_on(self, host: str) -> bool | None:
        """See ``PowerDriver.is_on``. Commands to an earlier process are not known."""
        return self._on.get(host)

    def turn_on(self, host: str) -> None:
        """See ``PowerDriver.turn_on``."""
        self._on[host] = True

    def turn_off(self, host: str) -> None:
        """See ``PowerDriver.turn_off``."""
        self._on[host] = False
