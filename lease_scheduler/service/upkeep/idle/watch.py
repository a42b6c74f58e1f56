"""The worker that has leases measured at intervals, tells projects of idle leases, and ends these."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lease_scheduler.cloud.facts import LeaseOnHosts
from lease_scheduler.cloud.meters.base import Activity, Meter
from lease_scheduler.model.durations import in_words
from lease_scheduler.model.errors import EngineUnavailableError
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.rounds import UpkeepWorker
from lease_scheduler.service.telling.notifications import document_message
from lease_scheduler.service.upkeep.idle.deciding import IdleOptions, Verdict, verdict

LOG = logging.getLogger(__name__)

#: Event type: the servers of a lease use nothing.
IDLE = "lease.event.idle"


class IdleWatch(UpkeepWorker):
    """Worker that measures the running leases of a site at intervals.

    :param meter: tells which leases are used; without one, nothing is measured, and what was known is forgotten
    :param steady: returns seconds from a clock that cannot be set
    """

    def __init__(
        self, site: SiteTransactions, meter: Meter | None, steady: Callable[[], float] = time.monotonic
    ) -> None:
        interval = site.options.idle.interval
        super().__init__("idle", interval, first=interval)
        self._site = site
        self._meter = meter
        self._steady = steady
        #: Lease -> seconds at which this engine first saw it running in its present run.
        self._running: dict[str, float] = {}
        #: Lease that the last measurement found idle -> seconds of that measurement.
        self._idle: dict[str, float] = {}

    def prepare(self) -> bool:
        """Return whether there is a meter. Without one, forget what was known."""
        if self._meter is None:
            self._forget_all()
        return self._meter is not None

    def ended(self) -> None:
        """Have metrics forget the idle leases."""
        self._site.metrics.idle_leases(0, 0)

    def round(self, now: float) -> float:
        """Measure once."""
        began = self._steady()
        try:
            self.measure()
        except EngineUnavailableError:
            self.ask_to_stop()
        return max(1.0, self._site.options.idle.interval - (self._steady() - began))

    def measure(self) -> None:
        """Measure the leases once, and act on the result.

        :raises EngineUnavailableError: the engine is stopping
        """
        options = self._site.options.idle
        with self._site.lock:
            leases = [_on_hosts(lease, self._site) for lease in self._measurable(options)]
        measured = self._measured(leases)
        now = self._steady()
        # The cloud may be slow, so the measurable leases may be others by now.
        with self._site.lock:
            still = {lease.lease_id for lease in self._measurable(options)}
            self._note_running(still, now)
            settled = {key for key in still if now - self._running[key] >= options.settling_time}
            found = {key: activity if key in settled else Activity.UNKNOWN for key, activity in measured.items()}
            verdicts = self._verdicts(still, found, now, options)
            self._site.metrics.measured(Counter(found.get(key, Activity.UNKNOWN) for key in still))
            if self._changes(verdicts):
                with self._site.transaction():
                    self._apply(verdicts, options)
        known = self._site.idleness.values()
        told = sum(each.told_at is not None for each in known)
        self._site.metrics.idle_leases(told, len(known) - told)

    def _measured(self, leases: list[LeaseOnHosts]) -> Mapping[str, Activity]:
        """Return what the meter says, by lease. A lease that it leaves out is unknown."""
        assert self._meter is not None
        began = self._steady()
        try:
            return self._meter.measure(leases, lambda: self.is_stopping)
        except Exception as error:
            LOG.warning("it is not known which leases are idle: %s", error)
            self._site.metrics.not_measured()
            return {}
        finally:
            self._site.metrics.metered(self._steady() - began)

    def _measurable(self, options: IdleOptions) -> Iterable[Lease]:
        """Return the running leases that can be measured now."""
        site = self._site
        for lease_id, document in site.work.documents.items():
            lease = site.work.leases[lease_id]
            if (
                lease.state is LeaseState.ACTIVE
                and _may_be_idle(lease, document, options)
                and lease_id not in site.engine.operations
                # Servers on failed hosts cannot use anything.
                and lease.missing_since is None
                and not document.degraded
            ):
                yield lease

    def _note_running(self, still: set[str], now: float) -> None:
        self._running = {key: self._running.get(key, now) for key in still}

    def _verdicts(
        self, still: set[str], found: Mapping[str, Activity], now: float, options: IdleOptions
    ) -> dict[str, Verdict]:
        """Return the consequences for each lease that is measured or was idle."""
        site, before = self._site, self._idle
        verdicts = {}
        for lease_id in still | site.idleness.keys():
            lease, document = site.work.leases.get(lease_id), site.work.documents.get(lease_id)
            if lease is None or document is None or not _may_be_idle(lease, document, options):
                verdicts[lease_id] = Verdict(None)
                continue
            activity = found.get(lease_id, Activity.UNKNOWN) if lease_id in still else Activity.UNKNOWN
            elapsed = now - before[lease_id] if lease_id in before else None
            known = site.idleness.get(lease_id)
            verdicts[lease_id] = verdict(known, activity, site.clock.now(), elapsed, options)
        self._idle = {key: now for key in still if found.get(key) is Activity.IDLE}
        return verdicts

    def _changes(self, verdicts: Mapping[str, Verdict]) -> bool:
        return any(self._site.idleness.get(key) != each.idleness or each.ends for key, each in verdicts.items())

    def _apply(self, verdicts: Mapping[str, Verdict], options: IdleOptions) -> None:
        """Apply verdicts; within a transaction."""
        for lease_id, each in verdicts.items():
            lease = self._site.work.leases.get(lease_id)
            # The beginning of the transaction does what is due, which may have ended or suspended the lease. Then its
            # project is not told, so it must not be stored that it was.
            is_active = lease is not None and lease.state is LeaseState.ACTIVE
            if is_active or each.idleness is None:
                self._site.put_idleness(lease_id, each.idleness)
            if lease is None or not is_active:
                continue
            if each.is_used_again:
                self._site.work.note(lease, "its servers are used again")
            elif each.notifies:
                self._notify(lease, each, options)
            elif each.ends:
                self._end(lease, each)

    def _notify(self, lease: Lease, found: Verdict, options: IdleOptions) -> None:
        assert found.idleness is not None
        work = self._site.work
        idle_for = in_words(found.idleness.seconds)
        then = f"; it will be ended after {in_words(options.end_after)} more" if options.end_after else ""
        work.note(lease, f"idle: its servers have used nothing for {idle_for}{then}")
        message = document_message(IDLE, lease, work.documents[lease.lease_id], work.now)
        said = {
            "idle_since": found.idleness.since,
            "idle_seconds": found.idleness.seconds,
            "ends_after": options.end_after or None,
        }
        work.notify(replace(message, payload={**message.payload, **said}))
        self._site.metrics.idle_notified()
        LOG.info("lease %s: its servers have used nothing for %s; its project is told", lease.lease_id, idle_for)

    def _end(self, lease: Lease, found: Verdict) -> None:
        assert found.idleness is not None
        idle_for = in_words(found.idleness.seconds)
        LOG.warning("lease %s is ended, because its servers have used nothing for %s", lease.lease_id, idle_for)
        reason = f"ended as idle: its servers used nothing for {idle_for}"
        # The state changes only when its servers are gone.
        self._site.work.note(lease, reason)
        self._site.engine.end(lease.lease_id, reason)
        self._site.metrics.idle_ended()

    def _forget_all(self) -> None:
        """Forget what an earlier engine with a meter knew, as nothing is measured any more."""
        if self._site.idleness:
            with self._site.transaction():
                for lease_id in list(self._site.idleness):
                    self._site.put_idleness(lease_id, None)


def _may_be_idle(lease: Lease, document: LeaseDocument, options: IdleOptions) -> bool:
    """Return whether a lease is measured at all. Leases for maintenance or only for floating IPs have no servers."""
    return not (
        document.maintenance
        or document.project_id in options.exempt
        or all(FLOATING_IP in node_set.resources for node_set in lease.request.nodes)
    )


def _on_hosts(lease: Lease, site: SiteTransactions) -> LeaseOnHosts:
    hosts, sets = site.engine.site.hosts, lease.request.nodes
    whole = [node_set.resources.get(HOST_SHARE) == WHOLE_HOST for node_set in sets for _ in range(node_set.count)]
    assignment = lease.holdings[0].assignment if lease.holdings else ()
    own = {hosts[number].name for number, is_whole in zip(assignment, whole, strict=False) if is_whole}
    return LeaseOnHosts(lease.lease_id, site.work.documents[lease.lease_id].project_id, frozenset(own))
