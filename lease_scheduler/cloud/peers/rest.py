"""A site with this service as a member of a federation, over its REST interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from openstack.connection import Connection

from lease_scheduler.cloud.peers.bodies import body_of, changes_of, passing_of
from lease_scheduler.cloud.peers.capabilities import (
    DESCRIBED,
    FOR_PROJECTS,
    NUMBERED,
    WITHDRAWING,
    capacity_of,
    description_of,
    verbs_of,
    version_of,
)
from lease_scheduler.cloud.peers.dates import date_of, instant_of
from lease_scheduler.cloud.peers.outcomes import alternatives_of, outcome
from lease_scheduler.cloud.peers.timeouts import Timeouts, within
from lease_scheduler.federation.answers import Bid, FederationReason, Refusal, Released, Unanswered, reason_of
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.members import Events, MemberDescription, MemberTransition, Verb
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from lease_scheduler.sdk.proxy import Proxy
from lease_scheduler.sdk.resources import Lease, Quote

_AWAITING = "awaiting"

Found = TypeVar("Found")


class RestMember:
    """A site, as ``federation.members.Member`` says.

    A site of an older version offers fewer verbs; it is asked for the others in vain (``UNSUPPORTED``). What the site
    refuses is looked at again if it may have been done before, so that a repeated call has the answer of the first one.

    :param name: name of the member
    :param connection: the site in openstacksdk. If it has a ``reservation_default_microversion``, all
        calls have that, otherwise the newest that both know
    :param timeouts: how long calls may take
    """

    def __init__(self, name: str, connection: Connection, timeouts: Timeouts | None = None) -> None:
        self._name = name
        chosen = timeouts or Timeouts()
        self._describing = within(connection, chosen.describe)
        self._is_peer: bool | None = None
        self._proxies = {verb: within(connection, chosen.by_verb[verb]) for verb in Verb}

    @property
    def name(self) -> str:
        """See ``Member``."""
        return self._name

    def describe(self) -> MemberDescription | Unanswered:
        """Return what it says of itself; its hosts only if the caller may see them."""
        proxy = self._describing
        version = outcome(self._name, lambda: _version(proxy))
        if not isinstance(version, tuple):
            return Unanswered()
        if version >= DESCRIBED:
            found = self._described(proxy, version)
            if not isinstance(found, Refusal):
                return found
        capacity = outcome(self._name, lambda: capacity_of(proxy.hosts()))
        if isinstance(capacity, Unanswered):
            return capacity
        return MemberDescription(Resources({}) if isinstance(capacity, Refusal) else capacity, verbs_of(version))

    def _described(self, proxy: Proxy, version: tuple[int, ...]) -> MemberDescription | Refusal | Unanswered:
        """Return the description that the site gives to peers, and remember whether the caller is one."""

        def read() -> MemberDescription:
            site = proxy.get_site_description()
            self._is_peer = site.origin is not None
            return description_of(site, version)

        found = outcome(self._name, read)
        if isinstance(found, Refusal):
            # It has none, as it is a gateway, or does not give it to the caller.
            self._is_peer = False
        return found

    # -- asking ----------------------------------------------------------------------------------------------

    def quote(self, ask: Ask) -> Bid | Refusal | Unanswered:
        """See ``Member``."""
        return self._asked(
            Verb.QUOTE, ask, lambda proxy, body: self._quoted(ask, proxy.create_quote(**body), is_hold=False)
        )

    def hold(self, ask: Ask, until: int) -> Bid | Refusal | Unanswered:
        """See ``Member``."""
        held = {"id": ask.ask_id, "hold": True, "expires_at": date_of(until)}
        return self._asked(
            Verb.HOLD, ask, lambda proxy, body: self._quoted(ask, proxy.create_quote(**body, **held), is_hold=True)
        )

    def submit(self, ask: Ask) -> Bid | Refusal | Unanswered:
        """Request a lease. One that its operator would have to approve first is given back, and refused."""
        answer = self._asked(Verb.SUBMIT, ask, lambda proxy, body: proxy.create_lease(**body, id=ask.ask_id))
        if not isinstance(answer, Lease):
            return answer
        if answer.approval == _AWAITING:
            message = f"an operator of {self._name} would have to approve it"
            given_back = self.end(ask.ask_id)
            return Refusal(self._name, RefusalReason.APPROVAL, message) if _is_released(given_back) else Unanswered()
        return self._granted(answer, RefusalReason.ID_TAKEN)

    def _asked(
        self, verb: Verb, ask: Ask, call: Callable[[Proxy, dict[str, object]], Found]
    ) -> Found | Refusal | Unanswered:
        try:
            body = body_of(ask.terms)
        except InvalidValueError as error:
            return Refusal(self._name, FederationReason.UNMAPPED, str(error))
        said = passing_of(ask)

        def made(proxy: Proxy) -> Found | Refusal:
            is_known = bool(said) and self._is_known(proxy)
            if ask.names_project and not (is_known and _version(proxy) >= FOR_PROJECTS):
                # Without a word of its project, the lease would be that of another one.
                message = f"{self._name} does not lease for projects: it is older than 1.50, or this caller is no peer"
                return Refusal(self._name, RefusalReason.PROJECT, message)
            return call(proxy, body | said if is_known else body)

        return self._call(verb, made)

    def _is_known(self, proxy: Proxy) -> bool:
        """Return whether the site takes the caller for a peer. Only peers may say for whom they ask.

        :raises ValueError: it does not say
        """
        version = _version(proxy)
        if version < DESCRIBED:
            return False
        if self._is_peer is None and isinstance(self._described(proxy, version), Unanswered):
            raise ValueError("the site does not say whether the caller is a peer")
        return bool(self._is_peer)

    def _quoted(self, ask: Ask, quote: Quote, *, is_hold: bool) -> Bid | Refusal:
        if quote.is_granted is None:
            raise ValueError("it is no quote")
        if not quote.is_granted:
            reason = reason_of(quote.reason_code or "")
            return Refusal(self._name, reason, quote.reason, alternatives_of(self._name, quote.alternatives or ()))
        start, end = _interval(quote.start, quote.end)
        expires = quote.expires_at if is_hold else None
        return Bid(
            self._name,
            ask.ask_id,
            start,
            end,
            price=quote.price,
            preempts=quote.preempted or 0,
            held_until=None if expires is None else instant_of(expires),
        )

    # -- what is held or granted -----------------------------------------------------------------------------

    def accept(self, lease_id: str) -> Bid | Refusal | Unanswered:
        """See ``Member``."""
        answer = self._call(Verb.ACCEPT, lambda proxy: proxy.accept_lease(lease_id))
        if isinstance(answer, Refusal) and answer.reason is not FederationReason.UNKNOWN:
            found = self._call(Verb.ACCEPT, lambda proxy: proxy.get_lease(lease_id))
            if isinstance(found, Lease) and found.expires_at is not None:
                return answer
            answer = found
        return self._granted(answer, FederationReason.EXPIRED) if isinstance(answer, Lease) else answer

    def reject(self, lease_id: str) -> Released | Refusal | Unanswered:
        """See ``Member``."""
        return self._given_back(Verb.REJECT, lease_id, lambda proxy: proxy.reject_lease(lease_id))

    def end(self, lease_id: str) -> Released | Refusal | Unanswered:
        """See ``Member``."""
        return self._given_back(Verb.END, lease_id, lambda proxy: proxy.end_lease(lease_id))

    def change(self, lease_id: str, terms: LeaseRequest) -> Bid | Refusal | Unanswered:
        """See ``Member``."""
        present = self._call(Verb.CHANGE, lambda proxy: proxy.get_lease(lease_id))
        if not isinstance(present, Lease):
            return present
        try:
            body = changes_of(terms, present.reservations or ())
        except InvalidValueError as error:
            return Refusal(self._name, FederationReason.UNMAPPED, str(error))
        if present.started_at is not None:
            # It may have started later than asked for, when it was accepted; a start that has passed does not change.
            body.pop("start_date", None)
        answer = self._call(Verb.CHANGE, lambda proxy: proxy.update_lease(lease_id, **body))
        return self._granted(answer, FederationReason.EXPIRED) if isinstance(answer, Lease) else answer

    def _given_back(self, verb: Verb, lease_id: str, call: Callable[[Proxy], Lease]) -> Released | Refusal | Unanswered:
        answer = self._call(verb, lambda proxy: LeaseState(call(proxy).state))
        if not isinstance(answer, Refusal):
            return answer if isinstance(answer, Unanswered) else Released()
        if answer.reason is FederationReason.UNKNOWN:
            return self._withdrawn(verb, lease_id, call)
        # It may have ended by itself, or by the same call, whose answer was lost.
        found = self._call(verb, lambda proxy: self._latest(proxy, lease_id))
        is_over = isinstance(found, MemberTransition) and found.state in FINAL_STATES
        return Released() if is_over else answer

    def _withdrawn(self, verb: Verb, lease_id: str, call: Callable[[Proxy], Lease]) -> Released | Refusal | Unanswered:
        """Give up a lease that the site does not know, as the request for it may still be on its way."""

        def withdraw(proxy: Proxy) -> None:
            if _version(proxy) >= WITHDRAWING:
                proxy.withdraw_lease_request(lease_id)

        answer = self._call(verb, withdraw)
        if not isinstance(answer, Refusal) or answer.reason is FederationReason.UNSUPPORTED:
            return answer if isinstance(answer, Unanswered) else Released()
        # The request has arrived in the meantime.
        ended = self._call(verb, lambda proxy: LeaseState(call(proxy).state))
        if isinstance(ended, Refusal) and ended.reason is not FederationReason.UNKNOWN:
            return ended
        return ended if isinstance(ended, Unanswered) else Released()

    def _granted(self, lease: Lease, when_over: FederationReason | RefusalReason) -> Bid | Refusal | Unanswered:
        """Return a lease as the site shows it as a bid, or the refusal of one that is over."""

        def read() -> Bid | Refusal:
            if LeaseState(lease.state) in FINAL_STATES:
                return Refusal(self._name, when_over, f"lease {lease.id} is over: {lease.state}, {lease.reason}")
            holdings = lease.holdings or ()
            first = lease.started_at or (holdings[0]["run_start"] if holdings else None)
            start, end = _interval(first, holdings[-1]["run_end"] if holdings else None)
            return Bid(self._name, lease.id, start, end, price=lease.price)

        return outcome(self._name, read)

    # -- looking at it ---------------------------------------------------------------------------------------

    def show(self, lease_id: str) -> MemberTransition | Refusal | Unanswered:
        """See ``Member``."""
        return self._call(Verb.SHOW, lambda proxy: self._latest(proxy, lease_id))

    def events(self, since: int) -> Events | Unanswered:
        """Return the next transitions, as many as the site gives at a time."""
        answer = self._call(Verb.EVENTS, lambda proxy: _events(proxy, since))
        return Unanswered() if isinstance(answer, Refusal) else answer

    def _latest(self, proxy: Proxy, lease_id: str) -> MemberTransition:
        is_numbered = _version(proxy) >= NUMBERED
        entry = proxy.lease_history(lease_id)[-1]
        number = int(entry["sequence"]) if is_numbered else 0
        return MemberTransition(number, lease_id, instant_of(entry["time"]), LeaseState(entry["to"]), entry["reason"])

    # -- calls -----------------------------------------------------------------------------------------------

    def _call(self, verb: Verb, call: Callable[[Proxy], Found]) -> Found | Refusal | Unanswered:
        """Make a call, unless the site is too old for it."""
        proxy = self._proxies[verb]
        version = outcome(self._name, lambda: _version(proxy))
        if not isinstance(version, tuple):
            return version
        if verb not in verbs_of(version):
            shown = ".".join(map(str, version))
            message = f"{self._name} cannot be asked to {verb} a lease at its microversion {shown}"
            return Refusal(self._name, FederationReason.UNSUPPORTED, message)
        return outcome(self._name, lambda: call(proxy))


def _version(proxy: Proxy) -> tuple[int, ...]:
    """Return the microversion of all calls.

    :raises ValueError: the site does not say which ones it has
    """
    found = Lease._get_microversion(proxy)
    if found is None:
        raise ValueError("the site does not say which microversions it has")
    return version_of(found)


def _interval(start: str | None, end: str | None) -> tuple[int | None, int | None]:
    """Return the instants of two dates. Without an end, a lease runs until somebody ends it."""
    if start is None:
        return None, None
    first = instant_of(start)
    return first, first + UNLIMITED if end is None else instant_of(end)


def _events(proxy: Proxy, since: int) -> Events:
    page = proxy.get_events(since=since)
    if page.next < since:
        return Events(page.next)
    return Events(
        since,
        tuple(
            MemberTransition(
                each["sequence"], each["lease_id"], instant_of(each["time"]), LeaseState(each["to"]), each["reason"]
            )
            for each in page.events
        ),
        page.next,
    )


def _is_released(answer: Released | Refusal | Unanswered) -> bool:
    return isinstance(answer, Released)
