"""The core of the service without its own threads: a store in memory, a clock that stands, a simulated cloud."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.lease import Lease
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.messages import Message
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.records.units import Units
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.policies import PoolPlanning, SitePolicies
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.offers import Offers
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.requests.quotes import Quotes
from lease_scheduler.service.site_engine import SiteEngine
from tests.functional.lease_document import lease_document
from tests.site_engine import hypervisors, site_policies

HOUR = 3_600
BEGIN = 1_000_000


class StandingClock:
    """A clock that stands still until a test advances it."""

    def __init__(self) -> None:
        self.instant = BEGIN

    def now(self) -> int:
        return self.instant

    def seconds_until(self, instant: int) -> float:
        return max(0.0, instant - self.instant)


class KeepingStore:
    """Keeps what is committed; an engine that takes over gets the live leases.

    :ivar commits: every transaction that was written
    :ivar failure: raised by the next transaction, which is not written
    """

    #: Fencing number of an engine.
    epoch = 1

    def __init__(self) -> None:
        self.units = Units()
        self.commits: list[StoreChanges] = []
        self.failure: Exception | None = None
        self._leases: dict[str, Lease] = {}
        self._documents: dict[str, LeaseDocument] = {}

    def join_pool(self, pool: str) -> None:
        for changes in self.commits:
            for number, host in changes.hosts.items():
                if host is not None and host.pool is None:
                    changes.hosts[number] = replace(host, pool=pool)
        for lease_id, lease in self._leases.items():
            if lease.request.pool is None:
                self._leases[lease_id] = replace(lease, request=replace(lease.request, pool=pool))

    def load(self) -> Snapshot:
        hosts = {number: host for each in self.commits for number, host in each.hosts.items()}
        intents = {intent.intent_id: intent for each in self.commits for intent in each.begun}
        over = {intent_id for each in self.commits for intent_id in each.over}
        live = tuple(lease for lease in self._leases.values() if not lease.is_final)
        return Snapshot(
            leases=live,
            documents={lease.lease_id: self._documents[lease.lease_id] for lease in live},
            intents=tuple(intent for intent_id, intent in intents.items() if intent_id not in over),
            hosts=tuple(host for host in hosts.values() if host is not None),
            floating_ips=(),
            private_properties={},
            series=(),
            next_sequence=len(self._leases),
            next_intent=max(intents, default=0) + 1,
            clock=BEGIN,
        )

    def commit(self, changes: StoreChanges) -> int:
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        self.commits.append(changes)
        self._leases |= changes.leases
        self._documents |= changes.documents
        return len(self.commits)

    def messages(self, event_type: str) -> list[Message]:
        return [each for changes in self.commits for each in changes.messages if each.event_type == event_type]

    def has_lease(self, lease_id: str) -> bool:
        return lease_id in self._leases

    def request_digest(self, lease_id: str) -> str | None:
        return self._documents[lease_id].request_digest

    def version(self, lease_id: str) -> int | None:
        return sum(lease_id in changes.leases for changes in self.commits) or None

    def unaccepted_seconds(self, project_id: str, since: int) -> int:
        return 0

    def used(self, project_id: str, start: int, now: int) -> tuple[int, Mapping[str, int]]:
        return 0, {}

    def of_leases_that_are_over(self, ids: Iterable[str]) -> frozenset[str]:
        return frozenset()

    def known_trusts(self, ids: Collection[str]) -> frozenset[str]:
        return frozenset()

    def record_steps(self, reached: Any) -> None:
        pass


class Core:
    """An engine of two hosts that takes a step when told to.

    :ivar broken: how often it reported that it is broken
    """

    def __init__(
        self,
        store: KeepingStore,
        clock: StandingClock,
        policies: SitePolicies,
        pools: Mapping[str, PoolPlanning] | None = None,
        hosts: Sequence[str] = ("compute-1", "compute-2"),
        **options: Any,
    ) -> None:
        self.store, self.clock = store, clock
        self.cloud = SimulatedCloud(":memory:", clock)
        self.cloud.add_hypervisors(hypervisors(hosts))
        self.broken = 0
        engine_options = EngineOptions(explain_refusals=False)
        self.site = SiteTransactions(
            store,  # type: ignore[arg-type]
            self.cloud,
            clock,
            policies,
            ServiceOptions(engine_options, workers=1, **options),
            self._note_broken,
            pools=pools,
        )
        self.engine = SiteEngine(self.site)
        self.pool = PoolKeeper(self.engine)
        enforcement = Enforcement()
        self.leases, self.quotes = Leases(self.site, enforcement), Quotes(self.site, enforcement)
        self.offers = Offers(self.site, enforcement)
        if not self.site.records.hosts:
            self.pool.create_hosts({}, list(hosts))

    def _note_broken(self) -> None:
        self.broken += 1

    def pass_to(self, instant: int) -> None:
        """Advance the clock and process what is due."""
        self.clock.instant = instant
        self.site.step()

    def ask(self, kind: str = "reservation", count: int = 1, **said: Any) -> str:
        """Create a lease of one hour; a reservation starts in one hour."""
        now = self.clock.now()
        terms = {"start": now + HOUR, "end": now + 2 * HOUR} if kind == "reservation" else {"duration": HOUR}
        return str(self.leases.create({}, lease_document("a lease", kind, count, **(terms | said)))["lease_id"])

    def lease(self, lease_id: str) -> Lease:
        found = self.site.engine.lease(lease_id)
        assert found is not None
        return found


@pytest.fixture
def store() -> KeepingStore:
    return KeepingStore()


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
def lead(store: KeepingStore, clock: StandingClock) -> Iterator[Callable[..., Core]]:
    """Makes an engine from the content of the store."""
    made: list[Core] = []

    def make(policies: SitePolicies | None = None, **options: Any) -> Core:
        made.append(Core(store, clock, policies or site_policies(), **options))
        return made[-1]

    yield make
    for core in made:
        core.engine.close()
        core.cloud.close()


@pytest.fixture
def core(lead: Callable[..., Core]) -> Core:
    return lead()
