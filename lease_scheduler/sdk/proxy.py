"""The methods of ``connection.reservation``, named as openstacksdk names those of other services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from openstack import proxy, resource

from lease_scheduler.sdk.base import raise_refusal
from lease_scheduler.sdk.reports import Availability, Budget, Capacity, Events, Forecast, SiteDescription, Usage
from lease_scheduler.sdk.resources import (
    ChangeQuote,
    Feed,
    FloatingIP,
    Host,
    Lease,
    Maintenance,
    Pool,
    Quote,
    Series,
    Site,
    Subscription,
)

#: Final states, which end a wait for another state.
_OVER = ("done", "rejected", "rejected-by-user", "cancelled", "failed")


class Proxy(proxy.Proxy):
    """The reservation service. Methods raise openstack.exceptions.HttpException when it refuses a request.

    Wherever an argument names a resource, it is the resource or its id.
    """

    # -- leases ----------------------------------------------------------------------------------------------

    def leases(self, **query: Any) -> Iterator[Lease]:
        """Return leases, of the own project unless the query says otherwise.

        :param query: name, status, state, kind, project_id, all_projects, deleted, series_id, number, live, pool, site,
            sort_key, sort_dir, limit (of one request), marker
        """
        return self._list(Lease, **query)

    def get_lease(self, lease: str | Lease) -> Lease:
        """Return a lease."""
        return self._get(Lease, lease)

    def find_lease(self, name_or_id: str, ignore_missing: bool = True) -> Lease | None:
        """Return the lease with a name or id, or None.

        :raises openstack.exceptions.DuplicateResource: several leases have the name
        """
        return self._find(Lease, name_or_id, ignore_missing=ignore_missing)

    def create_lease(self, **terms: Any) -> Lease:
        """Request a lease.

        :param terms: name, kind, start_date, end_date, duration, deadline, nodes or reservations, and the other
            attributes of leases; with a new UUID as id, the request can be repeated without a second lease; behind a
            gateway, site for the only site that is asked
        """
        return self._create(Lease, **terms)

    def update_lease(self, lease: str | Lease, **terms: Any) -> Lease:
        """Change a lease. With its version, the change is refused if the lease has changed since."""
        return self._update(Lease, lease, **terms)

    def delete_lease(self, lease: str | Lease, ignore_missing: bool = True) -> None:
        """Cancel a lease and remove it from the list."""
        self._delete(Lease, lease, ignore_missing=ignore_missing)

    def extend_lease(self, lease: str | Lease, **terms: Any) -> Lease:
        """Extend a lease: by a duration, to an end_date, or to a total duration; max_price limits its price."""
        return self._act(lease, "extend", terms)

    def shrink_lease(self, lease: str | Lease, **terms: Any) -> Lease:
        """End a lease earlier (by, end_date, duration), or give back nodes (reservations)."""
        return self._act(lease, "shrink", terms)

    def move_lease(self, lease: str | Lease, **terms: Any) -> Lease:
        """Move a lease to another time (start_date, end_date), or away from hosts (hosts_away)."""
        return self._act(lease, "move", terms)

    def end_lease(self, lease: str | Lease) -> Lease:
        """End a lease now, as if it had reached its end."""
        return self._act(lease, "end", {})

    def ready_lease(self, lease: str | Lease) -> Lease:
        """Say that all servers of a lease are ready to be preempted."""
        return self._act(lease, "ready", {})

    def cancel_lease(self, lease: str | Lease, reason: str | None = None) -> Lease:
        """Cancel a lease, with a reason for its history."""
        return self._act(lease, "cancel", {} if reason is None else {"reason": reason})

    def accept_lease(self, lease: str | Lease) -> Lease:
        """Accept a held lease."""
        return self._act(lease, "accept", {})

    def reject_lease(self, lease: str | Lease) -> Lease:
        """Reject a held lease."""
        return self._act(lease, "reject", {})

    def approve_lease(self, lease: str | Lease, reason: str | None = None) -> Lease:
        """Approve a lease that awaits approval."""
        return self._act(lease, "approve", {} if reason is None else {"reason": reason})

    def decline_lease(self, lease: str | Lease, reason: str | None = None) -> Lease:
        """Decline a lease that awaits approval, which ends it."""
        return self._act(lease, "decline", {} if reason is None else {"reason": reason})

    def counter_lease(self, lease: str | Lease, **terms: Any) -> Lease:
        """Ask for other terms for a held lease; if they cannot be granted, it is held as before."""
        return self._act(lease, "counter", terms)

    def quote_lease_change(self, lease: str | Lease, **change: Any) -> ChangeQuote:
        """Ask what a change would come to, without changing anything.

        :param change: one of ``change={...}``, ``extend={...}`` and ``shrink={...}``
        """
        return self._get_resource(Lease, lease).fetch_quote(self, **change)

    def withdraw_lease_request(self, lease_id: str) -> None:
        """Give up a request with an id of one's own, so that it is refused if it arrives later.

        :raises openstack.exceptions.ConflictException: it has arrived; end the lease instead
        """
        answer = self.put(f"/withdrawals/{lease_id}", microversion=Lease._get_microversion(self))
        raise_refusal(answer)

    def lease_history(self, lease: str | Lease) -> list[dict[str, str]]:
        """Return the transitions of a lease, oldest first, with their reasons."""
        return self._get_resource(Lease, lease).fetch_history(self)

    def lease_hosts(self, lease: str | Lease) -> list[dict[str, str]]:
        """Return the hosts of a lease, for users who may see them."""
        return self._get_resource(Lease, lease).fetch_hosts(self)

    def wait_for_lease(
        self,
        lease: Lease,
        state: str = "active",
        failures: Iterable[str] = _OVER,
        interval: float = 2,
        wait: float = 300,
    ) -> Lease:
        """Wait until a lease is in a state.

        :param failures: states that end the waiting
        :param interval: seconds between two requests
        :param wait: maximum number of seconds
        :raises openstack.exceptions.ResourceFailure: it came into a state of ``failures``
        :raises openstack.exceptions.ResourceTimeout: it took too long
        """
        unwanted = [each for each in failures if each != state]
        return resource.wait_for_status(self, lease, state, unwanted, interval, wait, "state")

    def _act(self, lease: str | Lease, action: str, terms: dict[str, Any]) -> Lease:
        return self._get_resource(Lease, lease).act(self, action, **terms)

    # -- planning --------------------------------------------------------------------------------------------

    def create_quote(self, **terms: Any) -> Quote:
        """Ask what a lease would come to; with hold=True, hold it for some time."""
        return self._create(Quote, **terms)

    def get_availability(self, **query: Any) -> Availability:
        """Return when nodes are free.

        :param query: start, end, duration, count, vcpus, memory_mb, disk_gb, resources, traits, properties, exclusive,
            per_host, pool
        """
        return Availability().fetch(self, requires_id=False, **query)

    def get_usage(self, **query: Any) -> Usage:
        """Return what projects occupied.

        :param query: project_id, all_projects, start, end, interval
        """
        return Usage().fetch(self, requires_id=False, **query)

    def get_events(self, **query: Any) -> Events:
        """Return what happened to leases, oldest first.

        :param query: since (``next`` of an earlier answer), limit, project_id, all_projects
        """
        return Events().fetch(self, requires_id=False, **query)

    def get_site_description(self) -> SiteDescription:
        """Return what can be asked of the site, with its capacity and load for peers."""
        return SiteDescription().fetch(self, requires_id=False)

    def get_budget(self, **query: Any) -> Budget:
        """Return what a project may still use.

        :param query: project_id
        """
        return Budget().fetch(self, requires_id=False, **query)

    def get_capacity(self, **query: Any) -> Capacity:
        """Return how many hosts can go, or are missing. For administrators.

        :param query: start, end, promises, fewer_hosts
        """
        return Capacity().fetch(self, requires_id=False, **query)

    def forecasts(self) -> Iterator[Forecast]:
        """Return how often forecasts held. For administrators."""
        return self._list(Forecast)

    def series(self) -> Iterator[Series]:
        """Return the series of the own project."""
        return self._list(Series)

    def get_series(self, series: str | Series) -> Series:
        """Return a series with the ids of its leases."""
        return self._get(Series, series)

    def create_series(self, **terms: Any) -> Series:
        """Request leases that repeat.

        :param terms: name, rule (such as ``FREQ=WEEKLY;COUNT=10``) and lease, the terms of the first lease
        """
        return self._create(Series, **terms)

    def delete_series(self, series: str | Series, ignore_missing: bool = True) -> None:
        """End a series and its leases that have not started."""
        self._delete(Series, series, ignore_missing=ignore_missing)

    # -- notifications ---------------------------------------------------------------------------------------

    def subscriptions(self, **query: Any) -> Iterator[Subscription]:
        """Return the subscriptions of the own project unless the query (project_id, all_projects) says otherwise."""
        return self._list(Subscription, **query)

    def get_subscription(self, subscription: str | Subscription) -> Subscription:
        """Return a subscription."""
        return self._get(Subscription, subscription)

    def create_subscription(self, **terms: Any) -> Subscription:
        """Subscribe to notifications.

        :param terms: driver, target, event_types and lease_id
        :return: the subscription, with its secret, which is not shown again
        """
        return self._create(Subscription, **terms)

    def update_subscription(self, subscription: str | Subscription, **terms: Any) -> Subscription:
        """Change the target or the event_types of a subscription."""
        return self._update(Subscription, subscription, **terms)

    def delete_subscription(self, subscription: str | Subscription, ignore_missing: bool = True) -> None:
        """Delete a subscription."""
        self._delete(Subscription, subscription, ignore_missing=ignore_missing)

    # -- pools -----------------------------------------------------------------------------------------------

    def pools(self) -> Iterator[Pool]:
        """Return the pools that the own project may use; none if the site has only one."""
        return self._list(Pool)

    # -- sites behind a gateway ------------------------------------------------------------------------------

    def sites(self) -> Iterator[Site]:
        """Return the sites behind the gateway; none if the service is no gateway."""
        return self._list(Site)

    def get_site(self, site: str | Site) -> Site:
        """Return a site behind the gateway, by its name."""
        return self._get(Site, site)

    # -- feeds -----------------------------------------------------------------------------------------------

    def feeds(self, **query: Any) -> Iterator[Feed]:
        """Return the feeds of the own project unless the query (project_id, all_projects) says otherwise."""
        return self._list(Feed, **query)

    def get_feed(self, feed: str | Feed) -> Feed:
        """Return a feed, without its address."""
        return self._get(Feed, feed)

    def create_feed(self, name: str) -> Feed:
        """Make a secret address for the leases of the project.

        :return: the feed, with its url, which is not shown again
        """
        return self._create(Feed, name=name)

    def delete_feed(self, feed: str | Feed, ignore_missing: bool = True) -> None:
        """Withdraw a feed. Its address is no longer served."""
        self._delete(Feed, feed, ignore_missing=ignore_missing)

    # -- the pool --------------------------------------------------------------------------------------------

    def hosts(self) -> Iterator[Host]:
        """Return the hosts of the pool."""
        return self._list(Host)

    def get_host(self, host: str | Host) -> Host:
        """Return a host of the pool."""
        return self._get(Host, host)

    def create_host(self, name: str, **capabilities: Any) -> Host:
        """Add a hypervisor to the pool."""
        return self._create(Host, name=name, **capabilities)

    def update_host(self, host: str | Host, **capabilities: Any) -> Host:
        """Change the capabilities of a host; None removes one."""
        return self._update(Host, host, **capabilities)

    def delete_host(self, host: str | Host, ignore_missing: bool = True) -> None:
        """Remove a host from the pool."""
        self._delete(Host, host, ignore_missing=ignore_missing)

    def floating_ips(self) -> Iterator[FloatingIP]:
        """Return the floating IP addresses of the pool."""
        return self._list(FloatingIP)

    def get_floating_ip(self, floating_ip: str | FloatingIP) -> FloatingIP:
        """Return a floating IP address of the pool."""
        return self._get(FloatingIP, floating_ip)

    def create_floating_ip(self, **terms: Any) -> FloatingIP:
        """Add a floating IP address (floating_network_id, floating_ip_address) to the pool."""
        return self._create(FloatingIP, **terms)

    def delete_floating_ip(self, floating_ip: str | FloatingIP, ignore_missing: bool = True) -> None:
        """Remove a floating IP address from the pool."""
        self._delete(FloatingIP, floating_ip, ignore_missing=ignore_missing)

    def maintenances(self) -> Iterator[Maintenance]:
        """Return the maintenances that are not over."""
        return self._list(Maintenance)

    def create_maintenance(self, **terms: Any) -> Maintenance:
        """Keep hosts free of leases (name, start_date, end_date or duration, hosts)."""
        return self._create(Maintenance, **terms)
