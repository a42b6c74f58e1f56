"""Asks: requests on their way to members of a federation."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest

#: Namespace of the ids that leases have at members (RFC 9562, section 5.5).
_LEASE_IDS = uuid.UUID("8f1c2a54-6f0d-5d0e-9b52-3a1a5c7c9e41")


def lease_id_at(member: str, ask_id: str) -> str:
    """Return the id of the lease of an ask at a member, a UUID that follows from both.

    So every repetition of a call names the same lease, and a site that the ask reaches by way of two members does not
    take one for the other.
    """
    return str(uuid.uuid5(_LEASE_IDS, f"{ask_id} {member}"))


@dataclass(frozen=True)
class OnBehalfOf:
    """The party for which a member of the federation asks.

    :ivar project: the project, as the peer that asks names it
    :ivar user: the person or program in it, likewise; None if unknown
    :ivar project_id: id of the project at the member that is asked, to which the lease is to belong; None if it is to
        belong to the project of the peer
    """

    project: str
    user: str | None = None
    project_id: str | None = None


@dataclass(frozen=True)
class Ask:
    """A request for a lease, as it is put to a member.

    :ivar terms: the terms; their ``lease_id`` was chosen by the client and names the ask wherever it is repeated
    :ivar answer_by: instant by which the client wants to have an answer
    :ivar path: names of those that have passed the ask on, the first one first
    :ivar on_behalf_of: the party that is to have the lease; None if it is the client itself
    :ivar projects: member -> id of the project there to which the lease is to belong; at members without one, it is to
        belong to the project of the client
    :raises InvalidValueError: a field has an invalid value
    """

    terms: LeaseRequest
    answer_by: int
    path: tuple[str, ...] = ()
    on_behalf_of: OnBehalfOf | None = None
    projects: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.projects and self.on_behalf_of is None:
            raise InvalidValueError("on_behalf_of", "is needed with projects; say for whom the client asks")
        if self.answer_by < self.terms.submitted:
            raise InvalidValueError(
                "answer_by", f"{self.answer_by} is before the request was submitted, at {self.terms.submitted}"
            )
        if len(set(self.path)) < len(self.path):
            raise InvalidValueError("path", f"{' > '.join(self.path)} has a name twice; whoever is on it must not ask")

    @property
    def ask_id(self) -> str:
        """The id that the client chose."""
        return self.terms.lease_id

    @property
    def names_project(self) -> bool:
        """Whether the lease is to belong to a project of the member that is asked."""
        return self.on_behalf_of is not None and self.on_behalf_of.project_id is not None

    def passed_on(self, by: str, to: str) -> Ask:
        """Return the ask as it is put to a member: with an id and a project of its own, and one more name on its path.

        :param by: name of the one that passes it on
        :param to: name of the member
        """
        party = self.on_behalf_of
        return replace(
            self,
            terms=replace(self.terms, lease_id=lease_id_at(to, self.ask_id)),
            path=(*self.path, by),
            on_behalf_of=None if party is None else replace(party, project_id=self.projects.get(to)),
            projects={},
        )
