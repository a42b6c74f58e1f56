"""The driver of negotiations: it writes each record first, and then makes the calls that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from threading import Condition

from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.federation.answers import Answer, Refusal, Unanswered
from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.federation.members import MemberTransition, Verb
from lease_scheduler.federation.negotiation.advance import advance, begin, next_instant
from lease_scheduler.federation.negotiation.calls import Call, Choose, due
from lease_scheduler.federation.negotiation.events import Answered, Chosen, Event, Reported, TimePassed
from lease_scheduler.federation.negotiation.record import Candidate, Negotiation, Stage
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.federated import FederatedLease, GatewayChanges, OutdatedError, StoredRouting
from lease_scheduler.records.history import Actor, Transition
from lease_scheduler.service.gateway.calling import Members
from lease_scheduler.service.gateway.interfaces import GatewaySettings, GatewayStore
from lease_scheduler.service.gateway.mirror import mirrored, placed_at
from lease_scheduler.service.gateway.routing import Router

#: Whether a record has all that somebody waits for.
IsEnough = Callable[[Negotiation], bool]


def _never(record: Negotiation) -> bool:
    return False


#: How often a change of a record is tried again that another thread or gateway has got ahead of.
_ATTEMPTS = 20


class Driver:
    """Drives negotiations. Any number of threads and gateways may do so with the same database.

    Each write has the condition that nobody else has written the lease since it was read. Whoever has got behind reads
    the record again, and applies what came of its calls to that one.

    :param store: the database
    :param members: the members
    :param router: chooses members
    :param clock: the clock of the gateway
    :param settings: settings
    :param name: name of this process, which no other gateway has
    """

    def __init__(
        self,
        store: GatewayStore,
        members: Members,
        router: Router,
        clock: WaitingClock,
        settings: GatewaySettings,
        name: str,
    ) -> None:
        self._store = store
        self._members = members
        self._router = router
        self._clock = clock
        self._settings = settings
        self._name = name
        self._changed = Condition()
        self._driven: set[str] = set()

    # -- beginning -------------------------------------------------------------------------------------------

    def begin(
        self, ask: Ask, document: LeaseDocument, actor: Actor | None, among: Sequence[str] | None = None
    ) -> FederatedLease | Refusal:
        """Write the first record of a lease, or return the refusal of an ask that must not be passed on.

        :param among: names of the members that may be asked; None for all
        :raises OutdatedError: there is a lease with this id already
        """
        now = self._clock.now()
        projects = self._settings.projects
        candidates = [
            Candidate(name, self._can_hold(name), projects.refusal(ask, name)) for name in among or self._members.names
        ]
        record = begin(ask, candidates, self._settings.mode.for_kind(ask.terms.kind), self._settings.rules, now)
        if isinstance(record, Refusal):
            return record
        lease = FederatedLease(Lease(ask.terms, 0), document, record)
        return self._write(lease, record, actor=actor, is_driven=True)

    def _can_hold(self, name: str) -> bool:
        described = self._members.described(name)
        return described is None or described.can_hold

    def lease(self, lease_id: str) -> FederatedLease:
        """Return a lease as it is written.

        :raises LookupError: there is no such lease
        """
        lease = self._store.lease(lease_id)
        if lease is None:
            raise LookupError(lease_id)
        return lease

    # -- events ----------------------------------------------------------------------------------------------

    def note(
        self, lease_id: str, event: Callable[[FederatedLease], Event], actor: Actor | None = None
    ) -> FederatedLease:
        """Write what an event makes of a lease, and have what follows from it done soon.

        :param event: returns the event for the present value of the lease
        :raises InvalidValueError: it cannot happen now
        :raises LookupError: there is no such lease
        """
        return self._update(lease_id, lambda lease, now: advance(lease.negotiation, event(lease), now), actor)

    def remark(self, lease_id: str, change: Callable[[LeaseDocument], LeaseDocument]) -> None:
        """Change what is kept of a lease beside its terms.

        :raises LookupError: there is no such lease
        """
        for _ in range(_ATTEMPTS):
            lease = self.lease(lease_id)
            try:
                self._write(lease, lease.negotiation, document=change(lease.document))
            except OutdatedError:
                continue
            return
        raise OutdatedError(f"lease {lease_id} is written all the time")

    def report(self, lease_id: str, member: str, transition: MemberTransition) -> None:
        """Take over what a member tells of a lease, unless something later is known already.

        What it tells of a lease of which nothing was heard may be from before the grant, so it is asked for the latest.
        """
        lease = self._store.lease(lease_id)
        if lease is not None and not lease.heard:
            self.look(lease_id)
        else:
            self._take_over(lease_id, member, transition, is_latest=False)

    def look(self, lease_id: str) -> None:
        """Ask the member of a granted lease for its latest transition, and take it over."""
        lease = self._store.lease(lease_id)
        placed = None if lease is None else lease.negotiation.placed
        if lease is None or placed is None:
            return
        found = self._members.show(placed.member, lease_id_at(placed.member, lease_id))
        if isinstance(found, MemberTransition):
            self._take_over(lease_id, placed.member, found, is_latest=True)
        elif isinstance(found, Refusal):
            self.note(lease_id, lambda _: Answered(placed.member, Verb.SHOW, found))

    def _take_over(self, lease_id: str, member: str, transition: MemberTransition, *, is_latest: bool) -> None:
        """Take over a transition.

        :param is_latest: whether the member was asked for its latest one; its number may then be less than one that is
            known, as it has lost some
        """
        lease = self._store.lease(lease_id)
        for _ in range(_ATTEMPTS):
            if lease is None or (not is_latest and transition.sequence <= lease.heard):
                return
            record = advance(lease.negotiation, Reported(member, transition), self._clock.now())
            try:
                self._write(lease, record, heard=transition)
            except OutdatedError:
                lease = self._store.lease(lease_id)
            else:
                return

    def _update(
        self,
        lease_id: str,
        step: Callable[[FederatedLease, int], Negotiation],
        actor: Actor | None = None,
        present: FederatedLease | None = None,
        *,
        is_driven: bool = False,
        is_waiting: bool = True,
    ) -> FederatedLease:
        """Write what a step makes of a lease, or of what somebody else has written meanwhile.

        :param is_driven: whether this process makes its calls from now on
        :param is_waiting: whether it waits for answers; without, it lets the lease go if no call is due
        """
        lease = present or self.lease(lease_id)
        for _ in range(_ATTEMPTS):
            record = step(lease, self._clock.now())
            try:
                return self._write(
                    lease, record, actor=actor, is_driven=is_driven and (is_waiting or bool(due(record)))
                )
            except OutdatedError:
                lease = self.lease(lease_id)
        raise OutdatedError(f"lease {lease_id} is written all the time")

    # -- driving ---------------------------------------------------------------------------------------------

    def drive(self, lease_id: str, until: int | None = None, is_enough: IsEnough = _never) -> None:
        """Make the calls that are due for a lease, and those that follow from their answers.

        Calls without an answer are made again later, in another round. Nothing is done if this process, or another
        gateway, drives the lease already.

        :param until: instant from which on answers are not waited for; None to wait for all of them
        :param is_enough: whether a record has all that the caller waits for; further answers are not waited for then
        """
        with self._changed:
            if lease_id in self._driven:
                return
            self._driven.add(lease_id)
        try:
            self._drive(lease_id, until, is_enough)
        finally:
            with self._changed:
                self._driven.discard(lease_id)
                self._changed.notify_all()

    def wait(self, lease_id: str, until: int, is_decided: IsEnough) -> FederatedLease:
        """Drive a lease, or wait for the one who does, until something is decided or an instant has come.

        :raises LookupError: there is no such lease
        """
        while True:
            self.drive(lease_id, until, is_decided)
            lease = self.lease(lease_id)
            now = self._clock.now()
            if now >= until or is_decided(lease.negotiation):
                return lease
            instants = [until] if lease.due_at is None else [until, max(lease.due_at, now + 1)]
            with self._changed:
                self._changed.wait(min(1.0, self._clock.seconds_until(min(instants))))

    def _drive(self, lease_id: str, until: int | None, is_enough: IsEnough) -> None:
        lease = self._claimed(lease_id)
        if lease is None:
            return
        while lease is not None:
            lease = self._round(lease, until, is_enough)
            if lease.driver is None:
                return
            try:
                self._write(lease, lease.negotiation, ends_round=True)
            except OutdatedError:
                # Its client wants something else by now.
                lease = self._store.lease(lease_id)
            else:
                return

    def _round(self, lease: FederatedLease, until: int | None, is_enough: IsEnough) -> FederatedLease:
        """Make each call that is due or becomes due, at most once, and return the lease after their answers."""
        made: set[tuple[str, Verb]] = set()
        running: dict[Future[Answer], Call] = {}
        while True:
            choice = next((each for each in due(lease.negotiation) if isinstance(each, Choose)), None)
            if choice is not None:
                lease = self._chosen(lease, choice)
                continue
            for each in due(lease.negotiation):
                if isinstance(each, Call) and (each.member, each.verb) not in made:
                    made.add((each.member, each.verb))
                    running[self._members.begin(each)] = each
            if not running:
                return lease
            is_done = is_enough(lease.negotiation)
            seconds = 0.0 if is_done else None if until is None else self._clock.seconds_until(until)
            done, _ = wait(running, seconds, FIRST_COMPLETED)
            if not done and is_done:
                return lease
            if done:
                answers = [_answered(running.pop(each), each.result()) for each in done]
            else:
                answers = [_answered(each, Unanswered()) for each in running.values()]
                running.clear()
                # What follows is for the worker, as the client has waited for long enough.
                made = {(name, verb) for name in self._members.names for verb in Verb}
            lease = self._update(
                lease.lease_id, _all_of(answers), present=lease, is_driven=True, is_waiting=bool(running)
            )

    def _claimed(self, lease_id: str) -> FederatedLease | None:
        """Return the lease, which no other gateway drives from now on; None if one does, or there is none."""
        lease = self._store.lease(lease_id)
        now = self._clock.now()
        if lease is None or (
            lease.driver not in (None, self._name) and lease.driven_until is not None and now < lease.driven_until
        ):
            return None
        record = advance(lease.negotiation, TimePassed(), now)
        if lease.driver == self._name and record == lease.negotiation:
            return lease
        try:
            return self._write(lease, record, is_driven=True)
        except OutdatedError:
            return None

    def _chosen(self, lease: FederatedLease, choice: Choose) -> FederatedLease:
        """Return the lease after a choice, or its present value if that has changed meanwhile."""
        member, routing = self._router.chosen(lease.negotiation, choice.among, self._store.routing())
        try:
            record = advance(lease.negotiation, Chosen(member), self._clock.now())
            return self._write(lease, record, routing=routing, is_driven=True)
        except (InvalidValueError, OutdatedError):
            return self._update(lease.lease_id, _after_time, is_driven=True)

    # -- writing ---------------------------------------------------------------------------------------------

    def _write(
        self,
        lease: FederatedLease,
        record: Negotiation,
        *,
        is_driven: bool = False,
        ends_round: bool = False,
        actor: Actor | None = None,
        heard: MemberTransition | None = None,
        routing: StoredRouting | None = None,
        document: LeaseDocument | None = None,
    ) -> FederatedLease:
        """Write a lease with a record, and what follows from it.

        :param is_driven: whether this process makes its calls from now on
        :param ends_round: whether a round of calls is over, so that those that are still due were not answered
        :raises OutdatedError: somebody has written it meanwhile
        """
        now = self._clock.now()
        shown = mirrored(lease.lease, record, now, heard)
        failures = lease.failures + ends_round if due(record) else 0
        written = replace(
            lease,
            lease=shown,
            document=placed_at(document or lease.document, record),
            negotiation=record,
            failures=failures,
            # Transitions of older sites have no numbers.
            heard=lease.heard if heard is None else max(1, heard.sequence),
            driver=self._name if is_driven else None,
            driven_until=now + self._settings.drive_time if is_driven else None,
        )
        due_at = written.driven_until if is_driven else self._due_at(written, now, waits=ends_round)
        transitions = []
        if shown.state is not lease.lease.state or record.stage is not lease.negotiation.stage or not lease.version:
            transitions.append(_transition(lease, written, now, actor))
        changes = GatewayChanges(now, [replace(written, due_at=due_at)], transitions, routing)
        (found,) = self._store.commit(changes)
        with self._changed:
            self._changed.notify_all()
        return found

    def _due_at(self, lease: FederatedLease, now: int, *, waits: bool) -> int | None:
        """Return the instant from which on something is to be done for a lease that nobody drives.

        :param waits: whether calls that are due wait for a while
        """
        record = lease.negotiation
        instants = [instant for instant in [next_instant(record)] if instant is not None]
        if due(record):
            instants.append(now + self._settings.pause(lease.failures) if waits else now)
        if is_unheard(lease):
            instants.append(now + self._settings.poll)
        return min(instants, default=None)


def is_unheard(lease: FederatedLease) -> bool:
    """Return whether a granted lease must be looked at by itself.

    Its member has told nothing of it, or what it told before the grant was written was told in vain.
    """
    return lease.negotiation.stage is Stage.PLACED and not lease.heard


def _answered(call: Call, answer: Answer) -> Answered:
    return Answered(call.member, call.verb, answer)


def _all_of(events: Sequence[Event]) -> Callable[[FederatedLease, int], Negotiation]:
    def step(lease: FederatedLease, now: int) -> Negotiation:
        record = lease.negotiation
        for event in events:
            record = advance(record, event, now)
        return record

    return step


def _after_time(lease: FederatedLease, now: int) -> Negotiation:
    return advance(lease.negotiation, TimePassed(), now)


def _transition(before: FederatedLease, after: FederatedLease, now: int, actor: Actor | None) -> Transition:
    stages = before.negotiation.stage, after.negotiation.stage
    reason = after.lease.reason or stages[1].value
    old = before.lease.state.value
    return Transition(after.lease_id, now, old, after.lease.state.value, reason, actor)
