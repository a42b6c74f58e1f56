"""Comparison, repair and removal of what leases have in the cloud."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lease_scheduler.cloud.differences import Difference, Presence
from lease_scheduler.cloud.nova.assembly.common import Common
from lease_scheduler.cloud.nova.images.broken_images import BrokenImages
from lease_scheduler.cloud.nova.images.precaching import CachePreloading
from lease_scheduler.cloud.nova.lease.freepool import Freepool
from lease_scheduler.cloud.nova.repair.left_over import LeftOver
from lease_scheduler.cloud.nova.repair.survey import Survey, SurveyOptions
from lease_scheduler.cloud.nova.steps.hosts import restore_saved
from lease_scheduler.cloud.orders import Expectation
from lease_scheduler.engine.interfaces import WaitingClock


class NovaRepair:
    """See ``cloud.capabilities.Repair``.

    :ivar left_over: removes what belongs to no lease
    """

    def __init__(self, clock: WaitingClock, common: Common) -> None:
        clients, options = common.clients, common.options
        broken = (
            None
            if clients.user_id is None
            else BrokenImages(clients.glance, clients.nova, clients.user_id, options.lost.stalled_after)
        )
        self._lease_aggregates = common.lease_aggregates
        self._survey = Survey(
            clock,
            clients.nova,
            common.aggregates,
            common.placement,
            common.nodes,
            common.servers,
            common.reservations,
            SurveyOptions(options.freepool, options.pci_aliases, options.shares_per_vcpu, options.tells_trespassers),
            clients.trusts,
            broken,
        )
        self.left_over = LeftOver(
            common.aggregates, common.lease_flavors, common.placement, common.server_groups, clients.end_trust, broken
        )

    def differences(
        self, expectations: Collection[Expectation], live: Mapping[str, int], pool: Collection[str]
    ) -> list[Difference]:
        """See ``Repair.differences``."""
        return self._survey.differences(expectations, live, pool)

    def mend(self, expectation: Expectation) -> None:
        """See ``Repair.mend``."""
        if expectation.presence is Presence.SAVED:
            restore_saved(self._lease_aggregates, expectation.order)

    def remove_left_over(self, left_over: Collection[Difference], live: Mapping[str, int]) -> int:
        """See ``Repair.remove_left_over``."""
        return self.left_over.remove(left_over, live)


class NovaUninstall:
    """See ``cloud.capabilities.Uninstall``."""

    def __init__(self, freepool: Freepool, precaching: CachePreloading, left_over: LeftOver) -> None:
        self._freepool = freepool
        self._precaching = precaching
        self._left_over = left_over

    def problem(self) -> str | None:
        """See ``Uninstall.problem``."""
        return self._freepool.mistake()

    def leave(self, *, keep_providers: bool = False) -> frozenset[str]:
        """See ``Uninstall.leave``."""
        self._precaching.clear()
        self._freepool.remove()
        return frozenset() if keep_providers else self._left_over.remove_providers()
