"""``LeaseFilter``: keeps servers off hosts that belong to other leases."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import nova.conf
from nova.scheduler import filters, utils
from oslo_log import log

from lease_scheduler.nova import options
from lease_scheduler.nova.aggregates import HostLeases, Reader, read_host
from lease_scheduler.nova.boots import read_boot
from lease_scheduler.nova.rules import Boot, refusal

LOG = log.getLogger(__name__)

#: Maximum number of reasons to log when no host is left.
_REASONS = 5


class LeaseFilter(filters.BaseHostFilter):  # type: ignore[misc]
    """Applies ``rules.refusal`` to the aggregates that nova-scheduler has in memory."""

    # All servers of one request belong to the same lease, or to none.
    run_filter_once_per_request = True
    # A server that is rebuilt stays on its host.
    RUN_ON_REBUILD = False

    def __init__(self) -> None:
        super().__init__()
        group = options.register(nova.conf.CONF)
        self._freepool = group.freepool
        self._rules = options.rules(group)

    def filter_all(self, filter_obj_list: Iterable[Any], spec_obj: Any) -> Iterator[Any]:
        """Yield the hosts on which a server may start. What they have in common is read once.

        :param filter_obj_list: hosts as nova-scheduler sees them
        :param spec_obj: Nova's ``RequestSpec``
        """
        # Nova's base class, whose method this replaces, checks it for each host.
        if utils.request_is_rebuild(spec_obj):
            yield from filter_obj_list
            return
        boot, now = read_boot(spec_obj), int(time.time())
        reader = Reader(self._freepool, reads_promises=boot.lifetime is not None)
        refused: Counter[str] = Counter()
        passed = 0
        for host_state in filter_obj_list:
            reason = self._refusal(host_state, spec_obj, boot, reader.read(host_state.aggregates, host_state.host), now)
            if reason is None:
                passed += 1
                yield host_state
            else:
                refused[reason] += 1
        if refused and not passed:
            # Nova itself logs only that the filter returned 0 hosts.
            LOG.info("No host is left for server %s: %s", spec_obj.instance_uuid, _summary(refused))

    def host_passes(self, host_state: Any, filter_properties: Any) -> bool:
        """Return whether a server may start on a host.

        :param host_state: the host as nova-scheduler sees it
        :param filter_properties: Nova's ``RequestSpec``
        """
        boot = read_boot(filter_properties)
        reads_promises = boot.lifetime is not None
        found = read_host(host_state.aggregates, self._freepool, host_state.host, reads_promises=reads_promises)
        return self._refusal(host_state, filter_properties, boot, found, int(time.time())) is None

    def _refusal(self, host_state: Any, spec: Any, boot: Boot, found: HostLeases, now: int) -> str | None:
        reason = refusal(boot, found, now, self._rules)
        if reason is not None:
            LOG.debug("%s is no host for %s: %s", host_state.host, spec.instance_uuid, reason)
        return reason


def _summary(refused: Counter[str]) -> str:
    """Return each reason with the number of hosts refused for it, the most frequent first."""
    told = [f"{reason} ({count} host{'s' if count > 1 else ''})" for reason, count in refused.most_common(_REASONS)]
    if len(refused) > _REASONS:
        told.append(f"{len(refused) - _REASONS} more reasons")
    return "; ".join(told)
