"""Which flow a lease belongs to, and what its weight is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.base import PolicyOptions

#: Name of the flow of leases without a project, as in simulations, and of local leases if flows are peers.
NO_NAME = "-"

#: Longest name of a flow: with the prefix of its entry it has to fit into a column of 255 characters.
_LONGEST = 240

_BY = ["project", "origin", "both", "behalf"]
#: Values with which a project of a peer has a flow.
_BY_PEER = ("both", "behalf")


@dataclass(frozen=True)
class FlowNames:
    """Names of flows.

    A lease that a peer requests for a project of the site is in the flow of this project, as its other leases are,
    unless each peer is one flow.

    :ivar by: ``project``; ``origin``: each peer is one flow, and all local leases are one; ``both``: the projects of
        each peer are flows of their own; ``behalf``: the same for the projects for which each peer asks
    :ivar default_weight: weight of flows for which none is set
    """

    by: str = "project"
    default_weight: float = 1.0

    @classmethod
    def of(cls, options: PolicyOptions) -> FlowNames:
        """Return the names that the operator chose.

        :raises InvalidValueError: an option is wrong
        """
        return cls(options.choice("winks_flows", _BY, "project"), options.number("winks_default_weight", 1.0))

    def flow_of(self, request: LeaseRequest) -> str:
        """Return the name of the flow of a lease; the end of one that is too long is replaced by a checksum."""
        project, peer = request.user or NO_NAME, request.origin or NO_NAME
        if self.by == "project":
            return _stored(project)
        if self.by == "origin":
            return _stored(peer)
        if request.on_behalf_of is not None and "project_id" in request.on_behalf_of:
            return _stored(f"{project}@{NO_NAME}")
        if self.by == "behalf" and request.on_behalf_of is not None:
            project = request.on_behalf_of["project"]
        return _stored(f"{project}@{peer}")

    def weight_of(self, name: str, weights: Mapping[str, float]) -> float:
        """Return the weight of a flow.

        :param weights: weights by name of the flow. A flow of a project of a peer without a weight has that of the
            project, unless it is the peer that names the project
        """
        found = weights.get(name)
        project, _, peer = name.rpartition("@")
        if found is None and (self.by == "both" or (self.by == "behalf" and peer == NO_NAME)):
            found = weights.get(project)
        return self.default_weight if found is None else found

    def flows_of(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return the weights of flows, without those of projects if each peer has its own flows of projects."""
        return {name: weight for name, weight in weights.items() if self.by not in _BY_PEER or "@" in name}


def _stored(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    checksum = sha256(name.encode()).hexdigest()[:16]
    return f"{name[: _LONGEST - len(checksum) - 1]}~{checksum}"


def own_priority(request: LeaseRequest) -> int:
    """Return the priority of a lease among those of its own project: the number in its extra ``priority``, or 0."""
    text = request.extras.get("priority", "0")
    try:
        value = float(text)
    except ValueError:
        return 0
    return max(-1_000_000, min(1_000_000, int(value))) if isfinite(value) else 0
