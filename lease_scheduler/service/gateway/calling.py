"""Calls to members, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

from lease_scheduler.federation.answers import Answer, Bid, Refusal, Unanswered
from lease_scheduler.federation.asks import Ask
from lease_scheduler.federation.members import Events, Member, MemberDescription, MemberTransition
from lease_scheduler.federation.negotiation.calls import Call
from lease_scheduler.service.gateway.breaker import Breaker, Reachability

Found = TypeVar("Found")


class Hands(Protocol):
    """What makes calls, or does other work, beside the caller."""

    def begin(self, work: Callable[[], Found]) -> Future[Found]:
        """Begin a piece of work."""
        ...

    def end(self) -> None:
        """Begin nothing more, and do not wait for what has begun."""
        ...


class Threads:
    """Does up to so many pieces of work at a time, each in a thread."""

    def __init__(self, most: int, name: str) -> None:
        self._pool: Executor = ThreadPoolExecutor(most, name)

    def begin(self, work: Callable[[], Found]) -> Future[Found]:
        """See ``Hands``."""
        return self._pool.submit(work)

    def end(self) -> None:
        """See ``Hands``."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class AtOnce:
    """Does each piece of work at once, in the thread of the caller, so that the same steps do the same."""

    def begin(self, work: Callable[[], Found]) -> Future[Found]:
        """See ``Hands``. An error of the work is raised here."""
        done: Future[Found] = Future()
        done.set_result(work())
        return done

    def end(self) -> None:
        """See ``Hands``."""


class Members:
    """The members of a gateway, with a breaker for each.

    :param members: the members, in the configured order
    :param now: returns the present instant
    :param hands: makes the calls that are made at the same time
    :ivar names: the names, in the configured order
    """

    def __init__(self, members: Sequence[Member], now: Callable[[], int], hands: Hands) -> None:
        self._members: Mapping[str, Member] = {each.name: each for each in members}
        self._breakers = {name: Breaker(now) for name in self._members}
        self._hands = hands
        self._described: dict[str, MemberDescription] = {}
        self.names: tuple[str, ...] = tuple(self._members)

    def begin(self, call: Call) -> Future[Answer]:
        """Begin a call. It has an answer in any case, which may be that there is none."""
        return self._hands.begin(lambda: self._guarded(call.member, call.made_to))

    def quotes(self, names: Sequence[str], ask: Ask, by: str, seconds: float) -> dict[str, Bid | Refusal | Unanswered]:
        """Return what members would grant, all asked at the same time.

        :param by: name of the gateway
        :param seconds: time after which a member counts as one that does not answer
        """
        asked = {
            name: self._hands.begin(
                lambda name=name: self._guarded(name, lambda member: member.quote(ask.passed_on(by, name)))  # type: ignore[misc]
            )
            for name in names
        }
        wait(asked.values(), seconds)
        return {name: future.result() if future.done() else Unanswered() for name, future in asked.items()}

    def show(self, name: str, lease_id: str) -> MemberTransition | Refusal | Unanswered:
        """Return the latest transition of a lease at a member."""
        return self._guarded(name, lambda member: member.show(lease_id))

    def events(self, name: str, since: int) -> Events | Unanswered:
        """Return the transitions at a member after a number. This is asked even if the member does not answer else."""
        found = self._members[name].events(since)
        self._breakers[name].note(is_answered=not isinstance(found, Unanswered))
        return found

    def end_at(self, name: str, lease_id: str) -> object:
        """End a lease at a member, and return the answer."""
        return self._guarded(name, lambda member: member.end(lease_id))

    def describe(self, name: str) -> bool:
        """Ask a member to describe itself, and return whether it does."""
        found = self._guarded(name, lambda member: member.describe())
        if not isinstance(found, MemberDescription):
            return False
        self._described[name] = found
        return True

    def described(self, name: str) -> MemberDescription | None:
        """Return the latest description of a member. It is asked for one only if it has never given any."""
        if name not in self._described:
            self.describe(name)
        return self._described.get(name)

    def known(self, name: str) -> MemberDescription | None:
        """Return the latest description of a member without asking it for one."""
        return self._described.get(name)

    def reachability(self, name: str) -> Reachability:
        """Return how a member answers."""
        return self._breakers[name].reachability()

    def end(self) -> None:
        """Begin no further call."""
        self._hands.end()

    def _guarded(self, name: str, call: Callable[[Member], Found]) -> Found | Unanswered:
        breaker = self._breakers[name]
        if not breaker.lets_through():
            return Unanswered()
        answer = call(self._members[name])
        breaker.note(is_answered=not isinstance(answer, Unanswered))
        return answer
