"""The engine of a site while it leads: each step is written in one transaction, then carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lease_scheduler.cloud.driver import Driver, Order, WaitingClock
from lease_scheduler.cloud.executor import Executor
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.announcer import Announcer, coming
from lease_scheduler.service.cloud_reports import CloudReports
from lease_scheduler.service.image_carriage import ImageCarriage
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.metrics.engine import EngineMetrics
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.orders import order_of
from lease_scheduler.service.policies import SitePolicies
from lease_scheduler.service.promised_ends import PromisedEnds
from lease_scheduler.service.reconcile import Reconciliation
from lease_scheduler.service.reconciler import Reconciler
from lease_scheduler.service.site_plan import SitePlan
from lease_scheduler.service.timer import Timer


class SiteEngine(SitePlan):
    """The plan of a site with its threads: serves requests and does what is due, until closed or broken.

    For its arguments see ``SitePlan``.

    :ivar reports: receives events from the cloud
    """

    def __init__(
        self,
        store: ServiceStore,
        driver: Driver,
        clock: WaitingClock,
        policies: SitePolicies,
        options: ServiceOptions,
        on_broken: Callable[[], None],
        metrics: EngineMetrics | None = None,
    ) -> None:
        super().__init__(store, driver, clock, policies, options, on_broken, metrics)
        #: Called after something was written.
        self.on_written: Callable[[], None] | None = None
        self.reports = CloudReports(self, self.wake, self._is_busy)
        self._executor = Executor(driver, clock, self._record_steps, self.reports.over, options.workers)
        self._images_on_their_way = ImageCarriage(driver, clock, lambda: self.engine.site, self.reports.noticed)
        self._ends = PromisedEnds(driver.tell_ends)
        self._announcer = Announcer(self._coming, driver.announce)
        self._observer: Observer | None = None
        self._timer = Timer(self, self._executor.ask_all_again)
        self._reconciler = Reconciler(self, self._is_busy, self._watch)

    def start(self, observer: Observer | None = None) -> None:
        """Reconcile with the cloud, resume open orders, and do what is due from now on.

        :param observer: notified of what the cloud reports by itself
        """
        with self.lock:
            for intent in self.work.intents.open_intents():
                self._executor.submit(order_of(intent, self.work, self.engine.site))
        self._ends.start(self.engine.live_leases())
        self._observer = observer
        # A comparison with a slow cloud must not delay what is due.
        self._timer.start()
        self._reconciler.start()
        if self.options.announce_horizon:
            self._announcer.start()
        self._images_on_their_way.start()

    def close(self) -> None:
        """Finish the current work and stop."""
        self.stop()
        self._reconciler.ask_to_stop()
        self._announcer.stop()
        self._ends.stop()
        self._images_on_their_way.stop()
        # The reconciler may be about to start the driver.
        self._reconciler.join()
        self.driver.stop()
        self._executor.stop()
        self._timer.join()

    def wake(self) -> None:
        """Make the timer check whether something is due."""
        self._timer.wake()

    def ask_again(self, lease_id: str | None, host: str | None) -> None:
        """Ask the cloud again about orders that wait for servers of this lease or on this host."""
        self._executor.ask_again(lease_id, host)

    # -- what leases and cloud have in common ----------------------------------------------------------------

    @property
    def discover(self) -> Callable[[], None] | None:
        """Takes in hosts that an operator has added to the pool in the cloud. None leaves this to requests."""
        return self._reconciler.discover

    @discover.setter
    def discover(self, discover: Callable[[], None] | None) -> None:
        self._reconciler.discover = discover

    def reconcile(self, *, dry_run: bool = False) -> Reconciliation:
        """Compare intents, leases and cloud, and repair the differences.

        :param dry_run: only report the differences
        """
        return self._reconciler.reconcile(dry_run=dry_run)

    def follow_pool(self) -> None:
        """Reserve the hosts of the pool for leases in the cloud. The next comparison retries what fails."""
        self._reconciler.follow_pool()

    def _watch(self) -> None:
        self.driver.start(self.reports.happened, self._observer)

    # -- what was written ------------------------------------------------------------------------------------

    def _carry_out(self, changes: StoreChanges, orders: Sequence[Order]) -> None:
        for lease in changes.leases.values():
            self._ends.note(lease)
        if changes.messages and self.on_written is not None:
            self.on_written()
        self._executor.written(changes.over)
        for order in orders:
            self._executor.submit(order)
        self.wake()

    def _bring(self, transfer: Transfer) -> None:
        self._images_on_their_way.begin(transfer)

    def _record_steps(self, reached: Any) -> None:
        try:
            self.store.record_steps(list(reached))
        except Exception:
            self.break_off()
            raise

    def _is_busy(self, lease_id: str) -> bool:
        return self._executor.is_busy(lease_id) or any(
            intent.lease_id == lease_id for intent in self.work.intents.open_intents()
        )

    def _coming(self) -> dict[str, int]:
        with self.lock:
            leases, site = self.engine.live_leases(), self.engine.site
        return coming(leases, site, self.clock.now(), self.options.announce_horizon)
