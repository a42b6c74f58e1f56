"""Members and requests for tests of routing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lease_scheduler.federation.members import Arrivals, MemberDescription, PublishedLoad
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.request_types import TERMS, RequestType
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources

NODE = Resources({VCPU: 2, MEMORY_MB: 1_024})


def member(
    vcpus: int, speed: float = 1.0, *, local: Arrivals | None = None, external: Arrivals | None = None
) -> MemberDescription:
    """Return a member with plenty of memory, which publishes a load if one is given."""
    load = None
    if local is not None or external is not None:
        sorts: dict[RequestType | None, Arrivals] = {} if external is None else {RequestType.SUSPENDABLE: external}
        load = PublishedLoad(local or Arrivals(), sorts)
    return MemberDescription(Resources({VCPU: vcpus, MEMORY_MB: 1_000_000}), load=load, speed=speed)


def arrivals(rate: float, mean: float, square: float) -> Arrivals:
    """Return requests that need only VCPU."""
    return Arrivals(rate, {VCPU: mean}, {VCPU: square})


def of_type(found: RequestType = RequestType.SUSPENDABLE, nodes: int = 1) -> LeaseRequest:
    """Return a request of a type."""
    terms = TERMS[found]
    times: dict[str, Any] = {} if terms.kind is LeaseKind.BEST_EFFORT else {"start": 100}
    if terms.kind is LeaseKind.DEADLINE:
        times["deadline"] = 1_000
    mode = terms.modes[0] if terms.preemptible else PreemptionMode.SUSPEND
    return LeaseRequest(
        "1", terms.kind, (NodeSet(nodes, NODE),), 0, 100, preemptible=terms.preemptible, preemption_mode=mode, **times
    )


def question(members: Mapping[str, MemberDescription], *among: str, **more: Any) -> Question:
    """Return a question about some of the members, or about all."""
    return Question(more.pop("terms", None) or of_type(), members, among or tuple(members), **more)
