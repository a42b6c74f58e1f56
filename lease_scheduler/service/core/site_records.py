"""The records of a site besides its leases, in memory and as changes to write: hosts, addresses and series."""

from __future__ import annotations

from lease_scheduler.model.host import Site
from lease_scheduler.records.feeds import FeedRecord
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.records.series import SeriesRecord
from lease_scheduler.records.site import SiteBuilder
from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.records.units import Units
from lease_scheduler.service.core.provider_terms import NestedClasses
from lease_scheduler.service.core.unit_of_work import UnitOfWork
from lease_scheduler.service.core.withdrawn_ids import WithdrawnIds


class SiteRecords:
    """The records of a site besides its leases. Read the attributes freely, but change them only by the methods.

    Call methods that change records within a transaction.

    :param snapshot: the contents of the store
    :param work: collects the changes
    :ivar hosts: compute hosts by id
    :ivar out_of_service: ids of the hosts that are recorded as out of service
    :ivar floating_ips: addresses by id
    :ivar private_properties: whether only administrators see a property, by resource type and name
    :ivar series: series that are not deleted, by id
    :ivar feeds: secret addresses of projects, by id
    :ivar withdrawn: ids of requests that were given up
    """

    def __init__(self, snapshot: Snapshot, work: UnitOfWork) -> None:
        self._work = work
        self._builder = SiteBuilder()
        self.hosts: dict[int, HostRecord] = {host.host_id: host for host in snapshot.hosts}
        self.floating_ips: dict[str, FloatingIpRecord] = {ip.floating_ip_id: ip for ip in snapshot.floating_ips}
        self.private_properties = dict(snapshot.private_properties)
        self.series: dict[str, SeriesRecord] = {series.series_id: series for series in snapshot.series}
        self.feeds: dict[str, FeedRecord] = {feed.feed_id: feed for feed in snapshot.feeds}
        self.withdrawn = WithdrawnIds(snapshot.policy_state)
        self._nested: dict[str | None, NestedClasses] = {}
        self._last_host_id = max(self.hosts, default=0)
        self.out_of_service = {host.host_id for host in snapshot.hosts if host.out_until is not None}

    def site(self) -> Site:
        """Return the hosts and addresses as the planner sees them."""
        return self._builder.build(self.hosts.values(), self.floating_ips.values())

    def nested_in(self, pool: str | None) -> NestedClasses:
        """Return what the hosts of a pool have on nested providers.

        The result is cached until the providers, the traits or the pool of a host change.

        :param pool: its name, or None if the site has only one
        """
        if pool not in self._nested:
            self._nested[pool] = NestedClasses.of([host for host in self.hosts.values() if host.pool == pool])
        return self._nested[pool]

    def pool_of_units(self) -> dict[str, str | None]:
        """Return the pools of hosts and addresses, by their names in the plan."""
        found = {host.name: host.pool for host in self.hosts.values()}
        return found | {ip.floating_ip_address: ip.pool for ip in self.floating_ips.values()}

    def number(self, units: Units, site: Site) -> None:
        """Assign to hosts and addresses the numbers that they have in a site of the planner.

        :param units: the numbers that the store uses
        """
        for host in self.hosts.values():
            units.assign(str(host.host_id), site.index[host.name])
        for floating_ip in self.floating_ips.values():
            units.assign(floating_ip.floating_ip_id, site.index[floating_ip.floating_ip_address])

    def next_host_ids(self, count: int) -> range:
        """Return ids for new hosts; no id is given twice while this engine leads."""
        first = self._last_host_id + 1
        self._last_host_id += count
        return range(first, first + count)

    def put_host(self, host: HostRecord) -> None:
        """Store a new value of a host."""
        before = self.hosts.get(host.host_id)
        if before is None or _nesting(before) != _nesting(host):
            self._nested.clear()
        self.hosts[host.host_id] = host
        if host.out_until is None:
            self.out_of_service.discard(host.host_id)
        else:
            self.out_of_service.add(host.host_id)
        self._work.changes.hosts[host.host_id] = host

    def remove_host(self, host_id: int) -> None:
        """Delete a host."""
        self._nested.clear()
        del self.hosts[host_id]
        self.out_of_service.discard(host_id)
        self._work.changes.hosts[host_id] = None

    def put_floating_ip(self, floating_ip: FloatingIpRecord) -> None:
        """Store a new address."""
        self.floating_ips[floating_ip.floating_ip_id] = floating_ip
        self._work.changes.floating_ips[floating_ip.floating_ip_id] = floating_ip

    def remove_floating_ip(self, floating_ip_id: str) -> None:
        """Delete an address."""
        del self.floating_ips[floating_ip_id]
        self._work.changes.floating_ips[floating_ip_id] = None

    def set_private(self, resource_type: str, name: str, private: bool) -> None:
        """Set whether only administrators see a property, rather than all projects."""
        self.private_properties[resource_type, name] = private
        self._work.changes.private_properties[resource_type, name] = private

    def private_names(self) -> frozenset[str]:
        """Return the names of the properties that only administrators see."""
        return frozenset(name for (_, name), is_private in self.private_properties.items() if is_private)

    def put_series(self, series: SeriesRecord) -> None:
        """Store a new value of a series. A series that is deleted is removed from memory."""
        self._work.changes.series[series.series_id] = series
        if series.deleted_at is None:
            self.series[series.series_id] = series
        else:
            self.series.pop(series.series_id, None)

    def put_feed(self, feed: FeedRecord) -> None:
        """Store a new secret address of a project."""
        self.feeds[feed.feed_id] = feed
        self._work.changes.feeds[feed.feed_id] = feed

    def remove_feed(self, feed_id: str) -> None:
        """Withdraw a secret address."""
        del self.feeds[feed_id]
        self._work.changes.feeds[feed_id] = None


def _nesting(host: HostRecord) -> tuple[object, ...]:
    """Return what ``nested_in`` sees of a host."""
    return host.providers, host.traits, host.pool
