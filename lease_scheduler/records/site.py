"""The pool as the planner sees it: compute hosts and floating IPs."""

from __future__ import annotations

from collections.abc import Iterable

from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.providers import Provider
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST, Resources
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord

#: A site needs a host; this one is always the first, and offers nothing.
_NOTHING = Host("(none)", Resources({}))


def compute_host(record: HostRecord) -> Host:
    """A compute host in the terms of the plan; one that is not reservable offers nothing."""
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
    """A floating IP in the terms of the plan: a host that holds one of it."""
    return Host(record.floating_ip_address, Resources({FLOATING_IP: 1}))


class SiteBuilder:
    """Makes the site of a pool again and again, and only those hosts anew that changed."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[HostRecord, Host]] = {}

    def build(self, hosts: Iterable[HostRecord], floating_ips: Iterable[FloatingIpRecord]) -> Site:
        """All that can be leased; hosts first, each in the order given, from number 1 on."""
        return Site((_NOTHING, *(self._host(record) for record in hosts), *(address(ip) for ip in floating_ips)))

    def _host(self, record: HostRecord) -> Host:
        known = self._known.get(record.host_id)
        if known is None or known[0] is not record:
            known = self._known[record.host_id] = (record, compute_host(record))
        return known[1]
