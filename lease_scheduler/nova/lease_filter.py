"""``LeaseFilter``: keeps the hosts of leases for those who have them."""

from __future__ import annotations

import time
from typing import Any

import nova.conf
from nova.scheduler import filters
from oslo_log import log

from lease_scheduler.nova import options
from lease_scheduler.nova.aggregates import read_host
from lease_scheduler.nova.boots import read_boot
from lease_scheduler.nova.rules import refusal

LOG = log.getLogger(__name__)


class LeaseFilter(filters.BaseHostFilter):  # type: ignore[misc]
    """See ``rules.refusal``; decides from the aggregates that nova-scheduler has in memory."""

    # All servers of one request belong to the same lease, or to none.
    run_filter_once_per_request = True
    # A rebuild stays where it is.
    RUN_ON_REBUILD = False

    def __init__(self) -> None:
        super().__init__()
        group = options.register(nova.conf.CONF)
        self._freepool = group.freepool
        self._rules = options.rules(group)

    def host_passes(self, host_state: Any, filter_properties: Any) -> bool:
        """Whether a server may begin on a host.

        :param host_state: the host as nova-scheduler sees it
        :param filter_properties: Nova's ``RequestSpec``
        """
        found = read_host(host_state.aggregates, self._freepool)
        reason = refusal(read_boot(filter_properties), found, int(time.time()), self._rules)
        if reason is not None:
            LOG.debug("%s is no host for %s: %s", host_state.host, filter_properties.instance_uuid, reason)
        return reason is None
