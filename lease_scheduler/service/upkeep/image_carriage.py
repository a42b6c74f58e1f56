"""Transfers of disk images, carried out by the cloud and reported to the engine."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lease_scheduler.cloud.carriage import Carriage
from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cloud.orders import ImageOrder, ImageProgress
from lease_scheduler.engine.interfaces import CloudEvent, EventKind, WaitingClock
from lease_scheduler.model.host import Site
from lease_scheduler.model.transfer import Transfer
from lease_scheduler.service.rounds import UpkeepWorker

LOG = logging.getLogger(__name__)

#: Real seconds between two checks of transfers.
_INTERVAL = 1.0


class ImageCarriage(UpkeepWorker):
    """Worker that passes transfers to the cloud, and their progress to the engine.

    It translates between the numbers of hosts in the plan and their names in the cloud.

    :param site: returns the current site
    :param report: receives the events
    """

    def __init__(
        self, driver: Driver, clock: WaitingClock, site: Callable[[], Site], report: Callable[[CloudEvent], None]
    ) -> None:
        super().__init__("images", _INTERVAL)
        self._clock = clock
        self._site = site
        self._report = report
        self._carriage = Carriage(driver, clock, self._tell, _INTERVAL)

    def round(self, now: float) -> float | None:
        """Check the progress of transfers; in the first round, also remove what an earlier engine has left."""
        return self._carriage.look()

    def begin(self, transfer: Transfer) -> None:
        """Have a transfer carried out."""
        hosts = self._site().hosts
        names = frozenset(hosts[number].name for number in transfer.hosts)
        LOG.info("image %s is brought to %s", transfer.image.image_id, ", ".join(sorted(names)))
        self._carriage.submit(ImageOrder(transfer.number, transfer.image.image_id, names, transfer.start, transfer.end))
        self.wake()

    def _tell(self, order: ImageOrder, progress: ImageProgress) -> None:
        now, index = self._clock.now(), self._site().index
        said = [(EventKind.COMPLETED, host, "") for host in sorted(progress.there)]
        said += [(EventKind.FAILED, host, reason) for host, reason in progress.failed.items()]
        for kind, host, reason in said:
            if host in index:
                self._report(CloudEvent(kind, now, None, index[host], reason, order.number))
        if progress.is_over:
            LOG.info("image %s is there on %d of %d hosts", order.image_id, len(progress.there), len(order.hosts))
            # Without a host, this event means failure on all hosts that were not reported before.
            self._report(CloudEvent(EventKind.FAILED, now, transfer=order.number))
