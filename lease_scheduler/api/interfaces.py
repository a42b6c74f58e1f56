"""What the API needs from outside: a reader of the database, and trusts. ``rpc.interface`` declares the changes.

All values are plain and fit into JSON: instants and durations are whole seconds (UTC), hosts are named by their id as
text. The keys of a lease document and of a lease view are described in
:mod:`lease_scheduler.api.requests.lease` and :mod:`lease_scheduler.api.views.lease`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError, StoreFullError, StoreUnavailableError
from lease_scheduler.records.calendar import CalendarIndex, HeldHosts, SiteVersion
from lease_scheduler.records.history import EventPage
from lease_scheduler.records.listing import LeaseEntry

__all__ = [
    "CalendarIndex",
    "EngineUnavailableError",
    "Reader",
    "RefusedError",
    "SiteVersion",
    "StoreFullError",
    "StoreUnavailableError",
]


class Trusts(Protocol):
    """Trusts with which the service acts for projects later, when the token of the request has expired."""

    def give(self, token: Any) -> str:
        """Create a trust by which the sender of a request delegates roles to the service, and return its id.

        :param token: the sender, as keystonemiddleware describes them (``keystone.token_auth``)
        :raises ApiError: the sender may not create the trust, or the identity service does not answer
        """
        ...

    def take_back(self, token: Any, trust_id: str) -> None:
        """Delete a trust that the sender has given."""
        ...

    def decide_later(self, trusts: Iterable[str]) -> None:
        """Delete trusts of a request whose outcome is unknown, later, unless a lease has them by then."""
        ...


class Names(Protocol):
    """Names by which people know projects and users."""

    def projects(self) -> Mapping[str, str]:
        """Return the names of the known projects, by id."""
        ...

    def user(self, user_id: str) -> str | None:
        """Return the name of a user, or None if it is not known."""
        ...

    def has_project(self, project_id: str) -> bool:
        """Return whether there is an enabled project with this id.

        :raises IdentityUnavailableError: nobody can say so at present
        """
        ...


class Sites(Protocol):
    """The sites behind a gateway (see ``service.gateway.sites``)."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the sites, in the configured order."""
        ...

    def unreachable(self) -> Mapping[str, int]:
        """Return the sites that do not answer, with the instant since which they do not."""
        ...

    def shown(self) -> list[Document]:
        """Return the sites.

        A site has ``name``, ``state``, ``last_answer``, ``unreachable_since``, ``verbs``, ``speed``, ``capacity`` and
        ``load``. All but the first two may be None.
        """
        ...


