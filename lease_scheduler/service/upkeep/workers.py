"""All work that a site does without a request, as one list of workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cloud.executor import Executor, OnOver, RecordSteps, ThreadedExecutor
from lease_scheduler.cloud.meters.base import Meter
from lease_scheduler.cloud.needs.base import NeedsSource
from lease_scheduler.cloud.power.base import PowerDriver, PowerDriverOptions
from lease_scheduler.cloud.power.keeper import PowerKeeper, PowerTimes
from lease_scheduler.cloud.power.noop import NoopPower
from lease_scheduler.engine.interfaces import WaitingClock
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.service.upkeep.announcer import Announcer, coming
from lease_scheduler.service.upkeep.cloud_reports import CloudReports
from lease_scheduler.service.upkeep.fluid_needs import NeedsWatch
from lease_scheduler.service.upkeep.fluid_yields import FluidYields
from lease_scheduler.service.upkeep.guest_promises import GuestPromises
from lease_scheduler.service.upkeep.idle.watch import IdleWatch
from lease_scheduler.service.upkeep.image_carriage import ImageCarriage
from lease_scheduler.service.upkeep.power import PowerUpkeep
from lease_scheduler.service.upkeep.promised_ends import PromisedEnds
from lease_scheduler.service.upkeep.reconciler import Reconciler
from lease_scheduler.service.upkeep.timer import Timer

#: Makes an executor of orders; the last argument is the maximum number of steps at the same time.
MakeExecutor = Callable[[Driver, WaitingClock, RecordSteps, OnOver, int], Executor]


@dataclass(frozen=True)
class Instruments:
    """Drivers with which a site measures servers and switches hosts, beside the driver of its cloud.

    :ivar meter: tells which leases are idle; None if this is not measured
    :ivar needs: tells how much CPU servers of fluid leases use; None means that they need what they declare
    :ivar power: switches hosts off and on
    :ivar power_times: times for switching hosts, and for checking them
    """

    meter: Meter | None = None
    needs: NeedsSource | None = None
    power: PowerDriver = field(default_factory=lambda: NoopPower(PowerDriverOptions({})))
    power_times: PowerTimes = field(default_factory=PowerTimes)


class Upkeep:
    """The workers of a site, connected with its plan and its cloud.

    :param watch: starts the driver's reports of events in the cloud
    :param make_executor: makes the executor of orders. An executor that is a worker runs with the other workers
    :ivar timer: makes the steps of the plan
    :ivar reports: receives events from the cloud
    :ivar executor: carries out orders
    :ivar reconciler: compares leases and cloud
    :ivar workers: all workers, in the order in which they are stepped
    """

    def __init__(
        self,
        plan: SiteTransactions,
        instruments: Instruments,
        watch: Callable[[], None],
        make_executor: MakeExecutor = ThreadedExecutor,
    ) -> None:
        self._plan = plan
        driver, clock, steady = plan.driver, plan.clock, plan.real.steady
        self.timer = Timer(plan, lambda: self.executor.ask_all_again())
        self.reports = CloudReports(plan, self.timer.wake, self.is_busy)
        self.executor = make_executor(driver, clock, plan.record_steps, self.reports.over, plan.options.workers)
        self.reconciler = Reconciler(plan, self.is_busy, watch)
        self._images = ImageCarriage(driver, clock, lambda: plan.engine.site, self.reports.noticed)
        self._ends = PromisedEnds(driver.announcements.tell_ends, lambda: plan.engine.live_leases())
        self._yields = FluidYields(driver.shares.share, plan.store.epoch, lambda: plan.engine.live_leases())
        keeper = PowerKeeper(
            driver.services,
            instruments.power,
            plan.wishes,
            self.reports.reached,
            plan.may_act,
            instruments.power_times,
            steady,
        )
        powers = PowerUpkeep(keeper, instruments.power_times)
        self.workers: tuple[UpkeepWorker, ...] = (
            self.timer,
            *((self.executor,) if isinstance(self.executor, UpkeepWorker) else ()),
            self._ends,
            self._yields,
            self.reconciler,
            Announcer(self._coming, driver.announcements.announce, is_on=plan.options.announce_horizon > 0),
            GuestPromises(
                lambda: plan.engine,
                plan.lock,
                clock.now,
                driver.announcements.promise,
                lambda: plan.options.guest_assurances,
                plan.options.engine.preparation_time,
            ),
            self._images,
            IdleWatch(plan, instruments.meter, steady),
            NeedsWatch(plan, instruments.needs, steady),
            powers,
        )
        plan.follow_wishes = powers.wake
        plan.bring = self._images.begin

    def written(self, changes: StoreChanges) -> None:
        """Have the cloud told the ends and yields that have changed."""
        for lease in changes.leases.values():
            self._ends.note(lease)
            self._yields.note(lease)

    def is_busy(self, lease_id: str) -> bool:
        """Return whether a lease has an order that is not over, or whose end is not written."""
        return self.executor.is_busy(lease_id) or any(
            intent.lease_id == lease_id for intent in self._plan.work.intents.open_intents()
        )

    def _coming(self) -> dict[str, int]:
        plan = self._plan
        with plan.lock:
            leases, site = plan.engine.live_leases(), plan.engine.site
        return coming(leases, site, plan.clock.now(), plan.options.announce_horizon)
