"""The engine of a site while it leads: the threads around its plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lease_scheduler.cloud.executor import Executor
from lease_scheduler.cloud.meters.base import Meter
from lease_scheduler.cloud.needs.base import NeedsSource
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.cloud.orders import AnyOrder
from lease_scheduler.cloud.power.base import PowerDriver, PowerDriverOptions
from lease_scheduler.cloud.power.keeper import PowerKeeper, PowerTimes
from lease_scheduler.cloud.power.noop import NoopPower
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.orders import order_of
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.upkeep.announcer import Announcer, coming
from lease_scheduler.service.upkeep.cloud_reports import CloudReports
from lease_scheduler.service.upkeep.fluid_needs import NeedsWatch
from lease_scheduler.service.upkeep.fluid_yields import FluidYields
from lease_scheduler.service.upkeep.guest_promises import GuestPromises
from lease_scheduler.service.upkeep.idle.watch import IdleWatch
from lease_scheduler.service.upkeep.image_carriage import ImageCarriage
from lease_scheduler.service.upkeep.promised_ends import PromisedEnds
from lease_scheduler.service.upkeep.reconciler import Reconciler
from lease_scheduler.service.upkeep.timer import Timer


class SiteEngine:
    """Carries out what the plan of a site has written, and does what is due, until closed or broken.

    :param plan: carries out nothing yet
    :param meter: tells which leases are idle; None if nobody wants to know
    :param power: switches hosts off and on; None switches nothing
    :param power_times: how often to look whether it has
    :param needs: tells how much CPU servers of fluid leases use; None means that they need what they declare
    :ivar timer: makes the steps of the plan
    :ivar executor: carries out orders
    :ivar reports: receives events from the cloud
    :ivar reconciler: compares leases and cloud
    :ivar idle: measures which leases are idle
    :ivar needs: measures what fluid leases need
    :ivar on_written: called after messages were written
    """

    def __init__(
        self,
        plan: SiteTransactions,
        meter: Meter | None = None,
        power: PowerDriver | None = None,
        power_times: PowerTimes | None = None,
        needs: NeedsSource | None = None,
    ) -> None:
        self.plan = plan
        driver, clock = plan.driver, plan.clock
        self.on_written: Callable[[], None] = lambda: None
        self.timer = Timer(plan, lambda: self.executor.ask_all_again())
        self.reports = CloudReports(plan, self.timer.wake, self._is_busy)
        self.executor = Executor(driver, clock, self._record_steps, self.reports.over, plan.options.workers)
        self.reconciler = Reconciler(plan, self._is_busy, self._watch)
        self._images = ImageCarriage(driver, clock, lambda: plan.engine.site, self.reports.noticed)
        self._ends = PromisedEnds(driver.tell_ends)
        self._yields = FluidYields(driver.share, plan.store.epoch)
        self._announcer = Announcer(self._coming, driver.announce)
        self._promises = GuestPromises(
            lambda: plan.engine,
            plan.lock,
            clock.now,
            driver.promise,
            lambda: plan.options.guest_assurances,
            plan.options.engine.preparation_time,
        )
        self.idle = IdleWatch(plan, meter)
        self.needs = NeedsWatch(plan, needs)
        self._powers = PowerKeeper(
            driver.services,
            power or NoopPower(PowerDriverOptions({})),
            plan.wishes,
            self.reports.reached,
            self._may_act,
            power_times,
        )
        plan.follow_wishes = self._powers.wake
        self._observer: Observer | None = None
        plan.carry_out = self._carry_out
        plan.bring = self._images.begin

    def start(self, observer: Observer | None = None) -> None:
        """Reconcile with the cloud, resume open orders, and do what is due from now on.

        :param observer: notified of what the cloud reports by itself
        """
        plan = self.plan
        with plan.lock:
            nothing_new = StoreChanges(plan.work.now)
            for intent in plan.work.intents.open_intents():
                self.executor.submit(order_of(intent, plan.work, plan.engine.site, nothing_new))
        self._ends.start(plan.engine.live_leases())
        self._yields.start(plan.engine.live_leases())
        self._observer = observer
        # A comparison with a slow cloud must not delay what is due.
        self.timer.start()
        self.reconciler.start()
        if plan.options.announce_horizon:
            self._announcer.start()
        if plan.options.guest_assurances:
            self._promises.start()
        self._images.start()
        self.idle.start()
        self.needs.start()
        self._powers.start()

    def close(self) -> None:
        """Finish the current work and stop."""
        self.plan.stop()
        self.reconciler.ask_to_stop()
        self.idle.ask_to_stop()
        self.needs.ask_to_stop()
        self._powers.ask_to_stop()
        self._announcer.stop()
        self._promises.stop()
        self._ends.stop()
        self._yields.stop()
        self._images.stop()
        # The reconciler may be about to start the driver.
        self.reconciler.join()
        self.idle.join()
        self.needs.join()
        self._powers.join()
        self.plan.driver.stop()
        self.executor.stop()
        self.timer.join()

    def _watch(self) -> None:
        self.plan.driver.start(self.reports.happened, self._observer)

    def _carry_out(self, changes: StoreChanges, orders: Sequence[AnyOrder]) -> None:
        for lease in changes.leases.values():
            self._ends.note(lease)
            self._yields.note(lease)
        if changes.messages:
            self.on_written()
        self.executor.written(changes.over)
        for order in orders:
            self.executor.submit(order)
        self.timer.wake()

    def _record_steps(self, reached: Any) -> None:
        try:
            self.plan.store.record_steps(list(reached))
        except Exception:
            self.plan.break_off()
            raise

    def _may_act(self) -> bool:
        """Return whether this engine still leads, as far as can be told at this instant."""
        return not self.plan.is_over and self.plan.store.is_mine()

    def _is_busy(self, lease_id: str) -> bool:
        return self.executor.is_busy(lease_id) or any(
            intent.lease_id == lease_id for intent in self.plan.work.intents.open_intents()
        )

    def _coming(self) -> dict[str, int]:
        plan = self.plan
        with plan.lock:
            leases, site = plan.engine.live_leases(), plan.engine.site
        return coming(leases, site, plan.clock.now(), plan.options.announce_horizon)
