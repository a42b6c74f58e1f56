"""Request types of a site that shares its hosts with peers, as terms of leases (contention F3-F7).

Amini Salehi (2012, section 3.2.1) distinguishes requests by what preemption may do to them. A type is not a kind of
lease: it is a kind together with whether, and in which modes, the lease may be preempted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest


class RequestType(Enum):
    """What preemption may do to the lease of a request; the value is the word in tables."""

    CANCELLABLE = "cancellable"
    SUSPENDABLE = "suspendable"
    MIGRATABLE = "migratable"
    NON_PREEMPTABLE = "non-preemptable"
    LOCAL = "local"

    __hash__ = object.__hash__


@dataclass(frozen=True)
class TypeTerms:
    """Terms that requests of a type have.

    :ivar modes: preemption modes of the type, the default first
    """

    kind: LeaseKind
    preemptible: bool
    modes: tuple[PreemptionMode, ...]


#: The terms of each type. No two rows match the same request.
TERMS: dict[RequestType, TypeTerms] = {
    RequestType.CANCELLABLE: TypeTerms(LeaseKind.BEST_EFFORT, True, (PreemptionMode.DELETE,)),
    RequestType.SUSPENDABLE: TypeTerms(LeaseKind.BEST_EFFORT, True, (PreemptionMode.SUSPEND, PreemptionMode.SHELVE)),
    RequestType.MIGRATABLE: TypeTerms(LeaseKind.DEADLINE, True, (PreemptionMode.MIGRATE,)),
    RequestType.NON_PREEMPTABLE: TypeTerms(LeaseKind.DEADLINE, False, (PreemptionMode.NONE,)),
    RequestType.LOCAL: TypeTerms(LeaseKind.RESERVATION, False, (PreemptionMode.NONE,)),
}


def request_type(request: LeaseRequest) -> RequestType | None:
    """Return the type of a request, or None if its terms match no type, such as those of an immediate lease.

    A preemptible request with the preemption mode ``NONE`` counts as not preemptible. The mode of a request that is not
    preemptible does not matter.
    """
    preemptible = request.may_be_preempted
    for found, terms in TERMS.items():
        fits = request.kind is terms.kind and preemptible is terms.preemptible
        if fits and (not preemptible or request.preemption_mode in terms.modes):
            return found
    return None
