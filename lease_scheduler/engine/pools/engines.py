"""The engines of a site, one for each pool, with the interface of one engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from lease_scheduler.engine.engine import Engine
from lease_scheduler.engine.fewer_hosts import WithFewerHosts
from lease_scheduler.engine.interfaces import Operation
from lease_scheduler.fractional.discovery import Needs
from lease_scheduler.model.approval import Approval
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.power import HostPower
from lease_scheduler.model.resources import Resources
from lease_scheduler.plan.changing.changing import Change
from lease_scheduler.plan.explaining.advice import Alternative, Flexibility
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.plan.explaining.quote import Quote
from lease_scheduler.plan.explaining.reservable import Room
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.prediction.coverage import Covered

#: Name of a pool; None for the only pool of a site that is not divided.
PoolName = str | None


def pool_site(site: Site, pools: Mapping[str, PoolName], pool: PoolName) -> Site:
    """Return the site for the planner of a pool: hosts of other pools keep their numbers, but have no capacity.

    So a host has the same number in every plan, even after it was moved to another pool.

    :param pools: name of a host -> its pool
    """
    if pool is None:
        return site
    return Site(tuple(host if pools.get(host.name) == pool else Host(host.name, Resources({})) for host in site.hosts))


class PoolEngines:
    """The engines of a site. Passes each request and each host to the engine of its pool, and combines their answers.

    The engines share the clock, the order of submission, the store and the cloud, but no hosts and no leases. A site
    that is not divided has one engine, with the key None.

    :param engines: engines by pool, in the configured order
    :param site: all hosts
    :param pools: name of a host -> its pool
    :param waiting: returns the pools whose engines have not taken all reports of the cloud
    """

    def __init__(
        self,
        engines: Mapping[PoolName, Engine],
        site: Site,
        pools: Mapping[str, PoolName],
        waiting: Callable[[], Collection[PoolName]] = tuple,
    ) -> None:
        self._engines = dict(engines)
        self._site = site
        #: Name of a host -> its pool, or its last pool if it has left the site.
        self._pools = dict(pools)
        self._waiting = waiting

    # -- requests ----------------------------------------------------------------------------------------

    def submit(
        self,
        request: LeaseRequest,
        least: tuple[int, ...] | None = None,
        *,
        offered_for: int | None = None,
        negotiation: str | None = None,
        approval: Approval | None = None,
        grant: Grant = UNANSWERED,
    ) -> None:
        """Accept a request; see ``Engine.submit``."""
        self._of_pool(request.pool).submit(
            request, least, offered_for=offered_for, negotiation=negotiation, approval=approval, grant=grant
        )

    def forget_refused(self, lease_id: str) -> None:
        """Allow another request with the id of a refused one."""
        for engine in self._engines.values():
            engine.forget_refused(lease_id)

    def quote(self, request: LeaseRequest, least: tuple[int, ...] | None = None, grant: Grant = UNANSWERED) -> Quote:
        """Return what would happen to a request if it were made now; see ``Engine.quote``."""
        found = self._of_pool(request.pool).quote(request, least, grant)
        return found if found.refusal is None else replace(found, refusal=_named(found.refusal, request.pool))

    def alternatives(
        self, request: LeaseRequest, refusal: Refusal, flexibility: Flexibility
    ) -> tuple[Alternative, ...]:
        """Return alternatives to a refused request; see ``Engine.alternatives``."""
        return self._of_pool(request.pool).alternatives(request, refusal, flexibility)

    def room(self, pool: PoolName, node_set: NodeSet, start: int, end: int, duration: int) -> Room:
        """Return when the nodes of a node set fit in a pool; see ``Engine.room``."""
        return self._of_pool(pool).room(node_set, start, end, duration)

    # -- leases ------------------------------------------------------------------------------------------

    def counter(self, lease_id: str, terms: LeaseRequest, least: tuple[int, ...] | None = None) -> Lease:
        """Give an offer other terms; see ``HeldLeases.counter``."""
        with self._asked(lease_id) as engine:
            return engine.held.counter(lease_id, terms, least)

    def accept(self, lease_id: str) -> Lease:
        """Accept an offer, and withdraw the others of its negotiation in all pools; see ``HeldLeases.accept``."""
        engine = self._of_lease(lease_id)
        accepted = engine.held.accept(lease_id)
        if accepted.negotiation is not None:
            for other in self._engines.values():
                if other is not engine:
                    _withdraw(other, accepted)
        return accepted

    def reject(self, lease_id: str) -> None:
        """Reject an offer; see ``HeldLeases.reject``."""
        self._of_lease(lease_id).held.reject(lease_id)

    def approve(self, lease_id: str, reason: str) -> Lease:
        """Approve a lease that awaits approval; see ``HeldLeases.approve``."""
        return self._of_lease(lease_id).held.approve(lease_id, reason)

    def decline(self, lease_id: str, reason: str) -> None:
        """End a lease that awaits approval; see ``HeldLeases.decline``."""
        self._of_lease(lease_id).held.decline(lease_id, reason)

    def change(self, lease_id: str, request: LeaseRequest, *, least: tuple[int, ...] | None = None) -> Change:
        """Give a live lease new terms; see ``Engine.change``."""
        with self._asked(lease_id) as engine:
            return engine.change(lease_id, request, least=least)

    def quote_change(
        self, lease_id: str, request: LeaseRequest, *, least: tuple[int, ...] | None = None
    ) -> tuple[Lease, tuple[str, ...]]:
        """Return what ``change`` would do; see ``Engine.quote_change``."""
        with self._asked(lease_id) as engine:
            return engine.quote_change(lease_id, request, least=least)

    def move(self, lease_id: str, away: frozenset[str]) -> Change:
        """Move a lease off the named hosts; see ``Engine.move``."""
        with self._asked(lease_id) as engine:
            return engine.move(lease_id, away)

    def end(self, lease_id: str, reason: str = "ended by its project", *, by_provider: bool = False) -> None:
        """End a lease now; see ``Engine.end``."""
        self._of_lease(lease_id).end(lease_id, reason, by_provider=by_provider)

    def suspend_now(self, lease_id: str) -> None:
        """Begin the planned suspension of a victim now; see ``Engine.suspend_now``."""
        self._of_lease(lease_id).suspend_now(lease_id)

    def cancel(self, lease_id: str, reason: str = "cancelled by its project", *, by_provider: bool = False) -> None:
        """End a lease as cancelled; see ``Engine.cancel``."""
        self._of_lease(lease_id).cancel(lease_id, reason, by_provider=by_provider)

    # -- hosts -------------------------------------------------------------------------------------------

    @property
    def site(self) -> Site:
        """All hosts by their numbers, including those that have left the site."""
        return self._site

    def pool_of_host(self, number: int) -> PoolName:
        """Return the present or last pool of a host; None if it never was in one."""
        return self._pools.get(self._site.hosts[number].name) if number < len(self._site) else None

    def change_site(self, site: Site, pools: Mapping[str, PoolName]) -> Site:
        """Replace the hosts; see ``Hosts.change_site``. A host that changes its pool stays out of service if it was.

        :param site: the present hosts
        :param pools: name of a host -> its pool
        """
        before = self._pools
        self._pools = {**before, **pools}
        for pool, engine in self._engines.items():
            engine.hosts.change_site(pool_site(site, pools, pool))
        self._site = self._site.succeeded_by(site)
        for name, pool in pools.items():
            old = before.get(name, pool)
            if old == pool:
                continue
            self._engines[old].hosts.hand_over_power(name, self._engines[pool].hosts)
            if name in self._engines[old].hosts.outages:
                _, until = self._engines[old].hosts.outages[name]
                self._engines[old].hosts.back(name)
                self._engines[pool].hosts.out(name, until)
        return self._site

    def of_host(self, name: str) -> Engine:
        """Return the engine of a host."""
        return self._of_pool(self._pools.get(name))

    @property
    def outages(self) -> dict[str, tuple[int, int | None]]:
        """Outages by host; see ``Hosts.outages``."""
        return {
            name: outage
            for pool, engine in self._engines.items()
            for name, outage in engine.hosts.outages.items()
            if self._pools.get(name) == pool
        }

    @property
    def powers(self) -> dict[str, HostPower]:
        """Power of the hosts that have ever been told to sleep, by name; see ``Hosts.powers``."""
        return {name: power for engine in self._engines.values() for name, power in engine.hosts.powers.items()}

    def take_cache_changes(self) -> dict[tuple[int, str], CachedImage | None]:
        """Return the changes of the image caches since the last call; see ``Engine.take_cache_changes``."""
        found: dict[tuple[int, str], CachedImage | None] = {}
        for engine in self._engines.values():
            found.update(engine.take_cache_changes())
        return found

    # -- time --------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Do everything that is due now."""
        for engine in self._engines.values():
            engine.step()
        # When an engine takes the reports of the cloud, there may be new ones for an engine that has had its step.
        while waiting := self._waiting():
            for pool in waiting:
                self._engines[pool].step()

    def next_due(self) -> int | None:
        """Return the next planned instant, or None."""
        instants = (engine.next_due() for engine in self._engines.values())
        return min((instant for instant in instants if instant is not None), default=None)

    def guest_lifetimes(self, assurances: Collection[float]) -> Callable[[], Mapping[float, Mapping[str, int]]]:
        """Return a function that computes lifetimes of servers without a lease; see ``Engine.guest_lifetimes``."""
        asked = [engine.guest_lifetimes(assurances) for engine in self._engines.values()]

        def answers() -> Mapping[float, Mapping[str, int]]:
            found: dict[float, dict[str, int]] = {assurance: {} for assurance in assurances}
            for each in asked:
                for assurance, of_hosts in each().items():
                    found[assurance].update(of_hosts)
            return found

        return answers

    def forecasts(self, pool: PoolName) -> dict[str, Covered]:
        """Return how often forecasts of a pool held, by the name of the forecast; see ``Engine.forecasts``."""
        return self._engines[pool].forecasts()

    def with_fewer_hosts(self, pool: PoolName, counts: Collection[int]) -> Callable[[], list[WithFewerHosts]]:
        """Return a function that computes what fluid leases would get with fewer hosts; see ``FewerHosts.look``."""
        return self._engines[pool].fewer_hosts.look(counts)

    def live_leases(self) -> list[Lease]:
        """Return the live leases, in the order of submission."""
        if len(self._engines) == 1:
            return next(iter(self._engines.values())).live_leases()
        live: Iterable[Lease] = (lease for engine in self._engines.values() for lease in engine.live_leases())
        return sorted(live, key=lambda lease: lease.sequence)

    def lease(self, lease_id: str) -> Lease | None:
        """Return the live lease with this id, or None."""
        found = (engine.lease(lease_id) for engine in self._engines.values())
        return next((lease for lease in found if lease is not None), None)

    @property
    def operations(self) -> Mapping[str, Operation]:
        """Operations that the cloud is carrying out, by lease id."""
        return {
            lease_id: operation
            for engine in self._engines.values()
            for lease_id, operation in engine.operations.items()
        }

    def take_lateness(self) -> dict[tuple[str, str], list[int]]:
        """Return the seconds by which operations were late, by (pool, kind), for kinds with new observations."""
        return {
            (pool or "", kind): seconds
            for pool, engine in self._engines.items()
            for kind, seconds in engine.take_lateness().items()
        }

    def note_needs(self, needs: Needs) -> None:
        """Set the needs by which the next step shares CPU among fluid leases; see ``Engine.note_needs``."""
        for engine in self._engines.values():
            engine.note_needs(needs)

    def use(self, policies: Mapping[PoolName, PolicySet]) -> None:
        """Use other policies from now on; see ``Engine.use``."""
        for pool, engine in self._engines.items():
            engine.use(policies[pool])

    def policies(self, pool: PoolName) -> PolicySet:
        """Return the present policies of a pool."""
        return self._of_pool(pool).policies

    def brief_policies(self) -> None:
        """Tell policies about the live leases; see ``Engine.brief_policies``."""
        for engine in self._engines.values():
            engine.brief_policies()

    # -- which engine ------------------------------------------------------------------------------------

    def _of_pool(self, pool: PoolName) -> Engine:
        engine = self._engines.get(pool)
        if engine is None:
            known = ", ".join(str(name) for name in self._engines if name is not None)
            raise InvalidValueError("pool", f"there is no pool {pool}; right is {known or 'none: leave it out'}")
        return engine

    def _of_lease(self, lease_id: str) -> Engine:
        """Return the engine of a live lease; if there is no such lease, any engine, whose methods will say so."""
        engines = list(self._engines.values())
        return next((engine for engine in engines if engine.lease(lease_id) is not None), engines[0])

    @contextmanager
    def _asked(self, lease_id: str) -> Iterator[Engine]:
        """Yield the engine of a lease, and add the name of the pool to refusals within the block."""
        engine = self._of_lease(lease_id)
        lease = engine.lease(lease_id)
        try:
            yield engine
        except NoPlaceError as error:
            if lease is None or lease.request.pool is None:
                raise
            raise NoPlaceError(_named(error.refusal, lease.request.pool)) from error


def _named(refusal: Refusal, pool: PoolName) -> Refusal:
    return refusal if pool is None else replace(refusal, message=f"pool {pool}: {refusal.message}")


def _withdraw(engine: Engine, accepted: Lease) -> None:
    """Withdraw the offers of a pool that belong to the negotiation of an offer accepted in another pool."""
    reason = f"lease {accepted.lease_id} was accepted instead"
    for lease in engine.live_leases():
        if lease.is_offered and lease.negotiation == accepted.negotiation:
            engine.held.reject(lease.lease_id, reason)
