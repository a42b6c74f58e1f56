"""What the policy keeps of a site that it shares: flows, and what was charged for leases that are not over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.policy.base import Learnt
from lease_scheduler.policy.queueing.winks.shares import Flow, Shares
from lease_scheduler.policy.queueing.winks.window import WindowUse

_TIME, _LOOK, _FLOW, _LEASE = "time", "look", "flow:", "lease:"


@dataclass(frozen=True, slots=True)
class Charge:
    """What was charged for a lease.

    :ivar flow: name of its flow
    :ivar cost: cost that was charged
    :ivar duration: seconds that it is for
    :ivar tag: start tag that the lease had
    :ivar window: number of the window that it was charged to
    :ivar is_due: whether the clock of the flow is still to be charged, when the lease starts
    :ivar owes: whether later windows pay what it costs beyond the share of its own
    """

    flow: str
    cost: int
    duration: int
    tag: int
    window: int
    is_due: bool = False
    owes: bool = False

    def part(self, seconds: int) -> int:
        """Return the part of the cost for this many seconds of it."""
        return self.cost * seconds // self.duration if self.duration else 0

    def as_document(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "flow": self.flow,
            "cost": str(self.cost),
            "duration": self.duration,
            "tag": str(self.tag),
            "window": self.window,
            "is_due": self.is_due,
            "owes": self.owes,
        }

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Charge:
        """Return it from plain values."""
        return cls(
            document["flow"],
            int(document["cost"]),
            document["duration"],
            int(document["tag"]),
            document["window"],
            document["is_due"],
            # Entries of earlier versions lack it.
            document.get("owes", False),
        )


class Ledger:
    """The charges of live leases, and which entries of the state have changed.

    Tags and costs are stored as text: they may have more digits than the numbers of a JSON column.

    :ivar charges: charges by lease id
    :ivar serving: number of charges of each flow that has any
    :ivar now: the instant of what happens at present
    :ivar look_again: when the queue is to be processed again even if nothing else happens; None if never
    """

    def __init__(self) -> None:
        self.charges: dict[str, Charge] = {}
        self.serving: dict[str, int] = {}
        self._changed_leases: dict[str, None] = {}
        self._changed_flows: dict[str, None] = {}
        self._stored_time = 0
        self.now = 0
        self.look_again: int | None = None
        self._stored_look: int | None = None

    def put(self, lease_id: str, charge: Charge) -> None:
        """Add or replace the charge of a lease."""
        if lease_id not in self.charges:
            self.serving[charge.flow] = self.serving.get(charge.flow, 0) + 1
        self.charges[lease_id] = charge
        self._changed_leases[lease_id] = None

    def take(self, lease_id: str) -> Charge | None:
        """Remove and return the charge of a lease, or None."""
        found = self.charges.pop(lease_id, None)
        if found is not None:
            self._changed_leases[lease_id] = None
            self.serving[found.flow] -= 1
            if not self.serving[found.flow]:
                del self.serving[found.flow]
        return found

    def note(self, flow: Flow) -> None:
        """Note that a flow has changed."""
        flow.changed = self.now
        self._changed_flows[flow.name] = None

    def forget(self, name: str) -> None:
        """Note that a flow is gone."""
        self._changed_flows[name] = None

    def take_changes(self, shares: Shares) -> dict[str, Learnt | None]:
        """Return the entries that have changed since the last call; None for those that are gone."""
        found: dict[str, Learnt | None] = {}
        for lease_id in self._changed_leases:
            charge = self.charges.get(lease_id)
            found[_LEASE + lease_id] = None if charge is None else charge.as_document()
        for name in self._changed_flows:
            found[_FLOW + name] = _flow_document(shares.flows[name]) if name in shares.flows else None
        if shares.virtual_time != self._stored_time:
            self._stored_time = shares.virtual_time
            found[_TIME] = {"virtual_time": str(shares.virtual_time)}
        if self.look_again != self._stored_look:
            self._stored_look = self.look_again
            found[_LOOK] = None if self.look_again is None else {"again": self.look_again}
        self._changed_leases, self._changed_flows = {}, {}
        return found

    def restore(self, learnt: Mapping[str, Learnt], shares: Shares, weight: Callable[[str], float]) -> dict[str, Any]:
        """Go on with exactly these entries.

        :param weight: weight of a flow by its name
        :return: the gaps of each flow, which are for requests that are queued
        """
        self.__init__()  # type: ignore[misc]
        shares.flows.clear()
        shares.virtual_time = int(learnt[_TIME]["virtual_time"]) if _TIME in learnt else 0
        self._stored_time = shares.virtual_time
        self.look_again = self._stored_look = learnt[_LOOK]["again"] if _LOOK in learnt else None
        gaps: dict[str, dict[str, int]] = {}
        for subject, values in learnt.items():
            if subject.startswith(_LEASE):
                charge = self.charges[subject.removeprefix(_LEASE)] = Charge.of_document(values)
                self.serving[charge.flow] = self.serving.get(charge.flow, 0) + 1
            elif subject.startswith(_FLOW):
                name = subject.removeprefix(_FLOW)
                flow = shares.flow(name, weight(name))
                flow.index = values["index"]
                # Entries of earlier versions lack it.
                flow.changed = values.get("changed", 0)
                flow.queue.clock = int(values["clock"])
                flow.windows = WindowUse.of_document(values["windows"])
                gaps[name] = {key: int(gap) for key, gap in values["gaps"].items()}
        return gaps


def _flow_document(flow: Flow) -> dict[str, Any]:
    return {
        "index": flow.index,
        "clock": str(flow.queue.clock),
        "gaps": {key: str(gap) for key, gap in flow.queue.gaps().items()},
        "windows": flow.windows.as_document(),
        "changed": flow.changed,
    }
