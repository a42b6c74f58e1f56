"""The repairs that a comparison of leases and cloud has found necessary, and reports of what cannot be repaired."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from lease_scheduler.cloud.differences import Difference, Kind, Problem
from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cloud.orders import Expectation
from lease_scheduler.engine.interfaces import CloudEvent, EventKind, Operation, OperationKind
from lease_scheduler.engine.pools.engines import PoolEngines
from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.states import SUSPENDED_STATES
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.core.unit_of_work import UnitOfWork
from lease_scheduler.service.telling.notifications import document_message
from lease_scheduler.service.upkeep.reconcile import Action, to_adjust

LOG = logging.getLogger(__name__)

#: Event type: the trust of a lease is gone.
TRUST_MISSING = "lease.event.trust_missing"
_NO_TRUST = (
    "its trust is gone: running servers go on, but no server of it can be booted, unshelved or saved; "
    "ask for another lease in its place"
)

_WHAT_IS_GONE = {
    Action.END: (EventKind.ENDED, "its servers are gone"),
    Action.LOSE: (EventKind.LOST, "its saved state is gone"),
}


#: Reason that tenants see. Only operators may know whose server it is.
_INTRUDED = "a server that does not belong to it is on one of its hosts"


class Repairs:
    """Repairs of the differences between leases and cloud, with a memory of what was reported.

    :param engine: the engine of the leases
    :param is_busy: returns whether a lease has an order under way
    """

    def __init__(self, driver: Driver, engine: PoolEngines, work: UnitOfWork, is_busy: Callable[[str], bool]) -> None:
        self._driver = driver
        self._engine = engine
        self._work = work
        self._is_busy = is_busy
        # Leases whose capacity others have taken. An earlier engine has reported those that are already degraded.
        self._short = {lease_id for lease_id, document in work.documents.items() if document.degraded}
        # Leases whose trust is gone and has been reported.
        self._untrusted: frozenset[str] = frozenset()
        # Names of reported servers that are on hosts for leases, but belong to no lease.
        self._intruding: frozenset[str] = frozenset()

    # -- within a transaction --------------------------------------------------------------------------------

    def plan(
        self, actions: Mapping[str, Action], differences: Iterable[Difference], changed: Collection[str]
    ) -> Counter[str]:
        """Begin the operations that repair leases, and return the number of repairs by kind.

        :param changed: ids of leases that changed during the comparison, which therefore says nothing of them
        """
        differences = list(differences)
        counts: Counter[str] = Counter()
        for lease_id, action in actions.items():
            if action is Action.DESTROY:
                self._work.intents.discard(lease_id, self._work.now)
            elif action is Action.ADJUST:
                self._adjust(lease_id)
            else:
                kind, reason = _WHAT_IS_GONE[action]
                self._work.intents.report(None, CloudEvent(kind, self._work.now, lease_id, reason=reason))
        for lease_id in sorted(to_adjust(differences) - actions.keys()):
            lease = self._engine.lease(lease_id)
            if lease is not None and lease.active_since is not None and not self._is_busy(lease_id):
                self._adjust(lease_id)
                counts["repaired"] += 1
        self._tell_of_lost_capacity({each.lease_id: each for each in differences if each.host is not None}, changed)
        self._tell_of_lost_trusts(differences)
        self._tell_of_intruders(differences)
        return counts

    def _adjust(self, lease_id: str) -> None:
        lease = self._engine.lease(lease_id)
        assert lease is not None
        now = self._work.now
        self._work.intents.begin(Operation(OperationKind.ADJUST, lease_id, lease.holdings[0].assignment, now, now))

    def _tell_of_lost_capacity(self, taken: Mapping[str | None, Difference], changed: Collection[str]) -> None:
        """Report capacity that others have taken, as if its host had failed, and again when the lease has it back."""
        for lease_id, difference in taken.items():
            lease = None if lease_id is None else self._engine.lease(lease_id)
            if lease is None or lease.lease_id in self._short:
                continue
            LOG.error("lease %s has lost capacity: %s", lease.lease_id, difference.detail)
            said = f"it lacks capacity: {difference.detail}"
            if difference.problem is Problem.UNFILTERED:
                said = _INTRUDED
            self._short.add(lease.lease_id)
            hosts = self._engine.site.hosts
            assignment = lease.holdings[0].assignment
            vms = tuple(vm for vm, number in enumerate(assignment) if hosts[number].name == difference.host)
            self._work.note(lease, said)
            self._work.hosts_lost(lease, vms, replaced=False)
        for lease_id in sorted(self._short - taken.keys()):
            lease = self._engine.lease(lease_id)
            # A repair that ended during the comparison may have failed.
            if lease is not None and (lease_id in changed or self._is_busy(lease_id)):
                continue
            self._short.discard(lease_id)
            if lease is not None and lease.active_since is not None and lease.missing_since is None:
                self._work.note(lease, "it has all its capacity again")
                self._work.hosts_whole(lease)

    def _tell_of_lost_trusts(self, differences: Iterable[Difference]) -> None:
        """Report each lost trust once. Only the user who created the lease could give a new one."""
        lost = {each.lease_id for each in differences if each.kind is Kind.TRUST and each.problem is Problem.MISSING}
        untrusted = frozenset(each for each in lost if each is not None)
        for lease_id in sorted(untrusted - self._untrusted):
            lease, document = self._engine.lease(lease_id), self._work.documents.get(lease_id)
            if lease is None or document is None:
                continue
            LOG.warning("lease %s: %s", lease_id, _NO_TRUST)
            self._work.note(lease, _NO_TRUST)
            told = replace(lease, reason=_NO_TRUST)
            self._work.notify(document_message(TRUST_MISSING, told, document, self._work.now))
        self._untrusted = untrusted

    def _tell_of_intruders(self, differences: Iterable[Difference]) -> None:
        intruding = [each for each in differences if each.problem in (Problem.INTRUDING, Problem.UNFILTERED)]
        for each in intruding:
            if each.name not in self._intruding:
                level = logging.ERROR if each.problem is Problem.UNFILTERED else logging.WARNING
                LOG.log(level, "server %s belongs to no lease: %s", each.name, each.detail)
        self._intruding = frozenset(each.name for each in intruding)

    # -- outside of a transaction ------------------------------------------------------------------------------

    def remember(self, expectations: Mapping[str, Expectation], differences: Iterable[Difference]) -> int:
        """Restore the records of suspended leases in the cloud, and return their number.

        The caller ensures that none of them is resumed meanwhile.

        :param expectations: by lease
        """
        mended = 0
        for lease_id in sorted(to_adjust(differences) & expectations.keys()):
            lease = self._engine.lease(lease_id)
            if lease is not None and lease.state in SUSPENDED_STATES and not self._is_busy(lease_id):
                self._driver.repair.mend(expectations[lease_id])
                LOG.warning("the record of lease %s in the cloud is restored", lease_id)
                mended += 1
        return mended

    def new_groups(self, differences: Iterable[Difference]) -> dict[str, dict[str, str]]:
        """Make new server groups in place of missing ones. Return lease -> reservation -> id of its new group."""
        made = {}
        lost = [each for each in differences if each.kind is Kind.SERVER_GROUP and each.problem is Problem.MISSING]
        for lease_id in sorted({each.lease_id for each in lost if each.lease_id is not None}):
            document = self._work.documents.get(lease_id)
            gone = {each.name for each in lost if each.lease_id == lease_id}
            if document is None:
                continue
            try:
                made[lease_id] = dict(self._driver.server_groups.make(_with_groups(document, gone)))
            except LeaseSchedulerError as error:
                LOG.warning("lease %s has lost server groups: %s", lease_id, error)
        return made

    def follow_groups(self, made: Mapping[str, Mapping[str, str]]) -> list[str]:
        """Assign new server groups to leases, within a transaction. Return the groups of leases that have ended."""
        unwanted: list[str] = []
        for lease_id, groups in made.items():
            document, lease = self._work.documents.get(lease_id), self._engine.lease(lease_id)
            if document is None or lease is None:
                unwanted += groups.values()
                continue
            self._work.put_document(document.with_term("server_group_id", groups))
            LOG.warning("lease %s has new server groups: %s", lease_id, ", ".join(sorted(groups.values())))
            self._work.note(lease, "its server group was deleted; it has a new one")
            if lease.active_since is not None and not self._is_busy(lease_id):
                self._adjust(lease_id)
        return unwanted


def _with_groups(document: LeaseDocument, gone: set[str]) -> dict[str, Any]:
    """Return the document that a driver needs to make groups for the reservations that have lost theirs."""
    return {
        "trust_id": document.trust_id,
        "reservations": [
            {"id": record.reservation_id, "affinity": record.terms.get("affinity")}
            for record in document.reservations
            if str(record.terms.get("server_group_id")) in gone
        ],
    }
