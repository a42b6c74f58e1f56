"""What a gateway does without a request: it goes on with negotiations, and follows its members."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import replace
from functools import partial

from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.federation.answers import Unanswered
from lease_scheduler.federation.members import Verb
from lease_scheduler.records.federated import FederatedLease, FollowedMember, GatewayChanges, OutdatedError
from lease_scheduler.service.gateway.calling import Hands, Members
from lease_scheduler.service.gateway.driver import Driver, is_unheard
from lease_scheduler.service.gateway.interfaces import GatewaySettings, GatewayStore
from lease_scheduler.service.rounds import UpkeepWorker

#: Leases that are taken up in one round.
_MOST = 64
#: Seconds between two looks for leases that another thread or gateway has left, and after an error.
_PAUSE, _RETRY = 1.0, 5.0
#: Seconds between two descriptions of a member.
_DESCRIBE = 60.0
#: Seconds for which a stop waits for calls, which are made again after the next start.
_PATIENCE = 5.0


class Negotiations(UpkeepWorker):
    """Goes on with all negotiations in which something is due, beginning with those that a stop has interrupted.

    :param name: name of this process, which no other gateway has
    :param hands: drives several leases at the same time
    """

    def __init__(self, store: GatewayStore, driver: Driver, clock: WaitingClock, hands: Hands, name: str) -> None:
        super().__init__("negotiations", _RETRY)
        self.patience = _PATIENCE
        self._store = store
        self._driver = driver
        self._clock = clock
        self._hands = hands
        self._owner = name

    def round(self, now: float) -> float | None:
        """Drive what is due."""
        ids = self._store.due(self._clock.now(), self._owner, _MOST)
        begun = [self._hands.begin(partial(self._go_on, lease_id)) for lease_id in ids]
        wait(begun)
        for each in begun:
            each.result()
        following = self._store.next_due()
        return _PAUSE if following is None else min(_PAUSE, max(0.1, self._clock.seconds_until(following)))

    def _go_on(self, lease_id: str) -> None:
        self._driver.drive(lease_id)
        lease = self._store.lease(lease_id)
        if lease is not None and is_unheard(lease):
            self._driver.look(lease_id)


class Following(UpkeepWorker):
    """Takes over what a member tells of its leases, and notes whether it can be reached.

    :param member: name of the member
    """

    def __init__(
        self,
        member: str,
        store: GatewayStore,
        members: Members,
        driver: Driver,
        clock: WaitingClock,
        settings: GatewaySettings,
    ) -> None:
        super().__init__(f"following-{member}", _RETRY)
        self.patience = _PATIENCE
        self._member = member
        self._store = store
        self._members = members
        self._driver = driver
        self._clock = clock
        self._settings = settings
        self._failures = 0
        self._described_at: float | None = None

    def round(self, now: float) -> float | None:
        """Take over one page of transitions."""
        known = self._store.followed(self._member)
        is_described = False
        if self._described_at is None or now - self._described_at >= _DESCRIBE:
            self._described_at = now
            is_described = self._members.describe(self._member)
        described = self._members.described(self._member)
        if described is not None and Verb.EVENTS not in described.verbs:
            # An older site does not tell of its leases, so they are looked at one by one.
            self._note(known, is_reachable=is_described)
            for lease_id in self._store.live_at(self._member) if is_described else ():
                self._driver.look(lease_id)
            return _DESCRIBE
        found = self._members.events(self._member, known.sequence)
        if isinstance(found, Unanswered):
            self._failures += 1
            self._note(known, is_reachable=False)
            return float(self._settings.pause(self._failures))
        self._failures = 0
        if found.since < known.sequence:
            for lease_id in self._store.live_at(self._member):
                self._driver.look(lease_id)
        ids = self._store.by_site_lease(each.lease_id for each in found.transitions)
        for each in found.transitions:
            if each.lease_id in ids:
                self._driver.report(ids[each.lease_id], self._member, each)
        self._note(replace(known, sequence=found.latest), is_reachable=True, was=known)
        return 0.0 if found.latest > known.sequence else float(self._settings.poll)

    def _note(self, member: FollowedMember, *, is_reachable: bool, was: FollowedMember | None = None) -> None:
        """Write how far the member was followed, and whether its leases are out of reach."""
        now = self._clock.now()
        since = None if is_reachable else member.unreachable_since if member.unreachable_since is not None else now
        noted = replace(member, unreachable_since=since)
        if noted == (was or member):
            return
        while True:
            leases: list[FederatedLease] = []
            if (since is None) != (member.unreachable_since is None):
                leases = [
                    replace(each, document=replace(each.document, unreachable=not is_reachable))
                    for each in self._store.leases(self._store.live_at(self._member))
                ]
            try:
                self._store.commit(GatewayChanges(now, leases, members=[noted]))
            except OutdatedError:
                continue
            return


def workers_of(
    store: GatewayStore,
    members: Members,
    driver: Driver,
    clock: WaitingClock,
    settings: GatewaySettings,
    name: str,
    make_hands: Callable[[], Hands],
) -> tuple[UpkeepWorker, ...]:
    """Return the workers of a gateway.

    :param name: name of this process, which no other gateway has
    """
    following = (Following(each, store, members, driver, clock, settings) for each in members.names)
    return (Negotiations(store, driver, clock, make_hands(), name), *following)
