"""A site with plain Blazar as a member of a federation: try and see, without quotes and holds."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from openstack.connection import Connection

from lease_scheduler.cloud.peers.blazar_log import BlazarLog
from lease_scheduler.cloud.peers.blazar_outcomes import answer_of
from lease_scheduler.cloud.peers.blazar_terms import (
    BeyondBlazarError,
    are_same,
    body_of,
    changes_of,
    instant_of,
)
from lease_scheduler.cloud.peers.outcomes import outcome
from lease_scheduler.cloud.peers.timeouts import Timeouts, within
from lease_scheduler.federation.answers import Bid, FederationReason, Refusal, Released, Unanswered
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.members import Events, MemberDescription, MemberTransition, Verb
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources

#: What a site with Blazar can be asked to do.
_VERBS = frozenset({Verb.SUBMIT, Verb.CHANGE, Verb.END, Verb.SHOW, Verb.EVENTS})
#: Statuses of leases that are over, and of those that do not exist yet for certain.
_OVER, _UNCERTAIN = ("TERMINATED", "ERROR"), ("CREATING", "DELETING")

#: The form of ids, which are the names of leases that were asked for here.
_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class BlazarMember:
    """A site with Blazar 18, as ``federation.members.Member`` says.

    Blazar chooses the ids of leases, so a lease is known by its name, which is the id of the ask. Names are not unique:
    if an answer was lost, and the request was repeated before it was done, there are two leases. So every call looks at
    all leases. Of those with an id that the member was ever asked about, it ends all but one, or all of them if the id
    was given up. Leases with other names are left alone.

    Blazar keeps no history and forgets deleted leases. What was asked about and ended, and the numbers of transitions,
    are remembered as long as the process lives.

    :param name: name of the member
    :param connection: the site in openstacksdk
    :param timeouts: how long calls may take
    :param clock: returns the present instant
    """

    def __init__(
        self,
        name: str,
        connection: Connection,
        timeouts: Timeouts | None = None,
        clock: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        self._name = name
        chosen = timeouts or Timeouts()
        self._describing = within(connection, chosen.describe)
        self._proxies = {verb: within(connection, chosen.by_verb[verb]) for verb in _VERBS}
        self._log = BlazarLog(clock)
        self._known: set[str] = set()

    @property
    def name(self) -> str:
        """See ``Member``."""
        return self._name

    def describe(self) -> MemberDescription | Unanswered:
        """Return what it says of itself; the capacity of its hosts only if the caller may see them."""
        shown = outcome(self._name, lambda: answer_of(self._name, self._describing.get("/os-hosts")))
        if isinstance(shown, Unanswered):
            return shown
        hosts = [] if isinstance(shown, Refusal) else shown["hosts"]
        capacity: Counter[str] = Counter()
        for host in hosts:
            if host["reservable"]:
                capacity.update({VCPU: host["vcpus"], MEMORY_MB: host["memory_mb"], DISK_GB: host["local_gb"]})
        return MemberDescription(Resources(capacity), _VERBS)

    # -- what it cannot do -----------------------------------------------------------------------------------

    def quote(self, ask: Ask) -> Refusal:
        """Refuse: Blazar does not tell what it would grant."""
        return self._unsupported(Verb.QUOTE)

    def hold(self, ask: Ask, until: int) -> Refusal:
        """Refuse: Blazar holds nothing."""
        return self._unsupported(Verb.HOLD)

    def accept(self, lease_id: str) -> Refusal:
        """Refuse: nothing is held."""
        return self._unsupported(Verb.ACCEPT)

    def reject(self, lease_id: str) -> Refusal:
        """Refuse: nothing is held."""
        return self._unsupported(Verb.REJECT)

    def _unsupported(self, verb: Verb) -> Refusal:
        message = f"{self._name} has Blazar, which cannot be asked to {verb} a lease; submit it instead"
        return Refusal(self._name, FederationReason.UNSUPPORTED, message)

    # -- asking ----------------------------------------------------------------------------------------------

    def submit(self, ask: Ask) -> Bid | Refusal | Unanswered:
        """Request a lease in the project of the caller, unless there is one with the name already."""
        if ask.names_project:
            message = f"{self._name} has Blazar, which leases to no project but that of the caller"
            return Refusal(self._name, RefusalReason.PROJECT, message)
        try:
            body = body_of(ask.terms)
        except InvalidValueError as error:
            return self._cannot(error)
        if self._log.has_ended(ask.ask_id):
            message = "the id is that of a lease that has ended, or of a request that was given up"
            return Refusal(self._name, RefusalReason.ID_TAKEN, message)
        present = self._find(Verb.SUBMIT, ask.ask_id)
        if isinstance(present, dict):
            return self._repeated(ask.terms, present)
        if isinstance(present, Unanswered) or present.reason is not FederationReason.UNKNOWN:
            return present
        made = self._call(Verb.SUBMIT, "POST", "/leases", body)
        if not isinstance(made, dict):
            return made
        # Of several with this name, the same one is kept in any case.
        found = self._find(Verb.SUBMIT, ask.ask_id)
        return self._bid(found) if isinstance(found, dict) else Unanswered()

    def change(self, lease_id: str, terms: LeaseRequest) -> Bid | Refusal | Unanswered:
        """See ``Member``."""
        present = self._find(Verb.CHANGE, lease_id)
        if not isinstance(present, dict):
            return present
        if present["status"] in _OVER:
            return self._over(lease_id)
        try:
            body = changes_of(terms, present)
        except InvalidValueError as error:
            return self._cannot(error)
        if present["status"] != "PENDING":
            # A start that has passed does not change.
            body.pop("start_date", None)
        if body:
            changed = self._call(Verb.CHANGE, "PUT", f"/leases/{present['id']}", body)
            if not isinstance(changed, dict):
                return changed
            present = changed["lease"]
        return self._bid(present)

    def end(self, lease_id: str) -> Released | Refusal | Unanswered:
        """End a lease. One that arrives later is ended as soon as it is seen."""
        present = self._find(Verb.END, lease_id)
        if isinstance(present, Refusal) and present.reason in (FederationReason.UNKNOWN, FederationReason.EXPIRED):
            self._log.end(lease_id)
            return Released()
        if not isinstance(present, dict):
            return present
        if present["status"] != "TERMINATED":
            # Also one that has failed, as it may still have its hosts.
            answer = self._call(Verb.END, "DELETE", f"/leases/{present['id']}")
            if answer is not None and not _is_unknown(answer):
                return answer
        self._log.end(lease_id)
        return Released()

    # -- looking at it ---------------------------------------------------------------------------------------

    def show(self, lease_id: str) -> MemberTransition | Refusal | Unanswered:
        """See ``Member``."""
        self._known.add(lease_id)
        leases = self._list(Verb.SHOW)
        if not isinstance(leases, dict):
            return leases
        return self._log.latest(lease_id) or self._unknown(lease_id)

    def events(self, since: int) -> Events | Unanswered:
        """Look at all leases, and return what has changed since."""
        leases = self._list(Verb.EVENTS)
        return self._log.after(since) if isinstance(leases, dict) else Unanswered()

    def _list(self, verb: Verb) -> dict[str, Document] | Refusal | Unanswered:
        """Return the leases whose names are ids, by name, and end those that should not be there."""
        shown = self._call(verb, "GET", "/leases")
        if not isinstance(shown, dict):
            return shown
        return outcome(self._name, lambda: self._sorted_out(verb, shown["leases"]))

    def _sorted_out(self, verb: Verb, leases: list[Document]) -> dict[str, Document]:
        found: dict[str, Document] = {}
        for lease in sorted((each for each in leases if _ID.fullmatch(each["name"])), key=_rank):
            is_there = lease["name"] in self._known and lease["status"] not in _UNCERTAIN
            is_late = self._log.has_ended(lease["name"]) and lease["status"] != "TERMINATED"
            if is_there and (is_late or lease["name"] in found):
                self._call(verb, "DELETE", f"/leases/{lease['id']}")
            else:
                found.setdefault(lease["name"], lease)
        self._log.follow(found.values())
        return found

    def _find(self, verb: Verb, lease_id: str) -> Document | Refusal | Unanswered:
        """Return a lease as Blazar shows it."""
        self._known.add(lease_id)
        leases = self._list(verb)
        if not isinstance(leases, dict):
            return leases
        found = leases.get(lease_id)
        if found is not None:
            return Unanswered() if found["status"] in _UNCERTAIN else found
        return self._over(lease_id) if self._log.latest(lease_id) else self._unknown(lease_id)

    # -- answers ---------------------------------------------------------------------------------------------

    def _repeated(self, terms: LeaseRequest, present: Document) -> Bid | Refusal | Unanswered:
        def compared() -> Bid | Refusal:
            if present["status"] in _OVER or not are_same(terms, present):
                message = "the id is that of a lease that has ended, or of another request"
                return Refusal(self._name, RefusalReason.ID_TAKEN, message)
            return _bid(self._name, present)

        return outcome(self._name, compared)

    def _bid(self, lease: Document) -> Bid | Refusal | Unanswered:
        return outcome(self._name, lambda: _bid(self._name, lease))

    def _cannot(self, error: InvalidValueError) -> Refusal:
        is_beyond = isinstance(error, BeyondBlazarError)
        reason = FederationReason.UNSUPPORTED if is_beyond else FederationReason.UNMAPPED
        return Refusal(self._name, reason, str(error))

    def _over(self, lease_id: str) -> Refusal:
        return Refusal(self._name, FederationReason.EXPIRED, f"lease {lease_id} is over")

    def _unknown(self, lease_id: str) -> Refusal:
        return Refusal(self._name, FederationReason.UNKNOWN, f"there is no lease {lease_id}")

    def _call(self, verb: Verb, method: str, path: str, body: object = None) -> Any | Refusal | Unanswered:
        proxy = self._proxies[verb]
        return outcome(self._name, lambda: answer_of(self._name, proxy.request(path, method, json=body)))


def _bid(member: str, lease: Document) -> Bid:
    return Bid(member, lease["name"], instant_of(lease["start_date"]), instant_of(lease["end_date"]))


def _rank(lease: Document) -> tuple[bool, bool, str, str]:
    """Return the key by which the lease to keep comes first among those of one name: one that runs, or the oldest."""
    return lease["status"] in _UNCERTAIN, lease["status"] != "ACTIVE", lease["created_at"] or "", lease["id"]


def _is_unknown(answer: object) -> bool:
    return isinstance(answer, Refusal) and answer.reason is FederationReason.UNKNOWN
