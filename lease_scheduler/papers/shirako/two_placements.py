"""A broker that chooses hosts and a provider that may choose others (Grit 2007, section 6.4; shirako E16-E19).

A month of a site of 100 hosts and two users. Every five minutes, first one and then the other asks for as many slivers
of half a host as its load needs beyond what it has, for twelve hours each. At the end of a term, slivers that are still
needed are extended. The broker grants what fits into its calendar, by worst fit, and the provider puts the slivers on
hosts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Any, ClassVar

import numpy as np

from lease_scheduler.papers.shirako.month import DAYS, STEPS, WINDOW, means
from lease_scheduler.plan.capacity.availability import IntArray
from lease_scheduler.plan.capacity.worst_fit import emptiest_first, spread_worst_fit
from lease_scheduler.plan.changing.moves import Placement
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.relocation.base import RelocationPolicy
from lease_scheduler.policy.relocation.energy_aware import EnergyAware
from lease_scheduler.policy.relocation.follow_broker import FollowBroker
from lease_scheduler.simulation.generators.daily_load import (
    STEPS_PER_DAY,
    STEPS_PER_HOUR,
    CampaignLoad,
    DailyLoad,
    FloatArray,
    held_level,
)

BROKERS = ("in-place", "migrating")
PROVIDERS = ("follow-broker", "energy-aware")

_HOSTS = 100
_SLIVERS_PER_HOST = 2
_TERM = 12 * STEPS_PER_HOUR

#: CPU, memory, bandwidth and disk: a sliver has half of each.
_CLASSES = 4
_SLIVER: IntArray = np.ones(_CLASSES, dtype=np.int64)

_COMMERCE = DailyLoad(35, 20)
_BATCH = CampaignLoad(18, 60, 48, 110)


@dataclass(frozen=True)
class TwoPlacementsCase:
    """A month with one broker and one provider.

    :ivar broker: one of ``BROKERS``
    :ivar provider: one of ``PROVIDERS``
    :ivar seed: seed of the loads
    """

    broker: str
    provider: str
    seed: int
    cost_s: ClassVar[float] = 1.2

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"{self.broker} {self.provider} seed {self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        site = _Site(self.broker == "migrating", relocation(self.provider))
        loads = loads_of(self.seed)
        brokered, hosted, moved = [], [], []
        for step in range(STEPS):
            site.step(step, [ceil(load[step]) for load in loads])
            brokered.append(len(np.unique(site.wished)))
            hosted.append(len(np.unique(site.hosts)))
            moved.append(site.migrations)
        return {
            "migrations": site.migrations,
            "host_hours": sum(hosted) / STEPS_PER_HOUR,
            "broker_host_hours": sum(brokered) / STEPS_PER_HOUR,
            "refused": site.refused,
            "mean_slivers": site.slivers / STEPS,
            "hosts_by_day": means(hosted, STEPS_PER_DAY),
            "migrations_by_day": [moved[(day + 1) * STEPS_PER_DAY - 1] for day in range(DAYS)],
        }


def relocation(provider: str) -> RelocationPolicy:
    """Return the policy of a provider; below the threshold running slivers stay, as in the dissertation."""
    if provider == "follow-broker":
        return FollowBroker(PolicyOptions())
    return EnergyAware(PolicyOptions({"energy_aware_consolidates": "false"}))


def loads_of(seed: int) -> tuple[FloatArray, FloatArray]:
    """Return the loads of both users in slivers, shape (steps,): that of the service is filtered (section 4.7.1)."""
    return held_level(_COMMERCE.values(STEPS, seed), WINDOW), _BATCH.values(STEPS, seed)


@dataclass
class _Site:
    """The slivers of a site, in the order in which they were granted.

    :ivar migrates: whether the broker may give a sliver another host when it is extended
    :ivar policy: chooses the hosts of the provider
    :ivar users: user of each sliver
    :ivar ends: end of the term of each sliver
    :ivar wished: the host that the broker chose for each sliver
    :ivar hosts: the host that each sliver is on
    :ivar migrations: moves so far
    :ivar refused: slivers that users asked for in vain, summed over steps
    :ivar slivers: slivers that run, summed over steps
    """

    migrates: bool
    policy: RelocationPolicy
    users: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    ends: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    wished: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    hosts: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    migrations: int = 0
    refused: int = 0
    slivers: int = 0

    def step(self, now: int, needed: list[int]) -> None:
        """Extend and grant what users need, in the order of their priority, and let the provider follow."""
        due = self.ends <= now
        stays = ~due
        new: list[tuple[int, int]] = []
        for user, wanted in enumerate(needed):
            running = int((stays & (self.users == user)).sum())
            for sliver in np.flatnonzero(due & (self.users == user)).tolist():
                if running < wanted and self._extended(sliver, stays, new):
                    stays[sliver] = True
                    self.ends[sliver] = now + _TERM
                    running += 1
            counts = spread_worst_fit(self._free(stays, new), _SLIVER, max(0, wanted - running))
            new += [(user, host) for host in np.repeat(np.arange(_HOSTS), counts).tolist()]
            self.refused += max(0, wanted - running - int(counts.sum()))
        self.users, self.ends, self.wished, self.hosts = (
            each[stays] for each in (self.users, self.ends, self.wished, self.hosts)
        )
        self._relocate()
        for user, wished in new:
            self._start(user, wished, now + _TERM)
        self.slivers += len(self.users)

    def _free(self, stays: np.ndarray[Any, Any], new: list[tuple[int, int]]) -> IntArray:
        """Return what the broker has free on each host, shape (classes, hosts)."""
        taken = np.bincount(self.wished[stays], minlength=_HOSTS) + np.bincount(
            np.array([host for _, host in new], dtype=np.int64), minlength=_HOSTS
        )
        return np.tile(_SLIVERS_PER_HOST - taken, (_CLASSES, 1))

    def _extended(self, sliver: int, stays: np.ndarray[Any, Any], new: list[tuple[int, int]]) -> bool:
        """Find a host for a sliver for another term. Return whether there is one (shirako A17, A18)."""
        free = self._free(stays, new)
        here = int(self.wished[sliver])
        fits = bool((free[:, here] >= _SLIVER).all())
        if not self.migrates:
            return fits
        emptiest = int(emptiest_first(free)[0])
        if not fits and not (free[:, emptiest] >= _SLIVER).all():
            return False
        # A sliver moves if the emptiest host would then have fewer slivers than its own host has with it.
        # The sliver itself does not count in what is free, so both hosts would have one more.
        if not fits or free[0, emptiest] > free[0, here]:
            self.wished[sliver] = emptiest
        return True

    def _placement(self) -> Placement:
        capacity = np.full((_CLASSES, _HOSTS), _SLIVERS_PER_HOST, dtype=np.int64)
        free = capacity - np.bincount(self.hosts, minlength=_HOSTS)
        sizes = np.ones((_CLASSES, len(self.hosts)), dtype=np.int64)
        everywhere = np.ones(_HOSTS, dtype=bool)
        in_use = np.asarray((free < capacity).any(axis=0))
        return Placement(capacity, free, sizes, self.hosts, self.wished, everywhere, in_use)

    def _relocate(self) -> None:
        if not (self.hosts != self.wished).any():
            return
        for move in self.policy.moves(self._placement()):
            self.hosts[move.node] = move.to
            self.migrations += 1

    def _start(self, user: int, wished: int, end: int) -> None:
        host = self.policy.host_for(self._placement(), _SLIVER, wished)
        assert host is not None, "the broker grants no more than the provider has"
        self.users, self.ends = np.append(self.users, user), np.append(self.ends, end)
        self.wished, self.hosts = np.append(self.wished, wished), np.append(self.hosts, host)
