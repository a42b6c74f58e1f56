"""What the API needs from outside: a reader that shows things, and trusts. See ``rpc.interface`` for changes.

All values are plain and fit into JSON: instants and durations are whole seconds (UTC), hosts are named by their id as
text. The keys of a lease document and of a lease view are described in
:mod:`lease_scheduler.api.requests.lease` and :mod:`lease_scheduler.api.views.lease`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError, StoreFullError, StoreUnavailableError

__all__ = [
    "EngineUnavailableError",
    "Reader",
    "RefusedError",
    "StoreFullError",
    "StoreUnavailableError",
]


class Trusts(Protocol):
    """Lets the service act for its consumers later on, when their tokens are worth nothing any more."""

    def give(self, token: Any) -> str:
        """Have the sender of a request trust the service; the id of the trust.

        :param token: what keystonemiddleware says of the sender (``keystone.token_auth``)
        :raises ApiError: the sender may not do that, or the identity service does not answer
        """
        ...

    def take_back(self, token: Any, trust_id: str) -> None:
        """Have the sender trust the service no longer."""
        ...


class Reader(Protocol):
    """Shows what there is; reads only.

    Every method raises ``StoreUnavailableError`` if the database does not answer.
    """

    def lease(self, lease_id: str, deleted: bool = False) -> Document | None:
        """The view of one lease, none if there is none; a deleted one only if asked for."""
        ...

    def leases(
        self,
        filters: Mapping[str, Any],
        sort: Sequence[tuple[str, str]] = (),
        limit: int | None = None,
        marker: str | None = None,
    ) -> list[Document]:
        """Views of leases.

        :param filters: ``project_id``, ``user_id``, ``name``, ``kind``, ``series_id``, ``maintenance``, ``number``:
            equal to; ``states``: one of these values of ``LeaseState``; ``statuses``: one of these words of Blazar (see
            :mod:`lease_scheduler.model.blazar`); ``live``: true leaves out those that are over; ``deleted``: true adds
            deleted ones
        :param sort: keys (``name``, ``start``, ``end``, ``created_at``, ``updated_at``, ``kind``, ``state``, ``id``,
            ``project_id``) with ``asc`` or ``desc``; none is the order of submission
        :param limit: at most so many, none for all
        :param marker: begin after the lease of this id
        :raises RefusedError: 400, there is no lease of the marker's id
        """
        ...

    def history(self, lease_id: str) -> list[Document]:
        """Every transition, earliest first: ``instant``, ``from``, ``to``, ``reason``."""
        ...

    def hosts(self) -> list[Document]:
        """All hosts in the order of their numbers.

        ``id`` (text), ``name``, ``hypervisor_type``, ``hypervisor_version``, ``vcpus``, ``cpu_info`` (text of a JSON
        object), ``memory_mb``, ``local_gb``, ``service_name``, ``availability_zone``, ``reservable``, ``trust_id``,
        ``created_at``, ``updated_at``, ``capacity``, ``traits``, ``properties`` ({name: text}), ``out_until``
        """
        ...

    def host(self, host_id: str) -> Document | None:
        """One host, none if there is none."""
        ...

    def host_properties(self) -> list[Document]:
        """Every property that some host has, by name: ``property``, ``private``, ``values`` (distinct, sorted)."""
        ...

    def floatingips(self) -> list[Document]:
        """All addresses, as in the table."""
        ...

    def floatingip(self, floatingip_id: str) -> Document | None:
        """One address, none if there is none."""
        ...

    def allocations(
        self,
        lease_id: str | None = None,
        reservation_id: str | None = None,
        host_id: str | None = None,
        now: int = 0,
    ) -> list[Document]:
        """Who has which host, one entry a host.

        ``resource_id`` and ``reservations`` with ``id``, ``lease_id``, ``start``, ``end`` each. Without a lease and a
        reservation only what has not ended ``now``; hosts without reservations are listed too.
        """
        ...

    def usage(self, project_id: str | None, start: int, end: int, now: int, step: int | None = None) -> list[Document]:
        """What was occupied in ``[start, end)``, one entry per project, kind, phase and step.

        ``project_id``, ``kind``, ``phase``, ``start``, ``node_seconds``, ``resource_seconds`` ({class: amount x
        seconds}); of all projects if none is given. Leases that still run count up to now. Steps begin at multiples of
        ``step`` seconds since the epoch, the first one at ``start``; without, there is one step.
        """
        ...

    def revenue(self, project_id: str | None, start: int, end: int, step: int | None = None) -> list[Document]:
        """What was earned and what was missed in ``[start, end)``, one entry per project and step with anything in it.

        ``project_id``, ``start``, and money: ``earned``, and what was missed because it was ``undercharged``,
        ``rejected`` for want of a place or ``rejected_by_user``
        """
        ...

    def delays(self, project_id: str | None, start: int, end: int) -> list[Document]:
        """How long leases that were done in ``[start, end)`` had waited, one entry per project and kind.

        ``project_id``, ``kind``, ``done`` (their number), ``mean_wait`` (s) and ``mean_bounded_slowdown``, both null
        for reservations
        """
        ...

    def capacity(self, start: int, end: int, step: int | None = None) -> list[Document]:
        """What could have been used in ``[start, end)``, one entry per step: ``start``, ``end``, ``resource_seconds``.

        Of hosts and addresses while they were in the pool and reservable, whether they were in service or not.
        """
        ...

    def penalties(self, project_id: str | None, start: int, end: int) -> list[Document]:
        """Terms that turned out in ``[start, end)`` not to have been kept, one entry per project and kind of breach.

        ``project_id``, ``kind``, ``count``, ``node_seconds`` (not delivered), ``penalty`` (money)
        """
        ...

    def calendar(self, start: int, end: int, since_revision: int | None = None) -> Document:
        """The calendar page's document: ``revision``, ``complete``, ``hosts``, ``leases``, ``removed``."""
        ...

    def series(self, project_id: str | None = None) -> list[Document]:
        """Series that are not deleted.

        ``id``, ``project_id``, ``user_id``, ``name``, ``rule``, ``template``, ``created_at``
        """
        ...

    def serie(self, series_id: str) -> Document | None:
        """One of them, none if there is none."""
        ...
