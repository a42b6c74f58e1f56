"""The interface of hypervisors, as the agent uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from lease_scheduler.model.errors import LeaseSchedulerError


class HypervisorAwayError(LeaseSchedulerError):
    """The hypervisor does not answer; the agent tries again."""


class SharesRefusedError(LeaseSchedulerError):
    """The hypervisor does not change the weight of one server."""


@dataclass(frozen=True)
class RunningServer:
    """A running server.

    :ivar shares: its present CPU weight, in the units of the hypervisor
    :ivar usual_shares: the weight that Nova gave it
    :ivar cpu_seconds: CPU time that it has used since it was started
    """

    vcpus: int
    shares: int
    usual_shares: int
    cpu_seconds: float


@dataclass(frozen=True)
class Scale:
    """The units of a hypervisor.

    :ivar cpu: weight of one CPU
    """

    lowest: int
    cpu: int
    highest: int


class Hypervisor(Protocol):
    """A hypervisor, whose servers keep their weights when the agent ends."""

    @property
    def scale(self) -> Scale:
        """Its units."""
        ...

    def cpus(self) -> int:
        """Return the number of CPUs of the host.

        :raises HypervisorAwayError: it does not answer
        """
        ...

    def servers(self) -> Mapping[str, RunningServer]:
        """Return the running servers by their id in Nova.

        :raises HypervisorAwayError: it does not answer
        """
        ...

    def set_shares(self, server_id: str, shares: int) -> None:
        """Change the weight of a server until it is started again. Do nothing if the server is gone.

        :raises SharesRefusedError: it does not change the weight
        :raises HypervisorAwayError: it does not answer
        """
        ...
