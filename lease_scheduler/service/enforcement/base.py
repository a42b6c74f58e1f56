"""What filters are asked and told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from lease_scheduler.model.documents import Document
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.records.documents import LeaseDocument

LiveLeases = Sequence[tuple[Lease, LeaseDocument]]


@dataclass(frozen=True)
class FilterOptions:
    """What a filter is made with.

    :ivar values: the options of the group ``enforcement`` by name
    :ivar session: makes a keystoneauth1 session with the credentials that are configured, if any are
    :ivar unified_limits: asks Keystone for the limits of a project by their names, none if it is not to be asked
    """

    values: Mapping[str, Any]
    session: Callable[[], Any]
    unified_limits: Callable[[str, Sequence[str]], Mapping[str, int]] | None = None


@dataclass(frozen=True)
class Proposal:
    """A lease that is about to be made.

    :ivar lease: its document, in the words of the API (see ``api.requests.lease``)
    :ivar request: its terms, with as many VMs as it would get
    :ivar now: the present instant
    :ivar allocations: per reservation id the hosts or addresses that it would get
    :ivar live: the other live leases of its project
    """

    lease: Document
    request: LeaseRequest
    now: int
    allocations: Mapping[str, Sequence[Document]] = field(default_factory=dict)
    live: LiveLeases = ()

    @property
    def project_id(self) -> str:
        """Whose lease it is."""
        return str(self.lease["project_id"])


@dataclass(frozen=True)
class ChangeProposal:
    """A lease that is about to be changed.

    :ivar current: the lease as it is
    :ivar changes: the keys of its document that change, with their new values
    :ivar request: the terms that it would have
    """

    current: Proposal
    changes: Document
    request: LeaseRequest


class UsageFilter(Protocol):
    """Says no to leases that use too much.

    Every method may raise ``RefusedError`` (it says no) and ``EngineUnavailableError`` (it cannot tell at present). It
    may take its time and is called by several threads at once, but for one project one after the other.
    """

    #: Whether it keeps count itself and must be told of every end.
    follows: bool

    def check_create(self, context: Document, proposal: Proposal) -> None:
        """A lease is about to be made.

        :param context: of the request: ``user_id``, ``project_id``, ``roles`` and so on
        """
        ...

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        """A lease is about to be changed."""
        ...

    def on_end(self, lease: Document) -> None:
        """A lease is over, or what was allowed has not come about; any error has it told again later.

        :param lease: its document as ``views.lease_body`` makes it
        """
        ...