class Reader(Protocol):
    """Read access to the database.

    Every method raises ``StoreUnavailableError`` if the database does not answer.
    """

    def lease(self, lease_id: str, deleted: bool = False) -> Document | None:
        """Return the view of the lease with this id, or None.

        :param deleted: whether deleted leases are found too
        """
        ...

    def leases(
        self,
        filters: Mapping[str, Any],
        sort: Sequence[tuple[str, str]] = (),
        limit: int | None = None,
        marker: str | None = None,
    ) -> list[Document]:
        """Return the views of leases.

        :param filters: values that the leases must have: ``project_id``, ``user_id``, ``name``, ``kind``,
            ``series_id``, ``maintenance``, ``pool``, ``site``, ``number``; ``after``: an instant, which excludes leases
            that ended before, or were to end before; ``states``: a list of values of ``LeaseState``; ``statuses``: a
            list of Blazar's statuses (see :mod:`lease_scheduler.model.blazar`); ``live``: true excludes leases that are
            over; ``deleted``: true includes deleted ones
        :param sort: keys (``name``, ``start``, ``end``, ``created_at``, ``updated_at``, ``kind``, ``state``, ``id``,
            ``project_id``) with ``asc`` or ``desc``; without keys, leases are in the order of their submission
        :param limit: maximum number of leases; None means no limit
        :param marker: id of the lease after which the list starts
        :raises RefusedError: 400, there is no lease with the marker's id
        """
        ...

    def lease_entries(
        self,
        filters: Mapping[str, Any],
        sort: Sequence[tuple[str, str]] = (),
        limit: int | None = None,
        marker: str | None = None,
    ) -> list[LeaseEntry]:
        """Return the leases of a list as entries, which differ when the lease has changed.

        The arguments are those of ``leases``.
        """
        ...

    def known_trusts(self, ids: Collection[str]) -> frozenset[str]:
        """Return those of the given trusts that a host or a lease has. Ended and deleted leases count."""
        ...

    def leases_by_id(self, ids: Sequence[str]) -> list[Document]:
        """Return the views of the leases that exist, deleted ones included, in any order."""
        ...

    def unit_names(self, units: Collection[str]) -> dict[str, str]:
        """Return the names of hosts and the addresses of floating IPs, by id. Unknown ids are left out."""
        ...

    def lease_projects(self) -> Sequence[str]:
        """Return the projects that have leases, sorted."""
        ...

    def history(self, lease_id: str) -> list[Document]:
        """Return what has happened to a lease, earliest first.

        An entry has ``instant``, ``from``, ``to``, ``reason``, and ``user_id`` and ``project_id`` of the user who asked
        for it (None if nobody did).
        """
        ...

    def events(self, since: int, limit: int, project_id: str | None = None, origin: str | None = None) -> EventPage:
        """Return transitions of leases in the order in which they happened.

        If there are no more events, ``next`` of the page is the number of the last one of the site, of whatever
        project. It is less than ``since`` if the database was restored from a backup, or if events were purged.

        :param since: number of the last event that the caller knows; 0 for none
        :param limit: maximum number of events; with 0 the page only says which number is the last one
        :param project_id: project of the leases; None for all
        :param origin: peer whose leases are included whatever their project; None for no peer
        """
        ...

    def hosts(self) -> list[Document]:
        """Return all hosts in the order of their ids.

        A host has ``id`` (text), ``name``, ``hypervisor_type``, ``hypervisor_version``, ``vcpus``, ``cpu_info`` (text
        of a JSON object), ``memory_mb``, ``local_gb``, ``service_name``, ``availability_zone``, ``reservable``,
        ``trust_id``, ``created_at``, ``updated_at``, ``capacity``, ``traits``, ``properties`` ({name: text}) and
        ``out_until`` (None while it is in service).
        """
        ...

    def host(self, host_id: str) -> Document | None:
        """Return the host with this id, or None."""
        ...

    def arrivals(self) -> dict[str, Document]:
        """Return what is known of requests, as ``KnownArrivals.plain``, by ``published_load.sort_of``."""
        ...

    def host_properties(self) -> list[Document]:
        """Return the properties of all hosts, by name: ``property``, ``private``, ``values`` (distinct, sorted)."""
        ...

    def floatingips(self) -> list[Document]:
        """Return all floating IP addresses, with the columns of their table."""
        ...

    def floatingip(self, floatingip_id: str) -> Document | None:
        """Return the floating IP address with this id, or None."""
        ...

    def allocations(
        self,
        lease_id: str | None = None,
        reservation_id: str | None = None,
        host_id: str | None = None,
        now: int = 0,
    ) -> list[Document]:
        """Return which reservations have which host, one entry per host, including hosts without reservations.

        An entry has ``resource_id`` and ``reservations``, each with ``id``, ``lease_id``, ``start`` and ``end``. If
        neither a lease nor a reservation is given, reservations that ended before ``now`` are left out.
        """
        ...

    def usage(self, project_id: str | None, start: int, end: int, now: int, step: int | None = None) -> list[Document]:
        """Return what leases occupied in ``[start, end)``, one entry per project, kind, phase and step.

        An entry has ``project_id``, ``kind``, ``phase``, ``start``, ``node_seconds`` and ``resource_seconds`` ({class:
        amount x seconds}). Leases that still run count up to ``now``.

        :param project_id: None means all projects
        :param step: length of a step in seconds; None means a single step. Steps begin at multiples of it since the
            epoch, the first one at ``start``
        """
        ...

    def revenue(self, project_id: str | None, start: int, end: int, step: int | None = None) -> list[Document]:
        """Return the revenue earned and missed in ``[start, end)``, one entry per project and step that has any.

        An entry has ``project_id``, ``start``, and amounts of money: ``earned``, and what was missed because leases
        were ``undercharged``, ``rejected`` (there was no place for them) or ``rejected_by_user``.
        """
        ...

    def delays(self, project_id: str | None, start: int, end: int) -> list[Document]:
        """Return how long the leases that were done in ``[start, end)`` had waited, one entry per project and kind.

        An entry has ``project_id``, ``kind``, ``done`` (number of leases), ``mean_wait`` (seconds) and
        ``mean_bounded_slowdown``. The means are None for reservations.
        """
        ...

    def capacity(self, start: int, end: int, step: int | None = None) -> list[Document]:
        """Return the capacity of the pool in ``[start, end)``, one entry per step.

        An entry has ``start``, ``end`` and ``resource_seconds``. Hosts and addresses count while they were in the pool
        and reservable, whether they were in service or not.
        """
        ...

    def penalties(self, project_id: str | None, start: int, end: int) -> list[Document]:
        """Return the breaches that were found in ``[start, end)``, one entry per project and kind of breach.

        An entry has ``project_id``, ``kind``, ``count``, ``node_seconds`` (not delivered) and ``penalty`` (money).
        """
        ...

    def site_version(self) -> SiteVersion:
        """Return the present version of the site."""
        ...

    def calendar_index(self, start: int, end: int) -> CalendarIndex:
        """Return which leases the calendar has in ``[start, end)``, in the order of their submission."""
        ...

    def calendar_changes(self, since: int, start: int, end: int, most: int) -> CalendarIndex | None:
        """Return which leases of the calendar have changed, or None if they are more than ``most``.

        :param since: revision of the site after which they have changed
        :param most: maximum number of changed leases
        """
        ...

    def calendar_leases(self, ids: Sequence[str]) -> list[Document]:
        """Return leases as the calendar page shows them; ``store.sql.views.calendar_lease`` lists the keys.

        They are as of the present version of the site, in any order. Leases that do not exist are left out.
        """
        ...

    def calendar_hosts(self) -> list[Document]:
        """Return all hosts as the calendar page shows them: ``id``, ``name``, ``state``, ``vcpus``, ``memory_mb``.

        ``power`` is a ``HostPower`` or None, and ``watts`` has the properties of the host by the names in ``WATTS``.
        """
        ...

    def held_hosts(self, now: int) -> HeldHosts:
        """Return the hosts that leases hold at an instant."""
        ...

    def lease_states(self, project_id: str | None) -> dict[str, int]:
        """Return the number of leases by state, without states that no lease is in.

        :param project_id: None means all projects
        """
        ...

    def leases_at_sites(self, project_id: str | None) -> dict[str, int]:
        """Return the number of live leases by the site that they are at; those without a site are left out.

        :param project_id: None means all projects
        """
        ...

    def series(self, project_id: str | None = None) -> list[Document]:
        """Return the series that are not deleted.

        A series has ``id``, ``project_id``, ``user_id``, ``name``, ``rule``, ``template`` and ``created_at``.
        """
        ...

    def serie(self, series_id: str) -> Document | None:
        """Return the series with this id, or None."""
        ...

    def subscriptions(self, project_id: str | None = None) -> list[Document]:
        """Return the subscriptions of a project, or of all projects.

        A subscription has ``id``, ``project_id``, ``user_id``, ``driver``, ``target``, ``event_types``, ``lease_id``,
        ``created_at``, ``updated_at``, ``ended_at``, ``waiting`` (number of deliveries that wait), ``failures``
        (attempts that failed since the last success), ``next_attempt_at``, ``delivered_at`` and ``last_error``.
        """
        ...

    def subscription(self, subscription_id: str) -> Document | None:
        """Return the subscription with this id, or None."""
        ...

    def feeds(self, project_id: str | None = None) -> list[Document]:
        """Return the feeds of a project, or of all projects.

        A feed has ``id``, ``project_id``, ``user_id``, ``name`` and ``created_at``.
        """
        ...

    def feed(self, feed_id: str) -> Document | None:
        """Return the feed with this id, or None."""
        ...

    def feed_owner(self, digest: str) -> tuple[str, str] | None:
        """Return the project of the feed whose secret has this digest, and the digest as it is stored, or None."""
        ...
