"""Logins: tokens by password, token, application credential, and through a trust."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone.records import DOMAIN, Identity, User
from lease_scheduler.rehearsal.cloud.keystone.store import Store, Token

#: Returns who a request comes from.
#:
#: :raises Refusal: it has no valid token
Guard = Callable[[Request], Identity]


def add_routes(routes: Routes, store: Store, catalogue: list[dict[str, Any]]) -> None:
    """Add the routes of tokens.

    :param catalogue: the services, as a token lists them
    """
    handlers = _Tokens(store, catalogue)
    routes.add("POST", "/v3/auth/tokens", handlers.create)
    routes.add("GET", "/v3/auth/tokens", handlers.validate)
    routes.add("DELETE", "/v3/auth/tokens", handlers.revoke, 204)
    routes.add("GET", "/v3/auth/catalog", lambda request: {"catalog": catalogue})
    routes.add("GET", "/v3/auth/projects", handlers.projects)


def guard(store: Store) -> Guard:
    """Return what other services ask for the token of a request."""
    return lambda request: store.token(request.token).identity


class _Tokens:
    def __init__(self, store: Store, catalogue: list[dict[str, Any]]) -> None:
        self._store = store
        self._catalogue = catalogue

    def create(self, request: Request) -> Answer:
        said = request.body["auth"]
        methods = tuple(said["identity"]["methods"])
        scope = said.get("scope") or {}
        credential = said["identity"].get("application_credential")
        if credential is not None:
            identity = self._by_credential(credential)
        else:
            user = self._user(said["identity"])
            trust = scope.get("OS-TRUST:trust")
            identity = self._scoped(user, scope) if trust is None else self._by_trust(user, trust["id"])
        text = self._store.issue(identity, methods)
        return Answer(201, self._shown(self._store.tokens[text]), {"X-Subject-Token": text})

    def validate(self, request: Request) -> Answer:
        self._store.token(request.token)
        subject = request.headers.get("x-subject-token", "")
        try:
            found = self._store.token(subject)
        except Refusal:
            raise Refusal(404, "Could not find token.") from None
        return Answer(200, self._shown(found), {"X-Subject-Token": subject})

    def revoke(self, request: Request) -> None:
        self._store.token(request.token)
        self._store.tokens.pop(request.headers.get("x-subject-token", ""), None)

    def projects(self, request: Request) -> dict[str, Any]:
        user = self._store.users[self._store.token(request.token).identity.user_id]
        return {"projects": [{"id": key, "name": self._store.projects[key].name} for key in user.roles]}

    def _user(self, said: Mapping[str, Any]) -> User:
        if "token" in said["methods"]:
            return self._store.users[self._store.token(said["token"]["id"]).identity.user_id]
        wanted = said["password"]["user"]
        found = self._found(self._store.users, wanted)
        if found is None or found.password != wanted["password"] or not found.enabled:
            raise Refusal(401, "The request you have made requires authentication.")
        user: User = found
        return user

    def _scoped(self, user: User, scope: Mapping[str, Any]) -> Identity:
        wanted = scope.get("project")
        if wanted is None:
            return Identity(user.id, next(iter(user.roles), ""), frozenset())
        project = self._found(self._store.projects, wanted)
        if project is None or not project.enabled or not user.roles.get(project.id):
            raise Refusal(401, "The request you have made requires authentication.")
        return Identity(user.id, project.id, frozenset(user.roles[project.id]))

    def _by_credential(self, said: Mapping[str, Any]) -> Identity:
        found = self._store.credentials.get(said.get("id", ""))
        if found is None or found.secret != said["secret"]:
            raise Refusal(401, "The request you have made requires authentication.")
        roles = found.roles & self._store.roles_of(found.user_id, found.project_id)
        if not roles:
            raise Refusal(401, "The request you have made requires authentication.")
        return Identity(found.user_id, found.project_id, roles)

    def _by_trust(self, user: User, trust_id: str) -> Identity:
        trust = self._store.trusts.get(trust_id)
        if trust is None or trust.trustee != user.id:
            raise Refusal(403, "You are not authorized to perform the requested action.")
        # A trust gives what the one who gave it still has.
        roles = trust.roles & self._store.roles_of(trust.trustor, trust.project_id)
        if roles != trust.roles:
            raise Refusal(403, "You are not authorized to perform the requested action.")
        if trust.remaining_uses is not None:
            if trust.remaining_uses <= 0:
                raise Refusal(403, "No remaining uses for trust.")
            trust.remaining_uses -= 1
        who = trust.trustor if trust.impersonates else user.id
        return Identity(who, trust.project_id, trust.roles, trust_id)

    @staticmethod
    def _found(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> Any:
        """Return what a request names by its id or its name, or None."""
        if "id" in wanted:
            return known.get(wanted["id"])
        return next((each for each in known.values() if each.name == wanted.get("name")), None)

    def _shown(self, token: Token) -> dict[str, Any]:
        identity, store = token.identity, self._store
        domain = {"id": DOMAIN, "name": "Default"}
        found: dict[str, Any] = {
            "methods": list(token.methods),
            "user": {"id": identity.user_id, "name": store.users[identity.user_id].name, "domain": domain},
            "expires_at": _instant(token.expires),
            "issued_at": _instant(token.expires - store.token_lifetime),
            "audit_ids": [],
            "is_domain": False,
        }
        if identity.roles:
            project = store.projects[identity.project_id]
            found["project"] = {"id": project.id, "name": project.name, "domain": domain}
            found["roles"] = [{"id": store.role_id(name), "name": name} for name in sorted(identity.roles)]
            found["catalog"] = self._catalogue
        if identity.trust_id is not None:
            trust = store.trusts[identity.trust_id]
            found["OS-TRUST:trust"] = {
                "id": trust.id,
                "impersonation": trust.impersonates,
                "trustee_user": {"id": trust.trustee},
                "trustor_user": {"id": trust.trustor},
            }
        return {"token": found}


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
