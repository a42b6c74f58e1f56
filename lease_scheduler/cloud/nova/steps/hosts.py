"""Steps that give a lease its hosts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from lease_scheduler.cloud.driver import HostsOccupiedError, StepFailedError
from lease_scheduler.cloud.nova.api.nodes import Nodes
from lease_scheduler.cloud.nova.lease import lease_parts
from lease_scheduler.cloud.nova.lease.aggregate_metadata import NEVER, SAVED, LeaseAggregates
from lease_scheduler.cloud.nova.lease.ends import Ends
from lease_scheduler.cloud.nova.lease.reservations import Reservations
from lease_scheduler.cloud.nova.steps.holding import Holding
from lease_scheduler.cloud.nova.steps.members import Members
from lease_scheduler.cloud.nova.vacating.preemption import Place, ServerPreemption
from lease_scheduler.cloud.nova.vacating.vacancy import Vacancy
from lease_scheduler.cloud.orders import Order
from lease_scheduler.engine.interfaces import OperationKind, WaitingClock
from lease_scheduler.model.kinds import PreemptionMode


class SetAggregates:
    """Step that makes the hosts of the aggregates those of the plan, and releases what is held on others."""

    def __init__(
        self,
        lease_aggregates: LeaseAggregates,
        reservations: Reservations,
        ends: Ends,
        holding: Holding,
        members: Members,
    ) -> None:
        self._lease_aggregates = lease_aggregates
        self._reservations = reservations
        self._ends = ends
        self._holding = holding
        self._members = members

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        planned = self._members.planned_by_use(order)
        if known is not None:
            in_use = self._holding.leave(known, known.shared - planned[False])
            planned[False] |= in_use
        self._lease_aggregates.write(order, planned, known)
        self._reservations.describe(order, exactly=True, is_new=known is None)
        if order.operation.kind is OperationKind.ADJUST:
            self._ends.write(order.lease_id, _reservations(order))
        else:
            self._ends.open(order.lease_id, _reservations(order))
        return True


class JoinAggregates:
    """Step that adds the hosts of the plan to the aggregates."""

    def __init__(
        self,
        lease_aggregates: LeaseAggregates,
        reservations: Reservations,
        ends: Ends,
        members: Members,
        vacancy: Vacancy,
    ) -> None:
        self._lease_aggregates = lease_aggregates
        self._reservations = reservations
        self._ends = ends
        self._members = members
        self._vacancy = vacancy

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        known = self._lease_aggregates.known(order.lease_id)
        planned = self._members.planned_by_use(order)
        has_more = bool(planned[True] - (frozenset() if known is None else known.exclusive))
        if known is not None:
            planned = {True: planned[True] | known.exclusive, False: planned[False] | known.shared}
        self._lease_aggregates.write(order, planned, known)
        if has_more:
            self._vacancy.note(order.lease_id)
        self._reservations.describe(order, exactly=False, is_new=known is None)
        self._ends.write(order.lease_id, _reservations(order))
        return True


def _reservations(order: Order) -> list[str]:
    return [each.reservation_id for each in order.document.reservations]


def restore_saved(lease_aggregates: LeaseAggregates, order: Order) -> None:
    """Restore the aggregate of a suspended lease, without which it could not be resumed."""
    known = lease_aggregates.known(order.lease_id)
    shared = frozenset[str]() if known is None else known.shared
    lease_aggregates.write(order, {True: frozenset(), False: shared}, known)
    lease_aggregates.leave(order.lease_id, SAVED, shared)
    lease_aggregates.set_begin(order.lease_id, NEVER)


class Vacate:
    """Step that clears other servers off the hosts that the lease has for itself."""

    def __init__(
        self,
        clock: WaitingClock,
        nodes: Nodes,
        reservations: Reservations,
        preemption: ServerPreemption,
        vacancy: Vacancy,
        members: Members,
    ) -> None:
        self._clock = clock
        self._nodes = nodes
        self._reservations = reservations
        self._preemption = preemption
        self._vacancy = vacancy
        self._members = members

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        hosts = lease_parts.hosts(lease_parts.vms(order), exclusive=True)
        if not hosts:
            return True
        late = self._clock.now() - order.operation.due
        # A lease that runs has servers there.
        own = order.document.project_id if order.operation.kind is OperationKind.ADJUST else None
        if own is None:
            self._vacancy.note(order.lease_id)
        try:
            if not self._reservations.clear(order, self._nodes.services(hosts), lambda each: self._shelve(each, late)):
                return False
        except StepFailedError as error:
            if error.host is None:
                raise
            raise HostsOccupiedError({error.host: [str(error)]}) from error
        leaving, apart = self._members.leaving(order.lease_id), self._members.apart_from(order.lease_id)
        vacated, occupied = [], {}
        # Each call handles all hosts, because one after the other would take much longer.
        for host in sorted(hosts):
            place = Place(host, self._nodes.node(host).service)
            try:
                vacated.append(self._preemption.vacate(place, order.lease_id, own, leaving, apart, late))
            except HostsOccupiedError as error:
                occupied.update(error.servers)
        if occupied:
            raise HostsOccupiedError(occupied)
        if not all(vacated):
            return False
        if not self._vacancy.is_noted(order.lease_id):
            # A lease that runs has got no host since the last time.
            return True
        providers = {host: self._nodes.node(host).provider_id for host in sorted(hosts)}
        gives_up = self._preemption.is_patience_over(late)
        return self._vacancy.is_certain(order.lease_id, providers, gives_up=gives_up, own=own)

    def _shelve(self, servers: Collection[Any], late: int) -> bool:
        return self._preemption.put_away(servers, PreemptionMode.SHELVE, late)


class Enter:
    """Step that puts the hosts into the aggregates that Blazar's clients look for."""

    def __init__(self, reservations: Reservations) -> None:
        self._reservations = reservations

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        return self._reservations.enter(order)


class Hold:
    """Step that holds capacity and slots in Placement."""

    def __init__(self, clock: WaitingClock, holding: Holding) -> None:
        self._clock = clock
        self._holding = holding

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        return self._holding.hold(order, self._clock.now() - order.operation.begun)


class Lend:
    """Step that lets the servers of the lease claim its devices, once nova-scheduler keeps other servers off."""

    def __init__(self, vacancy: Vacancy, holding: Holding) -> None:
        self._vacancy = vacancy
        self._holding = holding

    def perform(self, order: Order, /) -> bool:
        """See ``Step.perform``."""
        if not lease_parts.nested_classes(lease_parts.vms(order)):
            return True
        if not self._vacancy.is_heard(order.lease_id):
            return False
        self._holding.lend(order)
        return True
