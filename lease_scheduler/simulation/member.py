"""A simulated site as a member of a federation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from math import ceil

from lease_scheduler.federation.answers import Alternative, Bid, FederationReason, Refusal, Released
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.members import Events, MemberDescription, MemberTransition, PublishedLoad
from lease_scheduler.federation.quotes import as_bid
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.plan.explaining.explain import NoPlaceError
from lease_scheduler.plan.explaining.explain import Refusal as SiteRefusal
from lease_scheduler.simulation.site_run import SiteRun

#: Kinds of lease whose duration is that of work, which faster hosts do sooner. The others reserve hosts for a time.
_WORK = frozenset({LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE})


class SimulatedMember:
    """A simulated site, as ``federation.members.Member`` says. It always answers.

    Each call is decided at once, in a step of the site at the present instant. In a world, make calls when all sites
    have done what is due then.

    :param name: name of the member
    :param site: the site, which must be open-ended
    :param hold_time: maximum seconds for which it holds a lease
    :param load: the load that it publishes; None if it publishes none
    :param projects: projects for which it grants leases beside that of the caller; None for all
    :param speed: work that a host does in a second. The durations of best-effort and deadline leases are divided by it
        and rounded up; reservations and immediate leases have their hosts for as long as they ask for
    :param real_durations: id of a lease at this member -> seconds after which its work is really done at speed 1;
        leases that are not in it take all of their duration
    :raises InvalidValueError: the speed is not a positive number
    """

    def __init__(
        self,
        name: str,
        site: SiteRun,
        hold_time: int = 300,
        load: PublishedLoad | None = None,
        *,
        projects: Collection[str] | None = None,
        speed: float = 1.0,
        real_durations: Mapping[str, int] | None = None,
    ) -> None:
        self._name = name
        self._site = site
        self._hold_time = hold_time
        self._load = load
        self._projects = projects
        self._speed = MemberDescription(site.view().capacity, speed=speed).speed
        self._real_durations = {} if real_durations is None else real_durations
        #: The terms with which each lease that was held or granted was asked for.
        self._asked: dict[str, LeaseRequest] = {}
        #: Ids of leases that were ended or rejected before anybody asked for them.
        self._withdrawn: set[str] = set()
        self._transitions: list[MemberTransition] = []
        self._last: dict[str, MemberTransition] = {}
        self._followers: list[Callable[[MemberTransition], None]] = []
        site.store.follow(self._saved)

    @property
    def name(self) -> str:
        """See ``Member``."""
        return self._name

    def describe(self) -> MemberDescription:
        """See ``Member``."""
        return MemberDescription(self._site.view().capacity, load=self._load, speed=self._speed)

    # -- asking ----------------------------------------------------------------------------------------------

    def quote(self, ask: Ask) -> Bid | Refusal:
        """See ``Member``."""
        terms = self._terms_of(ask)
        if isinstance(terms, Refusal):
            return terms
        try:
            quote = self._site.quote(replace(self._at_speed(terms), lease_id=f"{ask.ask_id}?"))
        except InvalidValueError as error:
            return self._invalid(error)
        bid = as_bid(self._name, quote)
        if bid is None:
            assert quote.refusal is not None
            return self._refusal(quote.refusal)
        return replace(bid, lease_id=ask.ask_id)

    def hold(self, ask: Ask, until: int) -> Bid | Refusal:
        """See ``Member``."""
        seconds = min(until - self._site.clock.now(), self._hold_time)
        if seconds <= 0 and ask.ask_id not in self._asked:
            return Refusal(self._name, FederationReason.EXPIRED, "the hold would have ended")
        return self._made(ask, seconds)

    def submit(self, ask: Ask) -> Bid | Refusal:
        """See ``Member``."""
        return self._made(ask, None)

    def _terms_of(self, ask: Ask) -> LeaseRequest | Refusal:
        """Return the terms of an ask, with the project to which the lease is to belong."""
        party = ask.on_behalf_of
        if party is None or party.project_id is None:
            return ask.terms
        if self._projects is not None and party.project_id not in self._projects:
            return Refusal(self._name, RefusalReason.PROJECT, f"no leases are granted for project {party.project_id}")
        return replace(ask.terms, user=party.project_id)

    def _made(self, ask: Ask, held_for: int | None) -> Bid | Refusal:
        terms = self._terms_of(ask)
        if isinstance(terms, Refusal):
            return terms
        if terms.lease_id in self._withdrawn:
            return Refusal(self._name, RefusalReason.ID_TAKEN, "the id is that of a request that was given up")
        known = self._asked.get(terms.lease_id)
        if known is not None:
            lease = self._site.engine.lease(terms.lease_id)
            if known != terms or lease is None:
                message = "the id is that of a lease that has ended, or of another request"
                return Refusal(self._name, RefusalReason.ID_TAKEN, message)
            return self._bid(lease)
        quote = self.quote(ask)
        if isinstance(quote, Refusal):
            return quote
        self._asked[terms.lease_id] = terms
        try:
            real = self._real_durations.get(terms.lease_id)
            scaled = None if real is None else self._seconds(terms.kind, real)
            lease = self._site.decide(self._at_speed(terms), offered_for=held_for, real_duration=scaled)
        except InvalidValueError as error:
            del self._asked[terms.lease_id]
            return self._invalid(error)
        if lease.is_final:
            del self._asked[terms.lease_id]
            self._site.engine.forget_refused(terms.lease_id)
            return Refusal(self._name, RefusalReason.POLICY, lease.reason)
        return replace(self._bid(lease), preempts=quote.preempts)

    # -- what is held or granted -----------------------------------------------------------------------------

    def accept(self, lease_id: str) -> Bid | Refusal:
        """See ``Member``."""
        lease = self._latest(lease_id)
        if lease is None:
            return self._unknown(lease_id)
        if lease.is_final:
            return self._over(lease)
        if lease.is_offered:
            self._site.engine.held.accept(lease_id)
            self._site.step()
            return self._granted(lease_id)
        return self._bid(lease)

    def reject(self, lease_id: str) -> Released | Refusal:
        """See ``Member``."""
        lease = self._latest(lease_id)
        if lease is None:
            self._withdrawn.add(lease_id)
        elif not lease.is_final:
            if not lease.is_offered:
                return Refusal(self._name, FederationReason.OTHER, f"lease {lease_id} was accepted; end it instead")
            self._site.engine.held.reject(lease_id)
            self._site.step()
        return Released()

    def end(self, lease_id: str) -> Released:
        """See ``Member``."""
        lease = self._latest(lease_id)
        if lease is None:
            self._withdrawn.add(lease_id)
        elif not lease.is_final:
            self._site.engine.end(lease_id)
            self._site.step()
        return Released()

    def change(self, lease_id: str, terms: LeaseRequest) -> Bid | Refusal:
        """See ``Member``."""
        lease = self._latest(lease_id)
        if lease is None:
            return self._unknown(lease_id)
        if lease.is_final:
            return self._over(lease)
        try:
            request = lease.request
            changed = replace(self._at_speed(terms), submitted=request.submitted, user=request.user)
            self._site.engine.change(lease_id, changed)
        except NoPlaceError as error:
            return self._refusal(error.refusal)
        except InvalidValueError as error:
            return Refusal(self._name, FederationReason.UNSUPPORTED, str(error))
        self._site.step()
        return self._granted(lease_id)

    # -- looking at it ---------------------------------------------------------------------------------------

    def show(self, lease_id: str) -> MemberTransition | Refusal:
        """See ``Member``."""
        return self._last.get(lease_id) or self._unknown(lease_id)

    def events(self, since: int) -> Events:
        """See ``Member``."""
        return Events(min(since, len(self._transitions)), tuple(self._transitions[since:]))

    def follow(self, told: Callable[[MemberTransition], None]) -> None:
        """Have a function told of each transition when it happens."""
        self._followers.append(told)

    # -- the site --------------------------------------------------------------------------------------------

    def _seconds(self, kind: LeaseKind, duration: int) -> int:
        """Return the seconds for which a lease has the hosts of this site."""
        return ceil(duration / self._speed) if kind in _WORK else duration

    def _at_speed(self, terms: LeaseRequest) -> LeaseRequest:
        """Return the terms with the duration that they have at this site."""
        seconds = self._seconds(terms.kind, terms.duration)
        return terms if seconds == terms.duration else replace(terms, duration=seconds)

    def _saved(self, lease: Lease) -> None:
        """Number a transition of a lease that a peer has asked for."""
        if lease.lease_id not in self._asked:
            return
        before = self._last.get(lease.lease_id)
        if before is None or before.state is not lease.state:
            number, now = len(self._transitions) + 1, self._site.clock.now()
            self._last[lease.lease_id] = MemberTransition(number, lease.lease_id, now, lease.state, lease.reason)
            self._transitions.append(self._last[lease.lease_id])
            for told in self._followers:
                told(self._last[lease.lease_id])

    def _latest(self, lease_id: str) -> Lease | None:
        return self._site.store.lease(lease_id) if lease_id in self._asked else None

    def _granted(self, lease_id: str) -> Bid | Refusal:
        lease = self._latest(lease_id)
        assert lease is not None
        return self._over(lease) if lease.is_final else self._bid(lease)

    def _bid(self, lease: Lease) -> Bid:
        holdings = lease.holdings
        first = lease.started if lease.started is not None else (holdings[0].run_start if holdings else None)
        end = holdings[-1].run_end if holdings else None
        return Bid(
            self._name,
            lease.lease_id,
            None if end is None else first,
            end,
            price=lease.grant.price,
            held_until=lease.offered_until,
        )

    def _refusal(self, found: SiteRefusal) -> Refusal:
        near = tuple(
            Alternative(self._name, each.start, each.start + each.duration, each.nodes) for each in found.alternatives
        )
        return Refusal(self._name, found.reason, found.message, near)

    def _invalid(self, error: InvalidValueError) -> Refusal:
        reason = RefusalReason.DEADLINE if error.field == "deadline" else RefusalReason.PAST
        return Refusal(self._name, reason, str(error))

    def _over(self, lease: Lease) -> Refusal:
        message = f"lease {lease.lease_id} is over: {lease.state.value}, {lease.reason}"
        return Refusal(self._name, FederationReason.EXPIRED, message)

    def _unknown(self, lease_id: str) -> Refusal:
        return Refusal(self._name, FederationReason.UNKNOWN, f"there is no lease {lease_id}")
