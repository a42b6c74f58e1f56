"""Tenants of a world: each is a process with a stream of random numbers of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from random import Random

from lease_scheduler.rehearsal.actors.bookings import BOOKINGS, Client, Desk, Verb
from lease_scheduler.rehearsal.actors.clients import NO_ANSWER
from lease_scheduler.rehearsal.actors.hasty import HASTY, MEDDLING
from lease_scheduler.rehearsal.actors.servers import SERVERS
from lease_scheduler.rehearsal.actors.strangers import STRANGERS
from lease_scheduler.rehearsal.story import Ledger, Story
from lease_scheduler.rehearsal.swarm import chosen, stream

#: Seconds between two visits of a tenant: mean of an exponential distribution.
_MEAN_PAUSE = 120.0

#: Verbs that every world has, as nothing happens in one without them.
_ALWAYS = ("book", "boot")

#: Name -> verb of tenants, with the weight by which they choose it.
VERBS: Mapping[str, tuple[Verb, float]] = {**BOOKINGS, **HASTY, **MEDDLING, **SERVERS}


def known_verbs(*, with_nova: bool) -> tuple[str, ...]:
    """Return the names of the verbs of tenants and strangers.

    :param with_nova: whether there are servers
    """
    return (*BOOKINGS, *HASTY, *MEDDLING, *SERVERS, *STRANGERS) if with_nova else (*BOOKINGS, *HASTY)


def verbs_for(seed: int, *, with_nova: bool) -> tuple[str, ...]:
    """Return the names of the verbs that a seed switches on.

    :param with_nova: whether there are servers
    """
    known = known_verbs(with_nova=with_nova)
    used = {*chosen(seed, "verbs", known), *_ALWAYS}
    return tuple(name for name in known if name in used)


class Tenant:
    """A tenant, or a stranger, who visits the service until the world ends.

    :param name: name of the person; a project may have several
    :param connect: makes their client, when the tenant begins
    :param verbs: name -> verb and weight; nothing is done without any
    """

    def __init__(
        self,
        seed: int,
        name: str,
        project: str,
        connect: Callable[[], Client],
        verbs: Mapping[str, tuple[Verb, float]],
        story: Story,
        ledger: Ledger,
    ) -> None:
        self._random: Random = stream(seed, f"tenant {name}")
        self._name = name
        self._project, self._connect, self._verbs, self._story, self._ledger = project, connect, verbs, story, ledger

    def run(self) -> None:
        """Be the main thread of a process."""
        desk = Desk(self._connect(), self._project, self._random, self._story, self._ledger, self._name)
        names = list(self._verbs)
        weights = [self._verbs[name][1] for name in names]
        while names:
            time.sleep(self._random.expovariate(1.0 / _MEAN_PAUSE))
            (name,) = self._random.choices(names, weights)
            try:
                self._verbs[name][0](desk)
            except NO_ANSWER as error:
                # People see that something is away sometimes, and come back later.
                self._story.tell(self._name, f"gets no answer to {name}: {type(error).__name__}")
