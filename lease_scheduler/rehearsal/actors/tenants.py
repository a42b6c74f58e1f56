"""Tenants of a world: each is a process with a stream of random numbers of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from random import Random

from lease_scheduler.rehearsal.actors.bookings import BOOKINGS, Client, Desk, Verb
from lease_scheduler.rehearsal.actors.clients import NO_ANSWER
from lease_scheduler.rehearsal.actors.servers import SERVERS
from lease_scheduler.rehearsal.story import Ledger, Story
from lease_scheduler.rehearsal.swarm import chosen, stream

#: Seconds between two visits of a tenant: mean of an exponential distribution.
_MEAN_PAUSE = 300.0

#: Verbs that every world has, as nothing happens in one without them.
_ALWAYS = ("book", "boot")


def verbs(seed: int, *, with_nova: bool) -> dict[str, tuple[Verb, float]]:
    """Return the verbs that a seed switches on, with their weights.

    :param with_nova: whether there are servers
    """
    known = {**BOOKINGS, **(SERVERS if with_nova else {})}
    used = {*chosen(seed, "verbs", tuple(known)), *_ALWAYS}
    return {name: each for name, each in known.items() if name in used}


class Tenant:
    """A tenant who visits the service until the world ends.

    :param connect: makes their client, when the tenant begins
    :param verbs: name -> verb and weight
    """

    def __init__(
        self,
        seed: int,
        project: str,
        connect: Callable[[], Client],
        verbs: Mapping[str, tuple[Verb, float]],
        story: Story,
        ledger: Ledger,
    ) -> None:
        self._random: Random = stream(seed, f"tenant {project}")
        self._project, self._connect, self._verbs, self._story, self._ledger = project, connect, verbs, story, ledger

    def run(self) -> None:
        """Be the main thread of a process."""
        desk = Desk(self._connect(), self._project, self._random, self._story, self._ledger)
        names = list(self._verbs)
        weights = [self._verbs[name][1] for name in names]
        while True:
            time.sleep(self._random.expovariate(1.0 / _MEAN_PAUSE))
            (name,) = self._random.choices(names, weights)
            try:
                self._verbs[name][0](desk)
            except NO_ANSWER as error:
                # People see that something is away sometimes, and come back later.
                self._story.tell(self._project, f"gets no answer to {name}: {type(error).__name__}")
