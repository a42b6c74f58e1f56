"""Comparison of the records of a gateway with what its members say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from lease_scheduler.federation.answers import FederationReason, Refusal, Released, Unanswered
from lease_scheduler.federation.asks import lease_id_at
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.events import Answered
from lease_scheduler.federation.negotiation.record import AttemptState
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.records.federated import FederatedLease
from lease_scheduler.service.gateway.calling import Members
from lease_scheduler.service.gateway.driver import Driver
from lease_scheduler.service.gateway.interfaces import GatewayStore

#: Records that are read at a time.
_PART = 500


class Problem(StrEnum):
    """How a record and a member differ; the value is the word that operators see."""

    #: The member has a lease that the record says it does not have.
    LEFT_OVER = "left over"
    #: The member does not know a lease that the record says it has granted.
    UNKNOWN = "unknown there"
    #: The member does not answer, or does not tell which leases it has.
    NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class Difference:
    """A difference.

    :ivar lease_id: id of the lease at the gateway; empty if it is about the member as a whole
    :ivar site_lease_id: its id at the member; empty likewise
    :ivar is_mended: whether it is mended
    """

    problem: Problem
    member: str
    lease_id: str = ""
    site_lease_id: str = ""
    is_mended: bool = False


def reconcile(store: GatewayStore, members: Members, driver: Driver, *, dry_run: bool) -> list[Difference]:
    """Compare all records with all members, and return the differences.

    Leases at members that follow from no record are not ours: others may use the same project there.

    :param dry_run: mend nothing
    """
    found: list[Difference] = []
    states: dict[str, Mapping[str, LeaseState]] = {}
    for name in members.names:
        told = _states_at(members, name)
        if told is None:
            found.append(Difference(Problem.NOT_COMPARED, name))
        else:
            states[name] = told
    ids = store.all_ids()
    for first in range(0, len(ids), _PART):
        for lease in store.leases(ids[first : first + _PART]):
            for name, told in states.items():
                found += _compared(lease, name, told, members, driver, dry_run=dry_run)
    return found


def _states_at(members: Members, name: str) -> Mapping[str, LeaseState] | None:
    """Return the latest state of each lease that a member tells of, or None if it does not."""
    described = members.described(name)
    if described is None or Verb.EVENTS not in described.verbs:
        return None
    found: dict[str, LeaseState] = {}
    since = 0
    while True:
        page = members.events(name, since)
        if isinstance(page, Unanswered):
            return None
        if page.latest <= since:
            return found
        found.update({each.lease_id: each.state for each in page.transitions})
        since = page.latest


def _compared(
    lease: FederatedLease,
    name: str,
    told: Mapping[str, LeaseState],
    members: Members,
    driver: Driver,
    *,
    dry_run: bool,
) -> list[Difference]:
    site_lease_id = lease_id_at(name, lease.lease_id)
    attempt = lease.negotiation.attempt(name)
    is_there = told.get(site_lease_id, LeaseState.DONE) not in FINAL_STATES
    if is_there and (attempt is None or attempt.state is AttemptState.CLOSED):
        is_mended = not dry_run and isinstance(members.end_at(name, site_lease_id), Released)
        return [Difference(Problem.LEFT_OVER, name, lease.lease_id, site_lease_id, is_mended)]
    if attempt is None or attempt.state is not AttemptState.PLACED or is_there:
        return []
    shown = members.show(name, site_lease_id)
    if not isinstance(shown, Refusal) or shown.reason is not FederationReason.UNKNOWN:
        return []
    if not dry_run:
        driver.note(lease.lease_id, lambda _: Answered(name, Verb.SHOW, shown))
    return [Difference(Problem.UNKNOWN, name, lease.lease_id, site_lease_id, not dry_run)]
