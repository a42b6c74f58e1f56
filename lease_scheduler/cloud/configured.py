"""The interface of entry points of namespace ``lease_scheduler.cloud``: a cloud as its options describe it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from keystoneauth1.adapter import Adapter

from lease_scheduler.cloud.driver import Driver
from lease_scheduler.engine.interfaces import WaitingClock


class ConfiguredCloud(ABC):
    """A cloud as its options describe it. The entry points of namespace ``lease_scheduler.cloud`` are subclasses.

    Only the subclass reads options, and it reads them at each call, because some may change while a program runs. The
    driver gets plain values. Some programs make an object only for its properties, so the constructor connects to
    nothing.

    :param conf: oslo.config's object
    """

    def __init__(self, conf: Any) -> None:
        self.conf = conf

    @abstractmethod
    def driver(self, clock: WaitingClock) -> Driver:
        """Return a driver of the cloud."""

    @property
    def preparation_time(self) -> int:
        """Seconds before the start of a lease from which on its servers may be booted."""
        return 0

    @property
    def simulated(self) -> str | None:
        """Sentence for operators that says what is simulated, or None if leases run on real hosts."""
        return None

    def trustee(self) -> Adapter | None:
        """Return Keystone's adapter for the user that projects trust to boot servers, or None without trusts."""
        return None

    def adapter(self, service_type: str) -> Adapter | None:
        """Return a client of a service in the cloud's catalogue, for our own user; None if there is no catalogue.

        :param service_type: such as ``metric``
        """
        return None

    def upgrade_warning(self) -> str | None:
        """Return what the operator should change in the cloud for this version, or None."""
        return None
