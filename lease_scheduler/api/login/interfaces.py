"""The identity service as the login uses it, and the values that they exchange."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from lease_scheduler.model.errors import LeaseSchedulerError


class IdentityUnavailableError(LeaseSchedulerError):
    """The identity service does not answer; the same request may succeed later."""


@dataclass(frozen=True)
class Password:
    """A user's password, which logs and errors never show.

    :ivar domain: name of the user's domain
    :ivar user: name of the user
    :ivar passcode: time-based one-time passcode; None if the user gave none
    """

    domain: str
    user: str
    password: str = field(repr=False)
    passcode: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ApplicationCredential:
    """An application credential, named by its id, or by its name and the name and domain of its user."""

    secret: str = field(repr=False)
    id: str | None = None
    name: str | None = None
    user: str | None = None
    domain: str | None = None


@dataclass(frozen=True)
class Project:
    """A project in which a user has a role."""

    id: str
    name: str


@dataclass(frozen=True)
class Grant:
    """A token, and what the identity service says about it.

    :ivar project: the project that the token is for; None if it is unscoped
    :ivar expires_at: end of the token, in ISO 8601
    """

    token: str = field(repr=False)
    user: str
    domain: str
    project: Project | None
    expires_at: str


class Identity(Protocol):
    """The identity service.

    All methods take the address of the client, for the log of the identity service, and raise ``ApiError``: 401, it
    does not accept the credentials or the token; 403, it refuses. They raise ``IdentityUnavailableError`` if it does
    not answer.
    """

    def by_password(self, credentials: Password, client: str | None) -> Grant:
        """Return an unscoped token."""
        ...

    def by_application_credential(self, credentials: ApplicationCredential, client: str | None) -> Grant:
        """Return a token for the project of the credential."""
        ...

    def scoped(self, token: str, project_id: str, client: str | None) -> Grant:
        """Return a token for a project, in exchange for an unscoped one, which stays valid."""
        ...

    def projects(self, token: str, client: str | None) -> tuple[Project, ...]:
        """Return the projects in which the user has a role, by name."""
        ...

    def default_project(self, token: str, client: str | None) -> str | None:
        """Return the id of the user's default project, or None if there is none or the service does not say."""
        ...

    def revoke(self, token: str, client: str | None) -> None:
        """Make a token invalid, unless it already is."""
        ...
