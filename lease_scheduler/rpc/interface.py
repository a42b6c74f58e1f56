"""The requests to the engine of a site, all declared in one place.

``EngineRequests`` has a method for every request. The client sends what is declared here. The parts of the service mark
with ``answers`` which request a method answers, so that the type checker compares the signatures.

All values are plain and fit into JSON: instants and durations are whole seconds (UTC), and hosts are named by their id
as text. The keys of a lease document and of a lease view are described in
:mod:`lease_scheduler.api.requests.lease` and :mod:`lease_scheduler.api.views.lease`.
"""

# The methods are declarations, for which the client makes the bodies.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from lease_scheduler.model.documents import Document

#: Version of the interface. The second number grows when a method is added or changed, the first when a method is
#: removed. ``tests/unit/rpc/requests.txt`` lists the changes.
VERSION = "1.21"

#: Name of a request -> the method that answers it, whose first argument is the context.
Methods = Mapping[str, Callable[..., Document]]

_Arguments = ParamSpec("_Arguments")
_Part = TypeVar("_Part")


def topic(site: str) -> str:
    """Return the topic on which the engine of a site receives requests."""
    return f"lease-scheduler.engine.{site}"


class EngineRequests:
    """Every request that the engine of a site answers.

    Each method raises ``RefusedError`` if the engine refuses the request, and ``EngineUnavailableError`` if no engine
    answers in time. ``context`` has ``user_id``, ``project_id``, ``roles``, ``is_admin``, ``sees_site``,
    ``origin`` (name of the peer that asks, or null) and ``request_id``; refusals name hosts only if ``sees_site`` is
    true. Readers of the database see a change of a lease as soon as it is answered.
    """

    # -- leases ----------------------------------------------------------------------------------------------

    def create_lease(self, context: Document, lease: Document) -> Document:
        """Admit and plan a new lease. Return ``{"lease_id"}``."""

    def quote_lease(self, context: Document, lease: Document) -> Document:
        """Return what ``create_lease`` would come to, and reserve nothing.

        ``{"granted": bool, "reason": str, "start": int|null, "end": int|null, "hosts": [host id of each node],
        "preempts": [lease ids], "preempted_kinds": {kind: count}, "alternatives": [{"change", "start", "end", "count",
        "preempted"}], "queue_position": int|null, "price": float|null, "pool": str|null,
        "approval": str|null, "reason_code": str|null}``. ``approval`` is why the lease would have to be approved, and
        ``reason_code`` a value of ``RefusalReason`` if it is not granted.

        A gateway answers with ``preempted``, the number of leases, instead of ``preempts``, and also with ``site`` and
        ``unanswered``, the names of the sites that did not answer.
        """

    def offer_lease(self, context: Document, lease: Document) -> Document:
        """Hold a new lease until its project accepts it.

        Return the answer of ``quote_lease`` with ``lease_id`` and ``expires_at`` (instant). A lease that cannot be
        granted is refused.

        The document may ask for counter-offers, with ``counter_offers`` (maximum number), ``flexibility``
        (``latest_start``, ``fewest_nodes``, ``shortest_duration``) and ``counter_trusts``. Other leases may then be
        held in place of one that cannot be granted. In this case ``granted`` is false, and the answer has a
        ``negotiation_id`` and ``counter_offers``. Each counter-offer also has ``change``, ``count`` and ``duration``.
        """

    def accept_lease(self, context: Document, lease_id: str, trust_id: str | None = None) -> Document:
        """Accept a lease that is held for its project. Return ``{"lease_id"}``.

        :param trust_id: a trust for a lease that has none
        """

    def reject_lease(self, context: Document, lease_id: str) -> Document:
        """Reject a lease that is held for its project. Return ``{}``."""

    def counter_offer(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Ask for other terms of a held lease. Return ``{"lease_id"}``. After a refusal its terms are unchanged."""

    def decide_lease(self, context: Document, lease_id: str, approved: bool, reason: str) -> Document:
        """Approve or decline a lease that awaits approval. Return ``{"lease_id"}``.

        :param reason: for people; empty for none
        """

    def quote_change(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Return what ``update_lease`` would come to: the answer of ``quote_lease``, and ``present_price``."""

    def update_lease(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Change some keys of the lease document. Return ``{"lease_id"}``.

        :param changes: the keys to change. An element of ``reservations`` has the ``id`` of a reservation and the keys
            of it to change
        """

    def delete_lease(self, context: Document, lease_id: str, reason: str) -> Document:
        """Cancel what is left of a lease and remove it from the lists. Return ``{}``."""

    def end_lease(self, context: Document, lease_id: str) -> Document:
        """End a lease before its time. Return ``{}``."""

    def withdraw_request(self, context: Document, lease_id: str) -> Document:
        """Refuse the request for a lease with this id if it arrives later. Return ``{}``."""

    def ready_lease(self, context: Document, lease_id: str) -> Document:
        """Note that all servers of a warned lease are ready, so that it can be preempted at once. Return ``{}``."""

    def move_lease(self, context: Document, lease_id: str, hosts_away: list[str]) -> Document:
        """Replace some hosts of a lease by others. Return ``{"lease_id"}``.

        :param hosts_away: ids or names of the hosts that the lease leaves
        """

    def availability(self, context: Document, query: Document) -> Document:
        """Return when nodes are free: ``{"windows": [{"start", "end", "count"}], "earliest": int|null}``.

        ``query`` has ``nodes`` (one node set as in ``reservations[].nodes`` of a lease document), ``start``, ``end``,
        ``duration`` and ``count``, and may have ``pool``. The default is the first pool.
        """

    def create_series(self, context: Document, series: Document) -> Document:
        """Create a series of leases.

        ``series`` has ``id``, ``name``, ``project_id``, ``user_id``, ``rule`` (iCalendar RRULE), ``starts`` (the
        instants at which the occurrences start, ascending), ``trusts`` (a trust for each occurrence, if they need any)
        and ``lease`` (the document of the first occurrence; the others differ in ids and dates).

        Return ``{"series_id", "leases": [ids], "refused": [{"start", "message"}]}``.
        """

    def delete_series(self, context: Document, series_id: str) -> Document:
        """End a series, and delete its leases that have not started. Return ``{}``."""

    # -- subscriptions ---------------------------------------------------------------------------------------

    def create_subscription(self, context: Document, subscription: Document) -> Document:
        """Subscribe a project to notifications about its leases. Return ``{"subscription_id"}``.

        ``subscription`` has ``id``, ``project_id``, ``user_id``, ``driver``, ``target``, ``event_types`` (empty for
        all), ``lease_id`` (or null) and ``secret`` (or null).
        """

    def update_subscription(self, context: Document, subscription_id: str, changes: Document) -> Document:
        """Change ``target`` or ``event_types`` of a subscription. Return ``{"subscription_id"}``."""

    def delete_subscription(self, context: Document, subscription_id: str) -> Document:
        """Delete a subscription, and what waits to be sent to it. Return ``{}``."""

    # -- feeds -----------------------------------------------------------------------------------------------

    def create_feed(self, context: Document, feed: Document) -> Document:
        """Give a project a secret address at which its leases can be read. Return ``{"feed_id"}``.

        ``feed`` has ``id``, ``project_id``, ``user_id``, ``name`` and ``digest``, the digest of the secret.
        """

    def delete_feed(self, context: Document, feed_id: str) -> Document:
        """Withdraw a secret address. Return ``{}``."""

    # -- flows -----------------------------------------------------------------------------------------------

    def list_flows(self, context: Document) -> Document:
        """Return the flows among which the site is shared.

        ``{"policy": name of the queueing policy, "flows": [{"name", "weight", "source", "share": float|null, "behind":
        host-seconds, "queued": int, "leases": [{"lease_id", "position", "expected_start", "blocked"}]}]}``. ``source``
        says where the weight comes from: ``set``, ``configured``, ``donated`` or ``default``. ``blocked`` is the reason
        why a lease cannot start at present, or null.
        """

    def set_flow(self, context: Document, name: str, weight: float | None) -> Document:
        """Set the weight of a flow; null for the configured one. Return ``{}``."""

    # -- peers -----------------------------------------------------------------------------------------------

    def list_peers(self, context: Document) -> Document:
        """Return the peers that have limits or live leases.

        ``{"peers": [{"name", "limits": as ``PeerLimits.plain``, "leases": int, "nodes": int, "share": float,
        "node_hours": float, "offers": int, "cost": float}]}``
        """

    def check_project(self, context: Document, peer: str, project_id: str) -> Document:
        """Refuse a project for which a peer may not request leases. Return ``{}``."""

    def set_peer(self, context: Document, name: str, limits: Document | None) -> Document:
        """Set the limits of a peer, all at once; null removes them. Return ``{}``."""

    # -- forecasts -------------------------------------------------------------------------------------------

    def list_forecasts(self, context: Document) -> Document:
        """Return how well forecasts held.

        ``{"forecasts": [{"name", "pool": str|null, "asked": float|null, "held": float|null, "count": int, "since":
        instant|null}]}``. ``held`` is the share of the forecasts that held, and ``asked`` the share that should.
        """

    # -- budgets ---------------------------------------------------------------------------------------------

    def show_budget(self, context: Document, project_id: str) -> Document:
        """Return what is left of the budgets of a project.

        ``{"budget": [{"measure", "start": instant, "end": instant, "limit": float, "used": float, "reserved": float,
        "requested": float, "left": float}]|null}``, in hours; null if the site has no budgets.
        """

    # -- capacity --------------------------------------------------------------------------------------------

    def list_least_yields(self, context: Document, fewer: list[int]) -> Document:
        """Return what fluid leases would get with fewer hosts.

        ``{"least_yields": [{"pool": str|null, "fewer": int, "hosts": int, "without": [host names], "least_yield":
        float|null, "leases": int, "waiting": int}]}``

        :param fewer: numbers of hosts to switch off
        """

    # -- hosts and addresses ---------------------------------------------------------------------------------

    def create_host(self, context: Document, host: Document, *, pool: str | None = None) -> Document:
        """Add a compute host to the site: ``name`` (or ``id``), and capabilities. Return ``{"host_id"}``.

        :param pool: name of its pool; None for the configured pool
        """

    def create_hosts(self, context: Document, names: list[str], *, pool: str | None = None) -> Document:
        """Add several compute hosts to the site, all of them or none. Return ``{"host_ids"}``.

        :param pool: as in ``create_host``
        """

    def update_host(self, context: Document, host_id: str, values: Document, *, pool: str | None = None) -> Document:
        """Set capabilities of a host; null removes one. Return ``{"host_id"}``.

        :param pool: name of the pool to which it is moved; None to leave it where it is
        """

    def delete_host(self, context: Document, host_id: str) -> Document:
        """Remove a compute host from the pool. Return ``{}``."""

    def sleep_host(self, context: Document, host_id: str) -> Document:
        """Let a compute host sleep until a lease needs it. Return ``{}``."""

    def wake_host(self, context: Document, host_id: str) -> Document:
        """Wake a compute host. Return ``{}``."""

    def update_property(self, context: Document, resource_type: str, name: str, private: bool) -> Document:
        """Show a property to all projects, or to administrators only. Return ``{}``."""

    def create_floatingip(self, context: Document, values: Document) -> Document:
        """Add an address to the pool. Return ``{"floatingip_id"}``.

        :param values: ``floating_network_id`` and ``floating_ip_address``; may have ``pool``, the name of its pool
        """

    def delete_floatingip(self, context: Document, floatingip_id: str) -> Document:
        """Remove an address from the pool. Return ``{}``."""

    # -- the engine itself -----------------------------------------------------------------------------------

    def ping(self, context: Document) -> Document:
        """Return what keeps the engine from working: ``{"problem": str|null}``."""

    def reconcile(self, context: Document, *, dry_run: bool = False) -> Document:
        """Compare leases and cloud now, and repair the differences.

        Return ``{"repaired": {kind of repair: count}, "differences": [...]}``.

        :param dry_run: only report the differences
        """

    def list_installed(self, context: Document) -> Document:
        """Return what ``uninstall`` would end or remove: ``leases``, ``series``, ``hosts``, ``floating_ips``, ..."""

    def uninstall(self, context: Document, *, end_leases: bool = False, keep_providers: bool = False) -> Document:
        """Remove the service from the cloud, as far as is possible at once, and return what is left.

        ``{"is_over": bool, "leases": int, "operations": int, "left_over": int, "reload": [host names]}``

        :param end_leases: end live leases and series now
        :param keep_providers: keep the empty resource providers of slots
        """


#: The names of all requests.
METHODS: tuple[str, ...] = tuple(name for name in vars(EngineRequests) if not name.startswith("_"))


def answers(
    request: Callable[Concatenate[Any, _Arguments], Document],
) -> Callable[[Callable[Concatenate[_Part, _Arguments], Document]], Callable[Concatenate[_Part, _Arguments], Document]]:
    """Mark a method as the one that answers a request.

    :param request: method of ``EngineRequests``; the marked one must take the same arguments
    """

    def mark(
        method: Callable[Concatenate[_Part, _Arguments], Document],
    ) -> Callable[Concatenate[_Part, _Arguments], Document]:
        method.answers = request.__name__  # type: ignore[attr-defined]
        return method

    return mark


def methods_of(*parts: object) -> dict[str, Callable[..., Document]]:
    """Return the methods that answer the requests, found in the parts of a service.

    :raises TypeError: a request is answered by no method, or by two
    """
    found: dict[str, Callable[..., Document]] = {}
    for part in parts:
        for attribute, function in vars(type(part)).items():
            name = getattr(function, "answers", None)
            if name in found:
                raise TypeError(f"two methods answer {name}")
            if name is not None:
                found[name] = getattr(part, attribute)
    if found.keys() != set(METHODS):
        raise TypeError(f"nothing answers {', '.join(sorted(set(METHODS) - found.keys()))}")
    return found
