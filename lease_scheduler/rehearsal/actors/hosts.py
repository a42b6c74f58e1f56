"""What happens to compute hosts: they are down, slow, or fail at what they are told to do, and are well again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorCall, HypervisorError, Proceed
from lease_scheduler.rehearsal.disturbances import Disturbances
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.rehearsal.site import CloudSite
from lease_scheduler.rehearsal.story import Story
from lease_scheduler.rehearsal.swarm import chosen, pace, stream

#: Seconds between two of them at most: mean of an exponential distribution.
_MEAN_PAUSE = 3_000.0

#: What may happen -> least and most seconds that it takes.
FATES: Mapping[str, tuple[float, float]] = {
    "down": (30.0, 3_600.0),
    "slow": (60.0, 1_800.0),
    "failing": (60.0, 1_800.0),
    "deaf": (30.0, 600.0),
}

#: Probability that a failing host fails at a call, and that a message to a deaf one is lost.
_FAILS, _IS_LOST = 0.3, 0.3

#: Seconds by which a slow host is slower: mean of an exponential distribution.
_SLOWNESS = 60.0


#: Seconds for which it may go unnoticed that Nova has lost a command: until a lease needs the host.
_UNNOTICED = 3_600.0


def fates_for(seed: int) -> tuple[str, ...]:
    """Return the names of what may happen to hosts with a seed."""
    return chosen(seed, "hosts", tuple(FATES))


class HostFates:
    """Decides what happens to hosts, by a stream of random numbers of its own.

    :param fates: names from ``FATES``
    :param calm: true seconds since the world began after which all hosts are well
    """

    def __init__(
        self,
        seed: int,
        fates: Sequence[str],
        scheduler: Scheduler,
        site: CloudSite,
        story: Story,
        disturbances: Disturbances,
        calm: float,
    ) -> None:
        self._random: Random = stream(seed, "hosts")
        self._scheduler, self._site, self._story, self._calm = scheduler, site, story, calm
        self._fates, self._disturbances = fates, disturbances
        self._mean_pause = _MEAN_PAUSE * pace(seed)
        self._now: dict[str, str] = {}
        computes = site.cloud.computes
        computes.hypervisor = self._hypervisor
        computes.delivers = self._delivers
        if self._fates:
            self._wait()

    def _wait(self) -> None:
        self._scheduler.call_later(self._random.expovariate(1.0 / self._mean_pause), self._strike)

    def _strike(self) -> None:
        if self._scheduler.now >= self._calm:
            return
        host, fate = self._random.choice(self._site.hosts), self._random.choice(self._fates)
        if host not in self._now:
            self._now[host] = fate
            self._story.tell(host, f"is {fate}")
            if fate == "down":
                self._site.cloud.computes.stop(host)
            seconds = min(self._random.uniform(*FATES[fate]), self._calm - self._scheduler.now)
            self._disturbances.add(fate, self._scheduler.now + seconds, host)
            self._scheduler.call_later(seconds, lambda: self._recover(host))
        self._wait()

    def _recover(self, host: str) -> None:
        if self._now.pop(host) == "down":
            self._site.cloud.computes.start(host)
        self._story.tell(host, "is well again")

    def _hypervisor(self, call: HypervisorCall, proceed: Proceed) -> None:
        fate = self._now.get(call.host)
        if fate == "failing" and self._random.random() < _FAILS:
            self._story.tell(call.host, f"fails to {call.method} server {call.server_id}")
            proceed(HypervisorError("the hypervisor has failed"))
        elif fate == "slow":
            seconds = self._random.expovariate(1.0 / _SLOWNESS)
            self._scheduler.call_later(seconds, lambda: proceed(None))
        else:
            proceed(None)

    def _delivers(self, method: str, server_id: str) -> bool:
        server = self._site.cloud.nova.servers[server_id]
        fate = self._now.get(server.host or server.planned or "")
        if fate == "deaf" and self._random.random() < _IS_LOST:
            host = server.host or server.planned or ""
            # Its server claims the host until somebody notices that Nova does nothing with it.
            self._disturbances.add("lost command", self._scheduler.now + _UNNOTICED, host)
            self._story.tell(host, f"never gets the message {method} of server {server_id}")
            return False
        return True
