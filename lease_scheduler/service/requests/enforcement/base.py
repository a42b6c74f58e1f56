"""The protocol of filters, and the values that they receive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.extensions import Extensions

LiveLeases = Sequence[tuple[Lease, LeaseDocument]]


@dataclass(frozen=True)
class FilterOptions:
    """What a filter is made with.

    :ivar values: the options of the group ``enforcement`` by name
    :ivar session: makes a keystoneauth1 session with the configured credentials, if there are any
    :ivar unified_limits: asks Keystone for limits of a project by their names; None if they are not used
    """

    values: Mapping[str, Any]
    session: Callable[[], Any]
    unified_limits: Callable[[str, Sequence[str]], Mapping[str, int]] | None = None


@dataclass(frozen=True)
class Account:
    """Usage and live leases of a project, for filters that add up resource-time.

    :ivar live: its live leases, without the lease that is checked
    :ivar hosts: capacity of each host of the site, by number
    :ivar used: returns amount-seconds that the project used from an instant on until now, by resource class and
        ``consumption.NODES``, as ``GET /v1/usage`` reports them. May take long
    """

    project_id: str
    now: int
    live: Sequence[Lease]
    hosts: Sequence[Mapping[str, int]]
    used: Callable[[int], Mapping[str, int]]


@dataclass(frozen=True)
class Proposal:
    """A lease to be made.

    :ivar lease: its document, in the form of the API (see ``api.requests.lease``)
    :ivar request: its terms, with the number of nodes that it would get
    :ivar now: the present instant
    :ivar allocations: by reservation id, the hosts or addresses that it would get
    :ivar live: the other live leases of its project
    :ivar planned: the lease as it would be planned; in ``ChangeProposal.current``, as it is
    :ivar account: account of its project; None if no filter asks for it
    """

    lease: Document
    request: LeaseRequest
    now: int
    allocations: Mapping[str, Sequence[Document]] = field(default_factory=dict)
    live: LiveLeases = ()
    planned: Lease | None = None
    account: Account | None = None

    @property
    def project_id(self) -> str:
        """The project of the lease."""
        return str(self.lease["project_id"])


@dataclass(frozen=True)
class Extension:
    """The time that a change adds to a lease.

    :ivar added: seconds by which the lease becomes longer, at least 1
    :ivar record: its extensions so far
    :ivar latest_end: planned end of the lease, as if it had never been shortened; None if no end is planned
    :ivar cut: seconds by which the lease is shorter than it once was
    :ivar delayed: number of leases of other projects that would lose planned time or be suspended
    :ivar waiting: number of leases of other projects that wait for hosts
    """

    added: int
    record: Extensions
    latest_end: int | None
    cut: int = 0
    delayed: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class ChangeProposal:
    """A live lease to be changed.

    :ivar current: the lease as it is
    :ivar changes: the keys of its document that change, with their new values
    :ivar request: the terms that it would have
    :ivar extension: what the change adds to the time of the lease; None if it adds nothing, or if the lease is an offer
        that its project has not accepted
    :ivar planned: the lease as it would be; None if the plan refuses the change, or no filter asks for it
    """

    current: Proposal
    changes: Document
    request: LeaseRequest
    extension: Extension | None = None
    planned: Lease | None = None


class ShorterExtensionError(RefusedError):
    """An extension that is refused only for its length (403).

    :param added: seconds that the filter would allow instead; 0 for none
    """

    def __init__(self, message: str, field: str | None, added: int) -> None:
        super().__init__(403, message, field, reason=RefusalReason.LIMIT)
        self.added = added


class UsageFilter(Protocol):
    """Filter that refuses leases that use too much.

    Every method may raise ``RefusedError`` (it refuses) and ``EngineUnavailableError`` (it cannot decide at present).
    Calls may take long. They come from several threads, but for one project one at a time. A filter that keeps no count
    is asked about quotes of changes as well, which may be several of one project at a time.

    A filter that needs the numbers of other leases in ``Extension`` also has the attribute ``weighs_others = True``.
    Without it they are 0, as finding them takes a trial of the change. A filter that needs ``Proposal.account`` and the
    plan of a changed lease has ``weighs_plan = True``.
    """

    #: Whether the filter keeps count itself and must be told of every end.
    follows: bool

    def check_create(self, context: Document, proposal: Proposal) -> None:
        """Check a lease to be made.

        :param context: of the request: ``user_id``, ``project_id``, ``roles`` and so on
        """
        ...

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        """Check a lease to be changed."""
        ...

    def on_end(self, lease: Document) -> None:
        """Note that a lease has ended, or was allowed but not made. After an error this is called again later.

        :param lease: its document as ``views.lease_body`` makes it
        """
        ...


@runtime_checkable
class StatesBudgets(Protocol):
    """A filter that says what is left of budgets."""

    def statement(self, account: Account, lease: Lease | None) -> list[Document]:
        """Return what is left, also of a lease that is proposed; see ``budget.BudgetFilter.statement``."""
        ...
