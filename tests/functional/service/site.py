"""The engine of two hosts on a simulated cloud, with prices; another engine can take over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lease_scheduler.cloud.meters.base import Meter
from lease_scheduler.cloud.orders import AnyOrder, Removal
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policies
from lease_scheduler.policy.penalty.base import PenaltyPolicy
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.service.core.metrics.engine import EngineMetrics
from lease_scheduler.service.core.observing import SiteObservations
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement import Enforcement, UsageFilter
from lease_scheduler.service.requests.flows import FlowKeeper
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.negotiations import Negotiations
from lease_scheduler.service.requests.offers import Offers
from lease_scheduler.service.requests.peers import PeerKeeper
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.requests.quotes import Quotes
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.service.upkeep.workers import Instruments
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from lease_scheduler.store.sql.store import SqlStore
from tests.functional.lease_document import lease_document
from tests.site_engine import hypervisors, site_policies

HOUR = 3_600
BEGIN = 1_000_000


class JumpingClock:
    """The real clock plus the jumps that a test makes."""

    def __init__(self) -> None:
        self._offset = BEGIN - time.monotonic()

    def now(self) -> int:
        return int(time.monotonic() + self._offset)

    def seconds_until(self, instant: int) -> float:
        return max(0.0, instant - time.monotonic() - self._offset)

    def jump(self, seconds: int) -> None:
        self._offset += seconds


class RecordingCloud(SimulatedCloud):
    """A cloud that records which trusts it was told to delete."""

    def __init__(self, path: str, clock: JumpingClock, boot_time: int) -> None:
        super().__init__(path, clock, CloudBehaviour(boot_time=boot_time))
        self.destroyed: list[str | None] = []

    def perform(self, order: AnyOrder, step: str) -> int | None:
        if isinstance(order, Removal) and step == "remove-aggregate":
            self.destroyed.append(order.document.trust_id if order.document is not None else None)
        return super().perform(order, step)


class Service:
    """The engine of two hosts; another engine can take over from the database."""

    def __init__(
        self,
        folder: Path,
        pricing: str,
        policies: dict[str, str],
        penalty: str = "none",
        refund_share: float = 1.0,
        boot_time: int = 0,
        duration: str = "requested",
        filters: Sequence[UsageFilter] = (),
        meter: Meter | None = None,
        queueing: str = "fifo",
        **options: Any,
    ) -> None:
        self._filters, self._meter = filters, meter
        self._options, self._refund_share = options, refund_share
        self._policy_options = PolicyOptions(policies)
        self._names = {"pricing": pricing, "penalty": penalty, "queueing": queueing, "duration": duration}
        #: Takes the place of the penalty policy that is named.
        self.penalty: PenaltyPolicy | None = None
        self._database = open_database(f"sqlite:///{folder}/service.sqlite")
        migrate.upgrade(self._database)
        self.reader = SqlReader(self._database)
        self.clock = JumpingClock()
        self.cloud = RecordingCloud(str(folder / "cloud.sqlite"), self.clock, boot_time)
        self.cloud.add_hypervisors(hypervisors(["compute-1", "compute-2"]))
        self.metrics = EngineMetrics()
        self.lead()
        pool = PoolKeeper(self.engine)
        for number in (1, 2):
            pool.create_host({}, {"name": f"compute-{number}"})

    def lead(self) -> None:
        store = SqlStore(self._database)
        store.take_over("engine", self.clock.now())
        engine_options = EngineOptions(
            explain_refusals=False,
            preparation_time=10 * HOUR,
            refund_share=self._refund_share,
            keeps_saved_work=True,
        )
        self.site = SiteTransactions(
            store,
            self.cloud,
            self.clock,
            site_policies(make=self._policies),
            ServiceOptions(engine_options, workers=2, reconcile_interval=HOUR, announce_horizon=0, **self._options),
            lambda: None,
            self.metrics,
        )
        self.engine = SiteEngine(self.site, Instruments(meter=self._meter))
        self.metrics.bind(SiteObservations(self.site).look, store.count_messages())
        self.engine.start()
        enforcement = Enforcement(self._filters)
        self.leases, self.quotes = Leases(self.site, enforcement), Quotes(self.site, enforcement)
        self.offers = Offers(self.site, enforcement)
        self.flows = FlowKeeper(self.site)
        self.peers = PeerKeeper(self.site)
        self.negotiations = Negotiations(self.site, self.leases, self.quotes)

    def restart(self, queueing: str | None = None) -> None:
        """Let another engine take over.

        :param queueing: another queueing policy
        """
        self._names["queueing"] = queueing or self._names["queueing"]
        self.engine.close()
        self.lead()

    def _policies(self) -> PolicySet:
        policies = load_policies(self._names, self._policy_options)
        return policies if self.penalty is None else replace(policies, penalty=self.penalty)

    def switch(self, queueing: str) -> None:
        """Replace the queueing policy while the engine runs, as SIGHUP does."""
        self._names["queueing"] = queueing
        self.site.take_over(self.site.options)

    def close(self) -> None:
        self.engine.close()
        self.cloud.close()
        self._database.dispose()

    def document(self, count: int = 1, kind: str = "reservation", **said: Any) -> dict[str, Any]:
        """Return the document of a request: one hour, starting in one hour, unless the terms say otherwise."""
        start = self.clock.now() + HOUR
        times: dict[str, Any] = {"start": start, "end": start + HOUR}
        if kind == "best-effort":
            times = {"duration": HOUR}
        return lease_document("a lease", kind, count, **times) | said

    def offer(self, count: int = 1, **said: Any) -> dict[str, Any]:
        return self.leases.offer({}, self.document(count, **said))

    def view(self, lease_id: str) -> dict[str, Any]:
        found = self.reader.lease(lease_id, deleted=True)
        assert found is not None
        return found

    def is_in(self, lease_id: str, state: str) -> Callable[[], bool]:
        return lambda: self.view(lease_id)["state"] == state
