"""Projects, users, trusts and tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

from lease_scheduler.rehearsal.cloud.http import Refusal
from lease_scheduler.rehearsal.cloud.keystone.records import (
    ApplicationCredential,
    Identity,
    Project,
    Trust,
    User,
)
from lease_scheduler.rehearsal.cloud.timing import Timing


@dataclass
class Token:
    """A token.

    :ivar expires: instant, in seconds since the epoch
    """

    identity: Identity
    expires: float
    methods: tuple[str, ...] = ("password",)


@dataclass
class Store:
    """What Keystone knows.

    :ivar token_lifetime: seconds
    """

    timing: Timing
    token_lifetime: float
    projects: dict[str, Project] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    trusts: dict[str, Trust] = field(default_factory=dict)
    credentials: dict[str, ApplicationCredential] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)

    def issue(self, identity: Identity, methods: tuple[str, ...] = ("password",)) -> str:
        """Return a new token."""
        found, now = self.timing.new_short_id(), self.timing.time()
        # The oldest come first.
        while self.tokens and next(iter(self.tokens.values())).expires <= now:
            del self.tokens[next(iter(self.tokens))]
        self.tokens[found] = Token(identity, now + self.token_lifetime, methods)
        return found

    def token(self, text: str | None) -> Token:
        """Return a valid token.

        :raises Refusal: there is none
        """
        found = self.tokens.get(text or "")
        if found is None or found.expires <= self.timing.time() or not self._still_holds(found.identity):
            raise Refusal(401, "The request you have made requires authentication.")
        return found

    def role_id(self, name: str) -> str:
        """Return the id of a role, which is created if there is none of this name."""
        return self.roles.setdefault(name, self.timing.new_short_id())

    def roles_of(self, user_id: str, project_id: str) -> frozenset[str]:
        """Return the names of the roles of a user in a project."""
        user = self.users.get(user_id)
        return frozenset() if user is None else frozenset(user.roles.get(project_id, ()))

    def _still_holds(self, identity: Identity) -> bool:
        """Return whether what a token stands for has not been taken away."""
        if identity.trust_id is not None and identity.trust_id not in self.trusts:
            return False
        user, project = self.users.get(identity.user_id), self.projects.get(identity.project_id)
        return user is not None and user.enabled and project is not None and project.enabled
