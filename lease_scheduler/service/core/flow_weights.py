"""The weights of flows, which come from administrators, the configuration, and hosts that projects donated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from lease_scheduler.records.pool import HostRecord

#: Family and name under which the weights that administrators set are stored, in the stored state of policies.
STORED = ("queueing", "weights")


def stored_weights(policy_state: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> dict[str, Mapping[str, float]]:
    """Return the weights that administrators have set, by name of the flow, from the stored state of policies."""
    return {
        name: entry
        for (_, *key), entries in policy_state.items()
        if tuple(key) == STORED
        for name, entry in entries.items()
    }


class FlowWeights:
    """Weights by name of the flow. A weight that an administrator has set takes precedence over a configured one.

    A configured weight takes precedence over the number of hosts that the project donated (shirako F135).

    :param stored: weights that administrators have set, by name
    :ivar present: the present weights; replaced when one changes
    """

    def __init__(self, stored: Mapping[str, Mapping[str, float]]) -> None:
        self._set = {name: float(entry["weight"]) for name, entry in stored.items()}
        self._configured: Mapping[str, float] = {}
        self._donated: Mapping[str, float] = {}
        self.present: Mapping[str, float] = {}

    def configure(self, configured: Mapping[str, float], hosts: Iterable[HostRecord], donor_property: str) -> None:
        """Replace the configured weights and the hosts.

        :param donor_property: property of hosts that names the project that donated them; empty for none
        """
        self._configured = configured
        donors = Counter(host.properties.get(donor_property, "") for host in hosts) if donor_property else Counter()
        self._donated = {name: float(count) for name, count in donors.items() if name}
        self._refresh()

    def set(self, name: str, weight: float | None) -> None:
        """Set a weight as an administrator, or remove it if it is None."""
        if weight is None:
            self._set.pop(name, None)
        else:
            self._set[name] = weight
        self._refresh()

    def source(self, name: str) -> str:
        """Return where the weight of a flow comes from: ``set``, ``configured``, ``donated`` or ``default``."""
        if name in self._set:
            return "set"
        if name in self._configured:
            return "configured"
        return "donated" if name in self._donated else "default"

    def _refresh(self) -> None:
        found = {**self._donated, **self._configured, **self._set}
        if found != self.present:
            self.present = found
