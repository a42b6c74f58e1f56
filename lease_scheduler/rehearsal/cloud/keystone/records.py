"""What Keystone keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

ADMIN, MEMBER, READER = "admin", "member", "reader"

#: The only domain.
DOMAIN = "default"


@dataclass
class Project:
    """A project."""

    id: str
    name: str
    enabled: bool = True


@dataclass
class User:
    """A user.

    :ivar roles: project -> names of the roles of the user there
    """

    id: str
    name: str
    password: str
    roles: dict[str, set[str]] = field(default_factory=dict)
    enabled: bool = True


@dataclass
class Trust:
    """Roles of a user in a project, which they let another user have."""

    id: str
    trustor: str
    trustee: str
    project_id: str
    roles: frozenset[str]
    impersonates: bool
    expires_at: str | None = None
    remaining_uses: int | None = None


@dataclass(frozen=True)
class ApplicationCredential:
    """A secret with which a program logs in as a user."""

    id: str
    name: str
    secret: str
    user_id: str
    project_id: str
    roles: frozenset[str]


@dataclass(frozen=True)
class Identity:
    """Who a request comes from.

    :ivar trust_id: trust through which they act, or None
    """

    user_id: str
    project_id: str
    roles: frozenset[str]
    trust_id: str | None = None

    @property
    def is_admin(self) -> bool:
        """Whether they are an administrator."""
        return ADMIN in self.roles
