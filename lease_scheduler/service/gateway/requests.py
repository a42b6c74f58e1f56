"""What the REST interface asks of an engine, answered by a gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.federation.answers import Alternative, Bid, Refusal, Unanswered
from lease_scheduler.federation.asks import Ask, OnBehalfOf
from lease_scheduler.federation.negotiation.contradictions import contradiction
from lease_scheduler.federation.negotiation.events import ChangeWanted, EndWanted
from lease_scheduler.federation.negotiation.record import FINAL_STAGES, Negotiation, Stage
from lease_scheduler.federation.negotiation.refusing import FinalRefusal, best_alternatives, final_refusal
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import (
    HAS_ENDED,
    ID_IS_TAKEN,
    EngineUnavailableError,
    InvalidValueError,
    LeaseSchedulerError,
    RefusedError,
)
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.records.attributes import REMARKS, values
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.federated import FederatedLease, OutdatedError
from lease_scheduler.records.history import Actor
from lease_scheduler.rpc.interface import METHODS, EngineRequests
from lease_scheduler.service.gateway.calling import Members
from lease_scheduler.service.gateway.driver import Driver
from lease_scheduler.service.gateway.interfaces import GatewaySettings, GatewayStore
from lease_scheduler.service.gateway.passing import changed_terms, in_words, passable_terms, unknown_site
from lease_scheduler.service.gateway.routing import Router

#: Attributes that only the gateway keeps, and that may be changed at any time.
_REMARKS = tuple(each for each in REMARKS if each.changed is not None and each.name != "on_end")


class GatewayRequests(EngineRequests):
    """Answers requests about leases by asking the members. All other requests are refused.

    :param store: the database
    :param members: the members
    :param driver: drives negotiations
    :param router: chooses members
    :param clock: the clock of the gateway
    :param settings: settings
    """

    def __init__(
        self,
        store: GatewayStore,
        members: Members,
        driver: Driver,
        router: Router,
        clock: WaitingClock,
        settings: GatewaySettings,
    ) -> None:
        self._store = store
        self._members = members
        self._driver = driver
        self._router = router
        self._clock = clock
        self._settings = settings

    def problem(self, seconds: float) -> str | None:
        """Return what keeps the gateway from working, or None."""
        try:
            self._store.next_due()
        except LeaseSchedulerError as error:
            return str(error)
        return None

    def ping(self, context: Document) -> Document:
        """Return what keeps the gateway from working."""
        return {"problem": self.problem(0.0)}

    # -- asking ----------------------------------------------------------------------------------------------

    def create_lease(self, context: Document, lease: Document) -> Document:
        """Ask members for a lease, and wait for their decision until the client wants an answer.

        If it is not made by then, the lease waits, and the members that can still grant it are asked further.
        """
        now = self._clock.now()
        until = now + self._settings.answer_time
        ask, document = self._asked(lease, now, until)
        try:
            found = self._driver.begin(ask, document, _actor(context), self._wanted(lease))
        except OutdatedError:
            found = self._again(lease)
        if isinstance(found, Refusal):
            raise RefusedError(409, found.message, reason=RefusalReason.known(found.reason.value))
        decided = self._driver.wait(found.lease_id, until, _is_decided)
        if decided.negotiation.stage is Stage.REFUSED:
            self._driver.remark(decided.lease_id, lambda document: replace(document, deleted_at=self._clock.now()))
            raise _refusal_of(final_refusal(decided.negotiation))
        return {"lease_id": decided.lease_id}

    def _asked(self, lease: Document, now: int, until: int) -> tuple[Ask, LeaseDocument]:
        try:
            terms = passable_terms(lease, now)
        except InvalidValueError as error:
            raise in_words(error) from error
        # A peer asks for somebody else: another gateway, for its tenants.
        said = terms.request.on_behalf_of
        party = {"project": lease["project_id"], "user": lease["user_id"]} if said is None else said
        on_behalf_of = OnBehalfOf(party["project"], party.get("user"))
        # By the token of the caller, never by what the caller says.
        projects = self._settings.projects.at_members(lease["project_id"], self._members.names)
        return Ask(terms.request, until, terms.document.path or (), on_behalf_of, projects), terms.document

    def _wanted(self, lease: Document) -> tuple[str, ...]:
        """Return the members that a request may be put to: the one that it names, or all."""
        site = lease.get("wanted_site")
        if site is None:
            return self._members.names
        if site not in self._members.names:
            raise RefusedError(400, unknown_site(site, self._members.names), "site")
        return (site,)

    def _again(self, lease: Document) -> FederatedLease:
        """Return the lease that a repeated request has made before."""
        made = self._store.lease(lease["id"])
        if made is None or made.document.request_digest is None:
            raise EngineUnavailableError("the lease is being written by another gateway; try again")
        if made.document.request_digest != lease.get("request_digest"):
            raise RefusedError(409, ID_IS_TAKEN, "id", reason=RefusalReason.ID_TAKEN)
        return made

    def quote_lease(self, context: Document, lease: Document) -> Document:
        """Ask members at the same time what they would grant, and return the bid that would be chosen.

        All members are asked unless the request names one.
        """
        now = self._clock.now()
        ask, _ = self._asked(lease, now, now + self._settings.answer_time)
        name = self._settings.rules.name
        wanted = self._wanted(lease)
        answers: dict[str, Bid | Refusal | Unanswered] = {
            each: refusal for each in wanted if (refusal := self._settings.projects.refusal(ask, each)) is not None
        }
        askable = [each for each in wanted if each not in answers]
        answers |= self._members.quotes(askable, ask, name, float(self._settings.answer_time))
        silent = [each for each, answer in answers.items() if isinstance(answer, Unanswered)]
        bids = {
            each: answer
            for each, answer in answers.items()
            if isinstance(answer, Bid) and contradiction(ask, each, answer, None, is_hold=False) is None
        }
        if bids:
            member = self._router.best(ask, bids, self._store.routing())
            return _quoted(bids[member]) | {"site": member, "unanswered": silent}
        refusals = tuple(each for each in answers.values() if isinstance(each, Refusal))
        refused = FinalRefusal(refusals, tuple(silent), (), best_alternatives(refusals, ask.terms))
        return {
            "granted": False,
            "reason": refused.message,
            "reason_code": _reason(refused),
            "alternatives": _alternatives(refused.alternatives),
            "site": None,
            "unanswered": silent,
        }

    # -- changing --------------------------------------------------------------------------------------------

    def update_lease(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Change what the gateway keeps of a lease, and have its member change the terms."""
        lease = self._lease(lease_id)
        if changes.get("version") not in (None, lease.version):
            raise RefusedError(409, f"lease {lease_id} was changed meanwhile; read it again", "version")
        remarks = {each.name: changes[each.name] for each in _REMARKS if each.name in changes}
        wanted = {key: value for key, value in changes.items() if key not in (*remarks, "version", "sees_private")}
        if wanted:
            self._change(context, lease, wanted)
        if remarks:
            now = self._clock.now()
            self._driver.remark(
                lease_id, lambda document: replace(document, updated_at=now, **values(_REMARKS, remarks))
            )
        return {"lease_id": lease_id}

    def _change(self, context: Document, lease: FederatedLease, changes: Document) -> None:
        now = self._clock.now()
        if lease.lease.is_final:
            raise RefusedError(409, HAS_ENDED, "id")
        try:
            terms = changed_terms(lease, changes, now).request
            self._driver.note(lease.lease_id, lambda _: ChangeWanted(terms), _actor(context))
        except InvalidValueError as error:
            raise RefusedError(409 if error.field == "change" else 400, str(error), error.field) from error
        until = now + self._settings.answer_time
        found = self._driver.wait(lease.lease_id, until, lambda record: record.stage is not Stage.CHANGING)
        record = found.negotiation
        if record.stage is Stage.CHANGING:
            raise EngineUnavailableError(
                f"{found.document.site} has not said yet whether it changes the lease; it is asked again"
            )
        if record.change_refusal is not None:
            refusal = record.change_refusal
            reason = refusal.reason if isinstance(refusal.reason, RefusalReason) else None
            raise RefusedError(
                409, f"{refusal.member}: {refusal.message}", None, _alternatives(refusal.alternatives), reason=reason
            )

    def end_lease(self, context: Document, lease_id: str) -> Document:
        """End a lease. If its member does not answer, it is told later."""
        self._ended(context, lease_id)
        return {}

    def delete_lease(self, context: Document, lease_id: str, reason: str) -> Document:
        """End a lease, and remove it from lists."""
        self._ended(context, lease_id)
        now = self._clock.now()
        self._driver.remark(
            lease_id, lambda document: replace(document, deleted_at=document.deleted_at or now, updated_at=now)
        )
        return {}

    def _ended(self, context: Document, lease_id: str) -> None:
        lease = self._lease(lease_id)
        if lease.negotiation.stage in FINAL_STAGES:
            return
        self._driver.note(lease_id, lambda _: EndWanted(), _actor(context))
        self._driver.drive(lease_id, self._clock.now() + self._settings.answer_time)

    def _lease(self, lease_id: str) -> FederatedLease:
        found = self._store.lease(lease_id)
        if found is None:
            raise RefusedError(404, f"there is no lease {lease_id}", "lease_id")
        return found


