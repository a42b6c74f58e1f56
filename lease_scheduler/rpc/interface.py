"""What the engine of a site can be asked: the one place that says so.

``EngineRequests`` declares every request. The client sends what is declared, and the parts of the service say with
``answers`` which request each of their methods answers, so names and signatures are compared by the type checker.

All values are plain and fit into JSON: instants and durations are whole seconds (UTC), hosts are named by their id as
text. The keys of a lease document and of a lease view are described in
:mod:`lease_scheduler.api.requests.lease` and :mod:`lease_scheduler.api.views.lease`.
"""

# The methods are declarations: the client gives each of them its body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from lease_scheduler.model.documents import Document

#: Version of the interface; the second number grows with every method that is added or changed, the first one when a
#: method is removed. ``tests/unit/rpc/requests.txt`` lists the changes.
VERSION = "1.0"

#: The method for each request, called with the context first.
Methods = Mapping[str, Callable[..., Document]]

_Arguments = ParamSpec("_Arguments")
_Part = TypeVar("_Part")


def topic(site: str) -> str:
    """Return the topic on which the engine of a site is asked."""
    return f"lease-scheduler.engine.{site}"


class EngineRequests:
    """Every request that the engine of a site answers.

    Each method raises ``RefusedError`` for a request that is understood and refused, and ``EngineUnavailableError`` if
    no engine answers in time. ``context`` has ``user_id``, ``project_id``, ``roles``, ``is_admin`` and ``request_id``.
    When a change of a lease is answered, a reader sees it.
    """

    # -- leases ----------------------------------------------------------------------------------------------

    def create_lease(self, context: Document, lease: Document) -> Document:
        """Admit and plan a new lease; ``{"lease_id"}``."""

    def quote_lease(self, context: Document, lease: Document) -> Document:
        """Return what ``create_lease`` would come to, and keep nothing.

        ``{"granted": bool, "reason": str, "start": int|null, "end": int|null, "hosts": [host ids, one a VM],
        "preempts": [lease ids], "alternatives": [{"start", "end", "count"}], "price": float|null}``
        """

    def offer_lease(self, context: Document, lease: Document) -> Document:
        """Hold a new lease for its project until it is accepted.

        The answer is that of ``quote_lease`` with ``lease_id`` and ``expires_at`` (instant); what cannot be granted is
        refused. With ``counter_offers`` (how many at most), ``flexibility`` (``latest_start``, ``fewest_nodes``,
        ``shortest_duration``) and ``counter_trusts`` in the document, others may be held in its place: ``granted`` is
        false then, and there are a ``negotiation_id`` and ``counter_offers``, each with ``change``, ``count`` and
        ``duration`` too.
        """

    def accept_lease(self, context: Document, lease_id: str, trust_id: str | None = None) -> Document:
        """Accept a lease that is held for its project, and give it a trust if it had none; ``{"lease_id"}``."""

    def reject_lease(self, context: Document, lease_id: str) -> Document:
        """Reject a lease that is held for its project; ``{}``."""

    def counter_offer(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Ask for other terms of a lease that is held; ``{"lease_id"}``. Refused, it is held as it was."""

    def quote_change(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Return what ``update_lease`` would come to: the answer of ``quote_lease``, and ``present_price``."""

    def update_lease(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Change some keys of the lease document; ``{"lease_id"}``.

        An element of ``reservations`` has the ``id`` of the reservation and the keys that change.
        """

    def delete_lease(self, context: Document, lease_id: str, reason: str) -> Document:
        """Cancel what is left of a lease and take it from the lists; ``{}``."""

    def end_lease(self, context: Document, lease_id: str) -> Document:
        """End a lease before its time; ``{}``."""

    def move_lease(self, context: Document, lease_id: str, hosts_away: list[str]) -> Document:
        """Give a lease other hosts instead of the named ones (ids); ``{"lease_id"}``."""

    def availability(self, context: Document, query: Document) -> Document:
        """Return when nodes are free: ``{"windows": [{"start", "end", "count"}], "earliest": int|null}``.

        ``query`` has ``nodes`` (one node set as in ``reservations[].nodes`` of a lease document), ``start``, ``end``,
        ``duration`` and ``count``.
        """

    def create_series(self, context: Document, series: Document) -> Document:
        """Make leases that repeat.

        ``series`` has ``id``, ``name``, ``project_id``, ``user_id``, ``rule`` (iCalendar RRULE), ``starts`` (the
        instants at which the occurrences start, ascending) and ``lease`` (document of the first occurrence; the others
        differ in ids, start, end and before_end).
        ``{"series_id", "leases": [ids], "refused": [{"start", "message"}]}``
        """

    def delete_series(self, context: Document, series_id: str) -> Document:
        """End a series: its leases that have not started are deleted; ``{}``."""

    # -- hosts and addresses ---------------------------------------------------------------------------------

    def create_host(self, context: Document, host: Document) -> Document:
        """Take a compute host into the pool: ``name`` (or ``id``), and capabilities; ``{"host_id"}``."""

    def create_hosts(self, context: Document, names: list[str]) -> Document:
        """Take many compute hosts into the pool at once, all of them or none; ``{"host_ids"}``."""

    def update_host(self, context: Document, host_id: str, values: Document) -> Document:
        """Set capabilities; null removes one; ``{"host_id"}``."""

    def delete_host(self, context: Document, host_id: str) -> Document:
        """Take a compute host out of the pool; ``{}``."""

    def update_property(self, context: Document, resource_type: str, name: str, private: bool) -> Document:
        """Show a property to everybody or to administrators only; ``{}``."""

    def create_floatingip(self, context: Document, values: Document) -> Document:
        """Take an address into the pool: ``floating_network_id``, ``floating_ip_address``; ``{"floatingip_id"}``."""

    def delete_floatingip(self, context: Document, floatingip_id: str) -> Document:
        """Take an address out of the pool; ``{}``."""

    # -- the engine itself -----------------------------------------------------------------------------------

    def ping(self, context: Document) -> Document:
        """Return what keeps the engine from working: ``{"problem": str|null}``."""

    def reconcile(self, context: Document, *, dry_run: bool = False) -> Document:
        """Compare leases and cloud now, and repair what differs or, in a dry run, only tell.

        ``{"repaired": {what: count}, "differences": [...]}``
        """

    def list_installed(self, context: Document) -> Document:
        """Return what there is of the service in the cloud: ``leases``, ``series``, ``hosts``, ``floating_ips``, ..."""

    def uninstall(self, context: Document, *, end_leases: bool = False, keep_providers: bool = False) -> Document:
        """Leave the cloud as far as that can be done at once, and return what is left.

        ``{"is_over": bool, "leases": int, "operations": int, "left_over": int, "reload": [host names]}``
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
