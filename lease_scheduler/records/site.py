"""The pool as the planner sees it: compute hosts and floating IPs."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.providers import Provider
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST, Resources
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord

#: Host 0 of every site, without capacity: a site needs at least one host.
_NOTHING = Host("(none)", Resources({}))


def compute_host(record: HostRecord) -> Host:
    """Return a compute host in the terms of the plan; one that is not reservable has no capacity."""
    if not record.reservable:
        return Host(record.name, Resources({}))
    return Host(
        record.name,
        Resources({**record.capacity, HOST_SHARE: WHOLE_HOST}),
        frozenset(record.traits),
        Resources(record.max_unit),
        tuple(
            Provider(Resources(each.capacity), frozenset(each.traits), Resources(each.max_unit))
            for each in record.providers
        ),
    )


def address(record: FloatingIpRecord) -> Host:
    """Return a floating IP in the terms of the plan: a host with the capacity of one address."""
    return Host(record.floating_ip_address, Resources({FLOATING_IP: 1}))


class SiteBuilder:
    """Builder of the site of a pool, which reuses hosts whose records have not changed since the last time."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[HostRecord, Host]] = {}

    def build(self, hosts: Iterable[HostRecord], floating_ips: Iterable[FloatingIpRecord]) -> Site:
        """Return the site: hosts in the given order from number 1 on, then floating IPs in theirs."""
        return Site((_NOTHING, *(self._host(record) for record in hosts), *(address(ip) for ip in floating_ips)))

    def _host(self, record: HostRecord) -> Host:
        known = self._known.get(record.host_id)
        if known is None or known[0] is not record:
            known = self._known[record.host_id] = (record, compute_host(record))
        return known[1]
