"""Replacements for leases whose terms the provider cannot keep (haizea F8, F95)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

from lease_scheduler.engine.pools.engines import PoolEngines
from lease_scheduler.engine.prices import at_its_rate
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.plan.explaining.advice import Alternative, Flexibility
from lease_scheduler.records.documents import LeaseDocument, ReservationRecord
from lease_scheduler.service.core.before_end import BeforeEnd
from lease_scheduler.service.core.terms import numbered, with_count
from lease_scheduler.service.core.unit_of_work import UnitOfWork
from lease_scheduler.service.telling.notifications import document_message

#: Namespace of the ids of replacements, which are computed from the ids of the leases that they replace.
_REPLACEMENTS = UUID("90b7f1c4-51c1-4f6e-8a0a-7b1f7d6f2a35")


class Replacements:
    """Offers of replacements for leases that will fail or start late: leases that start later or have fewer nodes.

    The project need not answer: an offer that is not accepted expires, and has no effect on the lease itself. Its price
    for a node-hour is that of the lease. It does not inherit what the lease has in the cloud, such as the trust of a
    managed lease, but gets its own when it is accepted.

    :param work: collects the changes
    :param engine: plans the offers
    :param ends: chooses the instant before the end of an offered lease at which its project is told
    :param lifetime: seconds for which an offer is held; 0 to make no offers
    """

    def __init__(self, work: UnitOfWork, engine: PoolEngines, ends: BeforeEnd, lifetime: int) -> None:
        self._work = work
        self._engine = engine
        self._ends = ends
        self._lifetime = lifetime

    def offer(self) -> None:
        """Make offers in place of the leases whose terms were lost in the last step."""
        lost, self._work.lost_terms = self._work.lost_terms, {}
        if not self._lifetime:
            return
        for lease, document in lost.values():
            if lease.kind.has_start and not document.maintenance:
                self._replace(lease, document)

    def _replace(self, lease: Lease, document: LeaseDocument) -> None:
        work, new_id = self._work, _id(lease.lease_id, lease.lease_id)
        if new_id in work.leases:
            return
        asked = replace(lease.request, lease_id=new_id, submitted=work.now)
        grant = lease.grant
        fewer: int | None = None
        try:
            found = self._engine.quote(asked, grant=grant)
        except InvalidValueError:
            # A replacement was offered before.
            return
        if found.refusal is not None:
            near = self._engine.alternatives(asked, found.refusal, Flexibility())
            if not near:
                return
            # An offer that preempts other leases at once cannot be held.
            chosen = next((each for each in near if not each.preempted), near[0])
            asked = _changed(asked, chosen)
            grant = at_its_rate(lease, asked)
            fewer = chosen.nodes if chosen.change == "nodes" else None
        try:
            # The replacement needs no approval of its own, because the provider offers it.
            self._engine.submit(
                asked,
                offered_for=self._lifetime,
                negotiation=lease.lease_id,
                approval=lease.approval,
                grant=grant,
            )
        except InvalidValueError:
            # The offer would have to start at once.
            return
        reservations = tuple(
            replace(
                each,
                reservation_id=own,
                resource_id=own,
                terms=_terms(each, fewer),
                created_at=work.now,
                updated_at=None,
            )
            for each in document.reservations
            for own in (_id(lease.lease_id, each.reservation_id),)
        )
        made = replace(
            document,
            lease_id=new_id,
            trust_id=None,
            created_at=work.now,
            updated_at=None,
            deleted_at=None,
            before_end=self._ends.for_other_terms(document.before_end, lease.request, asked),
            before_end_done=False,
            reminded_start=None,
            degraded=False,
            reservations=reservations,
        )
        work.documents[new_id] = numbered(made, asked)
        self._engine.step()
        offered = work.leases.get(new_id)
        if offered is not None and offered.is_offered:
            work.notify(document_message("lease.replacement", offered, work.documents[new_id], work.now))


def _id(lease_id: str, of: str) -> str:
    return str(uuid5(_REPLACEMENTS, f"{lease_id} {of}"))


def _terms(reservation: ReservationRecord, fewer: int | None) -> Mapping[str, Any]:
    """Return the terms of a reservation for the replacement, without the ids of what the lost lease has in the cloud.

    :param fewer: number of nodes, or None to keep it
    """
    kept = {key: value for key, value in reservation.terms.items() if key not in ("server_group_id", "aggregate_id")}
    return kept if fewer is None else {**kept, **with_count(kept, fewer)}


def _changed(request: LeaseRequest, near: Alternative) -> LeaseRequest:
    nodes = request.nodes
    if near.change == "nodes":
        nodes = (nodes[0].with_count(near.nodes),)
    deadline = request.deadline
    if deadline is not None:
        return replace(request, nodes=nodes, duration=near.duration, deadline=max(deadline, near.start + near.duration))
    return replace(request, nodes=nodes, start=near.start, duration=near.duration)
