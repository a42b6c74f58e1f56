"""Sessions: the tokens with which the tab of a browser works, and the project that it works for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login.interfaces import (
    ApplicationCredential,
    Grant,
    Identity,
    IdentityUnavailableError,
    Password,
    Project,
)


@dataclass(frozen=True)
class Session:
    """A login.

    :ivar token: for the project; it is sent with every request
    :ivar unscoped: token to choose another project with; None with an application credential, which has one project
    :ivar projects: all projects of the user, or the only one of the credential
    """

    token: str = field(repr=False)
    unscoped: str | None = field(repr=False)
    user: str
    domain: str
    project: Project
    projects: tuple[Project, ...]
    expires_at: str

    def document(self) -> Mapping[str, Any]:
        """Return the session as the page gets it."""
        return {
            "token": self.token,
            "unscoped": self.unscoped,
            "user": self.user,
            "domain": self.domain,
            "project": _shown(self.project),
            "projects": [_shown(each) for each in self.projects],
            "expires_at": self.expires_at,
        }


def by_password(identity: Identity, credentials: Password, last: str | None, client: str | None) -> Session:
    """Log in by password.

    :param last: id of the project that the person used last, or None
    :raises ApiError: 401, the credentials are wrong; 403, the user has no project
    :raises IdentityUnavailableError: the identity service does not answer
    """
    return by_token(identity, identity.by_password(credentials, client).token, last, client)


def by_application_credential(identity: Identity, credentials: ApplicationCredential, client: str | None) -> Session:
    """Log in by application credential.

    :raises ApiError: 401, the credential is wrong
    :raises IdentityUnavailableError: the identity service does not answer
    """
    grant = identity.by_application_credential(credentials, client)
    project = _project_of(grant)
    return Session(grant.token, None, grant.user, grant.domain, project, (project,), grant.expires_at)


def by_token(identity: Identity, unscoped: str, last: str | None, client: str | None) -> Session:
    """Return a session for a project of the owner of an unscoped token.

    :param last: id of the project that the person used last or chooses now, or None
    :raises ApiError: 401, the token is not valid; 403, the user has no project
    :raises IdentityUnavailableError: the identity service does not answer
    """
    projects = identity.projects(unscoped, client)
    if not projects:
        with suppress(ApiError, IdentityUnavailableError):
            identity.revoke(unscoped, client)
        raise ApiError(403, "You have no role in any project; ask the administrators of the cloud for one")
    chosen = find_project(projects, last)
    if chosen is None and len(projects) > 1:
        chosen = find_project(projects, identity.default_project(unscoped, client))
    grant = identity.scoped(unscoped, (chosen or projects[0]).id, client)
    return Session(grant.token, unscoped, grant.user, grant.domain, _project_of(grant), projects, grant.expires_at)


def end(identity: Identity, tokens: Sequence[str], client: str | None) -> None:
    """Log out: revoke the tokens, each of them even if another one cannot be revoked.

    :raises ApiError: the identity service refuses
    :raises IdentityUnavailableError: the identity service does not answer
    """
    problems: list[ApiError | IdentityUnavailableError] = []
    for token in tokens:
        try:
            identity.revoke(token, client)
        except (ApiError, IdentityUnavailableError) as error:
            problems.append(error)
    if problems:
        raise problems[0]


def find_project(projects: Iterable[Project], project_id: str | None) -> Project | None:
    """Return the project with an id, or None."""
    return next((project for project in projects if project.id == project_id), None)


def _project_of(grant: Grant) -> Project:
    if grant.project is None:
        raise ApiError(403, "These credentials are not for a project")
    return grant.project


def _shown(project: Project) -> Mapping[str, str]:
    return {"id": project.id, "name": project.name}
