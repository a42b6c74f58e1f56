"""The choice of a host for a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from lease_scheduler.rehearsal.cloud.nova.records import Flavor, Server
from lease_scheduler.rehearsal.cloud.nova.scheduler import plugins
from lease_scheduler.rehearsal.cloud.nova.scheduler.filters import FILTERS
from lease_scheduler.rehearsal.cloud.nova.scheduler.host_states import HostState, host_states
from lease_scheduler.rehearsal.cloud.nova.scheduler.requests import PlacementRequest, request_for, wish
from lease_scheduler.rehearsal.cloud.nova.store import Store
from lease_scheduler.rehearsal.cloud.placement.candidates import candidates

_OURS = "LeaseFilter"


@dataclass(frozen=True)
class Choice:
    """A host for a server.

    :ivar amounts: provider -> class -> amount that it gets there
    """

    host: str
    amounts: Mapping[str, Mapping[str, int]]


class Scheduler:
    """A nova-scheduler with our filter and our weigher."""

    def __init__(self, store: Store) -> None:
        self._store = store
        options = {"freepool": store.options.freepool, **store.options.filter_options}
        self._filter, self._weigher = plugins.load(options, store.timing.time)

    def choose(
        self,
        server: Server,
        flavor: Flavor,
        *,
        ignored: frozenset[str] = frozenset(),
        destination: str | None = None,
        forced: str | None = None,
    ) -> Choice | None:
        """Return the best host for a server, or None if there is no valid one.

        :param flavor: flavor that the server is to have
        :param destination: the only host that it may get
        :param forced: the only host that it may get, whatever filters say
        """
        aliases = self._store.options.pci_aliases
        request = request_for(server, flavor, aliases, ignored=ignored)
        wanted = wish(request, aliases)
        if wanted is None:
            return None
        offers: dict[str, Mapping[str, Mapping[str, int]]] = {}
        by_provider = {each.provider_id: each for each in self._store.hosts.values()}
        for found in candidates(self._store.placement, wanted):
            if found.root_id in by_provider:
                offers.setdefault(by_provider[found.root_id].name, found.amounts)
        asked = forced or destination
        named = [name for name in offers if asked in (None, name) and self._is_asked(name, request)]
        hosts = host_states(self._store, named)
        if forced is None:
            hosts = self._filtered(hosts, request)
        if not hosts:
            return None
        best = self._best(hosts, request)
        return Choice(best.host, offers[best.host])

    def _is_asked(self, name: str, request: PlacementRequest) -> bool:
        zone = request.server.asked.zone
        return name not in request.ignored and zone in (None, self._store.zone(name))

    def _filtered(self, hosts: Sequence[HostState], request: PlacementRequest) -> list[HostState]:
        left = list(hosts)
        for name in self._store.options.filters:
            if name == _OURS:
                left = list(self._filter.filter_all(left, request))
            else:
                left = [each for each in left if FILTERS[name](self._store, each, request)]
        return left

    def _best(self, hosts: list[HostState], request: PlacementRequest) -> HostState:
        """Return the host with the most weight; of equal ones, the first."""
        weights = [0.0] * len(hosts)
        for number in range(len(hosts[0].free)):
            _add(weights, _normalized([each.free[number] for each in hosts]))
        ours = self._weigher.weigh_objects([SimpleNamespace(obj=each) for each in hosts], request)
        multipliers = [self._weigher.weight_multiplier(each) for each in hosts]
        _add(weights, [weight * factor for weight, factor in zip(ours, multipliers, strict=True)])
        return hosts[max(range(len(hosts)), key=lambda number: weights[number])]


def _normalized(values: Sequence[float]) -> list[float]:
    """Return values between 0 and 1, as Nova does, all 0 if they are equal."""
    least, most = min(values), max(values)
    return [0.0 if most == least else (each - least) / (most - least) for each in values]


def _add(weights: list[float], more: Sequence[Any]) -> None:
    for number, each in enumerate(more):
        weights[number] += each
