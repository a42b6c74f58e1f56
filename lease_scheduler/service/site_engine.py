"""The engine of a site while it leads: its plan, and the workers around it."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.cloud.executor import Executor, ThreadedExecutor
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.orders import order_of
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.service.runners import Runner, ThreadRunner
from lease_scheduler.service.upkeep.cloud_reports import CloudReports
from lease_scheduler.service.upkeep.reconciler import Reconciler
from lease_scheduler.service.upkeep.timer import Timer
from lease_scheduler.service.upkeep.workers import Instruments, MakeExecutor, Upkeep


class SiteEngine:
    """Engine that carries out what the plan of a site has written, and does what is due, until closed or broken.

    It runs in threads, unless it gets a ``SteppedRunner`` and a ``SteppedExecutor``. Then it works only while it is
    stepped, in the thread that steps it.

    :param plan: carries out nothing yet
    :param instruments: meter, source of needs and power driver of the site
    :param runner: runs the workers
    :param make_executor: makes the executor of orders
    """

    def __init__(
        self,
        plan: SiteTransactions,
        instruments: Instruments | None = None,
        runner: Runner | None = None,
        make_executor: MakeExecutor = ThreadedExecutor,
    ) -> None:
        self.plan = plan
        self._runner = runner or ThreadRunner()
        self._upkeep = Upkeep(plan, instruments or Instruments(), self._watch, make_executor)
        self._senders: Sequence[UpkeepWorker] = ()
        self._observer: Observer | None = None
        plan.carry_out = self._carry_out

    @property
    def timer(self) -> Timer:
        """What makes the steps of the plan."""
        return self._upkeep.timer

    @property
    def reports(self) -> CloudReports:
        """What receives events from the cloud."""
        return self._upkeep.reports

    @property
    def executor(self) -> Executor:
        """What carries out orders."""
        return self._upkeep.executor

    @property
    def reconciler(self) -> Reconciler:
        """What compares leases and cloud."""
        return self._upkeep.reconciler

    def start(self, observer: Observer | None = None, senders: Sequence[UpkeepWorker] = ()) -> None:
        """Resume open orders, then compare with the cloud and do what is due, from now on.

        :param observer: notified of changes in the cloud that nobody here asked for
        :param senders: workers that send what was stored; they end last
        """
        plan = self.plan
        plan.driver.take_over()
        with plan.lock:
            nothing_new = StoreChanges(plan.work.now)
            for intent in plan.work.intents.open_intents():
                self.executor.submit(order_of(intent, plan.work, plan.engine.site, nothing_new))
        self._observer = observer
        self._senders = senders
        self._runner.start((*self._upkeep.workers, *senders))
        # Earlier engines may have left something to send.
        self._wake_senders()

    def close(self) -> None:
        """Finish the current work and stop."""
        self.plan.stop()
        # The reconciler may be about to start the driver.
        self._runner.stop(self._upkeep.workers)
        self.plan.driver.events.stop()
        self.executor.stop()
        self._runner.stop(self._senders)

    def _watch(self) -> None:
        self.plan.driver.events.start(self.reports.happened, self._observer)

    def _carry_out(self, changes: StoreChanges, orders: Sequence[AnyOrder]) -> None:
        self._upkeep.written(changes)
        if changes.messages:
            self._wake_senders()
        self.executor.written(changes.over)
        for order in orders:
            self.executor.submit(order)
        self.timer.wake()

    def _wake_senders(self) -> None:
        for sender in self._senders:
            sender.wake()
