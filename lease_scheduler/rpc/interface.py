"""What the engine of a site can be asked: the one place that says so.

``EngineRequests`` declares every request. The client sends what is declared, and the parts of the service say with
``answers`` which request each of their methods answers, so names and signatures are compared by the type checker.

All values are plain and fit into JSON: instants and durations are whole seconds (UTC), hosts are named by their id as
text. The keys of a lease document and of a lease view are described in
:mod:`lease_scheduler.api.views.lease_request` and :mod:`lease_scheduler.api.views.lease`.
"""

# The methods are declarations: the client gives each of them its body.
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

#: Version of the interface; the second number grows with every method that is added or changed, the first one when a
#: method is removed. ``tests/unit/rpc/requests.txt`` lists the changes.
VERSION = "1.0"

#: A JSON object that is sent.
Given = Mapping[str, Any]

#: A JSON object that is answered.
Answer = dict[str, Any]

#: The method for each request, called with the context first.
Methods = Mapping[str, Callable[..., Answer]]

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

    def create_lease(self, context: Given, lease: Given) -> Answer:
        """Admit and plan a new lease; ``{"lease_id"}``."""

    def quote_lease(self, context: Given, lease: Given) -> Answer:
        """Return what ``create_lease`` would come to, and keep nothing.

        ``{"granted": bool, "reason": str, "start": int|null, "end": int|null, "hosts": [host ids, one a VM],
        "preempts": [lease ids], "alternatives": [{"start", "end", "count"}], "price": float|null}``
        """

    def offer_lease(self, context: Given, lease: Given) -> Answer:
        """Hold a new lease for its project until it is accepted.

        The answer is that of ``quote_lease`` with ``lease_id`` and ``expires_at`` (instant); what cannot be granted is
        refused. With ``counter_offers`` (how many at most), ``flexibility`` (``latest_start``, ``fewest_nodes``,
        ``shortest_duration``) and ``counter_trusts`` in the document, others may be held in its place: ``granted`` is
        false then, and there are a ``negotiation_id`` and ``counter_offers``, each with ``change``, ``count`` and
        ``duration`` too.
        """

    def accept_lease(self, context: Given, lease_id: str, trust_id: str | None = None) -> Answer:
        """Accept a lease that is held for its project, and give it a trust if it had none; ``{"lease_id"}``."""

    def reject_lease(self, context: Given, lease_id: str) -> Answer:
        """Reject a lease that is held for its project; ``{}``."""

    def counter_offer(self, context: Given, lease_id: str, changes: Given) -> Answer:
        """Ask for other terms of a lease that is held; ``{"lease_id"}``. Refused, it is held as it was."""

    def quote_change(self, context: Given, lease_id: str, changes: Given) -> Answer:
        """Return what ``update_lease`` would come to: the answer of ``quote_lease``, and ``present_price``."""

    def update_lease(self, context: Given, lease_id: str, changes: Given) -> Answer:
        """Change some keys of the lease document; ``{"lease_id"}``.

        An element of ``reservations`` has the ``id`` of the reservation and the keys that change.
        """

    def delete_lease(self, context: Given, lease_id: str, reason: str) -> Answer:
        """Cancel what is left of a lease and take it from the lists; ``{}``."""

    def end_lease(self, context: Given, lease_id: str) -> Answer:
        """End a lease before its time; ``{}``."""

    def move_lease(self, context: Given, lease_id: str, hosts_away: list[str]) -> Answer:
        """Give a lease other hosts instead of the named ones (ids); ``{"lease_id"}``."""

    def availability(self, context: Given, query: Given) -> Answer:
        """Return when nodes are free: ``{"windows": [{"start", "end", "count"}], "earliest": int|null}``.

        ``query`` has ``nodes`` (one node set as in ``reservations[].nodes`` of a lease document), ``start``, ``end``,
        ``duration`` and ``count``.
        """

    def create_series(self, context: Given, series: Given) -> Answer:
        """Make leases that repeat.

        ``series`` has ``id``, ``name``, ``project_id``, ``user_id``, ``rule`` (iCalendar RRULE), ``starts`` (the
        instants at which the occurrences start, ascending) and ``lease`` (document of the first occurrence; the others
        differ in ids, start, end and before_end).
        ``{"series_id", "leases": [ids], "refused": [{"start", "message"}]}``
        """

    def delete_series(self, context: Given, series_id: str) -> Answer:
        """End a series: its leases that have not started are deleted; ``{}``."""

    # -- hosts and addresses ---------------------------------------------------------------------------------

    def create_host(self, context: Given, host: Given) -> Answer:
        """Take a compute host into the pool: ``name`` (or ``id``), and capabilities; ``{"host_id"}``."""

    def create_hosts(self, context: Given, names: list[str]) -> Answer:
        """Take many compute hosts into the pool at once, all of them or none; ``{"host_ids"}``."""

    def update_host(self, context: Given, host_id: str, values: Given) -> Answer:
        """Set capabilities; null removes one; ``{"host_id"}``."""

    def delete_host(self, context: Given, host_id: str) -> Answer:
        """Take a compute host out of the pool; ``{}``."""

    def update_property(self, context: Given, resource_type: str, name: str, private: bool) -> Answer:
        """Show a property to everybody or to administrators only; ``{}``."""

    def create_floatingip(self, context: Given, values: Given) -> Answer:
        """Take an address into the pool: ``floating_network_id``, ``floating_ip_address``; ``{"floatingip_id"}``."""

    def delete_floatingip(self, context: Given, floatingip_id: str) -> Answer:
        """Take an address out of the pool; ``{}``."""

    # -- the engine itself -----------------------------------------------------------------------------------

    def ping(self, context: Given) -> Answer:
        """Return what keeps the engine from working: ``{"problem": str|null}``."""

    def reconcile(self, context: Given, *, dry_run: bool = False) -> Answer:
        """Compare leases and cloud now, and repair what differs or, in a dry run, only tell.

        ``{"repaired": {what: count}, "differences": [...]}``
        """

    def list_installed(self, context: Given) -> Answer:
        """Return what there is of the service in the cloud: ``leases``, ``series``, ``hosts``, ``floating_ips``, ..."""

    def uninstall(self, context: Given, *, end_leases: bool = False, keep_providers: bool = False) -> Answer:
        """Leave the cloud as far as that can be done at once, and return what is left.

        ``{"is_over": bool, "leases": int, "operations": int, "left_over": int, "reload": [host names]}``
        """


#: The names of all requests.
METHODS: tuple[str, ...] = tuple(name for name in vars(EngineRequests) if not name.startswith("_"))


def answers(
    request: Callable[Concatenate[Any, _Arguments], Answer],
) -> Callable[[Callable[Concatenate[_Part, _Arguments], Answer]], Callable[Concatenate[_Part, _Arguments], Answer]]:
    """Mark a method as the one that answers a request.

    :param request: method of ``EngineRequests``; the marked one must take the same arguments
    """

    def mark(
        method: Callable[Concatenate[_Part, _Arguments], Answer],
    ) -> Callable[Concatenate[_Part, _Arguments], Answer]:
        method.answers = request.__name__  # type: ignore[attr-defined]
        return method

    return mark


def methods_of(*parts: object) -> dict[str, Callable[..., Answer]]:
    """Return the methods that answer the requests, found in the parts of a service.

    :raises TypeError: a request is answered by no method, or by two
    """
    found: dict[str, Callable[..., Answer]] = {}
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
