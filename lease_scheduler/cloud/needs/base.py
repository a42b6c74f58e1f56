"""The protocol of sources of needs, and the values that they use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class AgentTimes(Protocol):
    """The part of a driver that sources need (see ``cloud.capabilities.Shares``)."""

    def cpu_times(self) -> Mapping[str, float]:
        """Return the CPU seconds of servers, according to agents on their hosts."""
        ...


@dataclass(frozen=True)
class NeedsOptions:
    """Arguments for the construction of a source.

    :ivar values: the options of the group ``needs`` by name
    :ivar shares: has the CPU times that agents on hosts report
    :ivar adapter: returns keystoneauth's adapter for a service type of the cloud's catalogue, or None if it has none
    """

    values: Mapping[str, Any]
    shares: AgentTimes
    adapter: Callable[[str], Any] = lambda service_type: None


class NeedsSource(Protocol):
    """Source that tells how many CPUs servers use.

    :ivar is_prompt: whether its values cover exactly the time since the last call, so that trials can be measured
    """

    is_prompt: bool

    def cpus(self, servers: Collection[str]) -> Mapping[str, float]:
        """Return server -> number of CPUs that it has used lately. Servers that are left out are unknown.

        Calls may take some seconds. They come from one thread, at intervals.

        :raises Exception: nothing is known about any server
        """
        ...
