"""An identity service in memory."""

from __future__ import annotations

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login.interfaces import (
    ApplicationCredential,
    Grant,
    IdentityUnavailableError,
    Password,
    Project,
)

ALPHA, BETA, GAMMA = Project("a1", "alpha"), Project("b2", "beta"), Project("c3", "gamma")
PASSWORD = "correct-horse"
_END = "2030-01-01T00:00:00Z"


class FakeIdentity:
    """One user, whose tokens are ``unscoped`` and ``for-`` with the id of a project.

    :ivar member_of: projects of the user
    :ivar default: id of the default project
    :ivar revoked: tokens that were revoked
    :ivar clients: addresses of the clients
    :ivar is_away: whether it does not answer
    """

    def __init__(self) -> None:
        self.member_of: tuple[Project, ...] = (ALPHA, BETA)
        self.default: str | None = None
        self.revoked: list[str] = []
        self.clients: list[str | None] = []
        self.is_away = False

    def _begin(self, client: str | None) -> None:
        self.clients.append(client)
        if self.is_away:
            raise IdentityUnavailableError("It does not answer")

    def by_password(self, credentials: Password, client: str | None) -> Grant:
        self._begin(client)
        if credentials.password != PASSWORD:
            raise ApiError(401, "It does not accept this")
        return Grant("unscoped", "eve", "Default", None, _END)

    def by_application_credential(self, credentials: ApplicationCredential, client: str | None) -> Grant:
        self._begin(client)
        if credentials.secret != PASSWORD:
            raise ApiError(401, "It does not accept this")
        return Grant("for-b2", "eve", "Default", BETA, _END)

    def scoped(self, token: str, project_id: str, client: str | None) -> Grant:
        self._begin(client)
        (project,) = (each for each in self.member_of if each.id == project_id)
        return Grant(f"for-{project_id}", "eve", "Default", project, _END)

    def projects(self, token: str, client: str | None) -> tuple[Project, ...]:
        self._begin(client)
        if token != "unscoped":
            raise ApiError(401, "It does not accept this token")
        return self.member_of

    def default_project(self, token: str, client: str | None) -> str | None:
        self._begin(client)
        return self.default

    def revoke(self, token: str, client: str | None) -> None:
        self._begin(client)
        if token == "stubborn":
            raise ApiError(403, "It refuses")
        self.revoked.append(token)