def _is_decided(record: Negotiation) -> bool:
    return record.stage in FINAL_STAGES or record.placed is not None or record.is_ending


def _actor(context: Document) -> Actor:
    return Actor(context["user_id"], context["project_id"])


def _quoted(bid: Bid) -> Document:
    is_endless = bid.start is not None and bid.end is not None and bid.end - bid.start >= UNLIMITED
    return {
        "granted": True,
        "reason": "",
        "reason_code": None,
        "start": bid.start,
        "end": None if is_endless else bid.end,
        "latest_end": None if is_endless else bid.end,
        "alternatives": [],
        "price": bid.price,
        "preempted": bid.preempts,
    }


def _refusal_of(refused: FinalRefusal) -> RefusedError:
    return RefusedError(
        409, refused.message, None, _alternatives(refused.alternatives), reason=RefusalReason.known(_reason(refused))
    )


def _reason(refused: FinalRefusal) -> str | None:
    """Return the reason of the first member that has one of those that sites have; None if no member has any."""
    return next((each.reason.value for each in refused.refusals if isinstance(each.reason, RefusalReason)), None)


def _alternatives(found: Iterable[Alternative]) -> list[Document]:
    return [
        {"change": f"at {each.member}", "start": each.start, "end": each.end, "count": each.nodes} for each in found
    ]


def _not_offered(name: str) -> Callable[..., Document]:
    """Return the method for a request that a gateway does not answer."""
    what = name.replace("_", " ")

    def refuse(self: GatewayRequests, context: Document, *arguments: Any, **named: Any) -> Document:
        raise RefusedError(400, f"a gateway does not offer this ({what}); ask the site itself")

    return refuse


for _name in METHODS:
    if _name not in vars(GatewayRequests):
        setattr(GatewayRequests, _name, _not_offered(_name))
