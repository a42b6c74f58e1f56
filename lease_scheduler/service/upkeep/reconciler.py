"""Periodic reconciliation of leases and cloud."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from threading import Lock

from lease_scheduler.cloud.differences import Difference, Problem
from lease_scheduler.cloud.orders import Expectation
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.service.upkeep.reconcile import (
    Leases,
    Reconciliation,
    as_differences,
    count,
    decide,
    expectations,
    settled,
    stuck_leases,
)
from lease_scheduler.service.upkeep.repairs import Repairs

LOG = logging.getLogger(__name__)


class Reconciler(UpkeepWorker):
    """Worker that compares leases and cloud at intervals, and repairs the differences.

    The driver reports nothing before the first comparison.

    :param site: its leases and hosts are compared
    :param is_busy: returns whether a lease has an order under way
    :param watch: starts the driver's reports of events in the cloud
    """

    def __init__(self, site: SiteTransactions, is_busy: Callable[[str], bool], watch: Callable[[], None]) -> None:
        super().__init__("reconcile", site.options.reconcile_interval)
        self._site = site
        self._is_busy = is_busy
        self._watch = watch
        self._repairs = Repairs(site.driver, site.engine, site.work, is_busy)
        self._pool_lock = Lock()
        #: Held during a comparison.
        self._comparing = Lock()
        #: Registers hosts that an operator has added to the pool in the cloud. If None, only requests register hosts.
        self.discover: Callable[[], None] | None = None
        self._is_watched = False

    def reconcile(self, *, dry_run: bool = False) -> Reconciliation:
        """Compare intents, leases and cloud, and repair the differences.

        Comparisons run one at a time, as an older one would undo the repairs of a newer one.

        :param dry_run: only report the differences
        """
        with self._comparing:
            return self._compare(dry_run=dry_run)

    def _compare(self, *, dry_run: bool) -> Reconciliation:
        began = time.perf_counter()
        with self._site.lock:
            before, pool = self._leases(), [host.name for host in self._site.records.hosts.values()]
        expected = expectations(before)
        # The cloud may be slow, so the lock is not held meanwhile.
        footprints = list(self._site.driver.footprints())
        found = self._site.driver.repair.differences(expected, before.vms(), pool)
        with self._site.lock if dry_run else self._site.transaction():
            leases = self._leases()
            actions = decide(leases, before, footprints)
            differences = settled(found, leases, before, self._site.store)
            differences += as_differences(actions, differences)
            repaired = count(actions)
            if not dry_run:
                changed = {lease_id for lease_id in leases.by_id if leases.has_changed(lease_id, before)}
                repaired.update(self._repairs.plan(actions, differences, changed))
        if not dry_run:
            repaired.update(self._repair({each.order.lease_id: each for each in expected}, differences))
            self._site.metrics.reconciled(repaired, time.perf_counter() - began, self._site.real.wall())
        self._site.metrics.compared(differences)
        self._site.unfiltered = frozenset(each.name for each in differences if each.problem is Problem.UNFILTERED)
        return Reconciliation(tuple(differences), dict(repaired))

    def _leases(self) -> Leases:
        """Return the live leases as they are now."""
        intents = self._site.work.intents.open_intents()
        live = {lease.lease_id: lease for lease in self._site.engine.live_leases()}
        begun = {intent.lease_id for intent in intents}
        busy = begun | {lease_id for lease_id in live if self._is_busy(lease_id)}
        now = self._site.clock.now()
        documents = dict(self._site.work.documents)
        return Leases(live, documents, self._site.engine.site, frozenset(busy), stuck_leases(intents, now), now)

    def _repair(self, expected: Mapping[str, Expectation], differences: Collection[Difference]) -> Counter[str]:
        """Repair what no operation repairs: records of suspended leases, server groups, and leftovers."""
        repaired: Counter[str] = Counter()
        with self._site.lock:
            # The lock keeps suspended leases from resuming meanwhile.
            repaired["repaired"] += self._repairs.remember(expected, differences)
        groups = self._repairs.new_groups(differences)
        if groups:
            with self._site.transaction():
                unwanted = self._repairs.follow_groups(groups)
            self._site.driver.server_groups.remove(unwanted)
            repaired["repaired"] += len(groups)
        left_over = [each for each in differences if each.problem is Problem.LEFT_OVER]
        if left_over:
            with self._site.lock:
                live = self._leases().vms()
            repaired["removed"] += self._site.driver.repair.remove_left_over(left_over, live)
        return repaired

    def round(self, now: float) -> float:
        """Reconcile, and start the driver's reports after the first time."""
        try:
            self._try_to_reconcile()
        except EngineUnavailableError:
            self.ask_to_stop()
        if not self._is_watched and not self.is_stopping:
            self._begin_to_watch()
        return self._site.options.reconcile_interval

    def _begin_to_watch(self) -> None:
        """Start the driver's reports. Without them the engine must not lead, so a failure breaks it."""
        try:
            self._watch()
            self._is_watched = True
        except Exception:
            LOG.exception("the events of the cloud cannot be received; the plan is built anew")
            self._site.break_off()
            self.ask_to_stop()

    def follow_pool(self) -> None:
        """Have the cloud reserve the hosts of the pool for leases. After a failure, the next round tries again."""
        with self._pool_lock:
            with self._site.lock:
                names = [host.name for host in self._site.records.hosts.values()]
            try:
                self._site.driver.set_pool(names)
            except Exception:
                LOG.exception("the cloud could not be told which hosts are for leases; it is tried again")

    def _try_to_reconcile(self) -> None:
        """Compare and repair. Errors of the cloud are only logged, as planning works without it."""
        if self.discover is not None:
            self.discover()
        self.follow_pool()
        try:
            repaired = self.reconcile().repaired
        except EngineUnavailableError:
            raise
        except Exception:
            self._site.metrics.not_reconciled()
            LOG.exception("leases and cloud could not be compared; it is tried again")
            return
        if any(repaired.values()):
            LOG.warning("leases and cloud did not agree, repaired: %s", repaired)
