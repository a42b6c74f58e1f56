"""Trusts, by which a user lets our service act for them."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone.records import Trust
from lease_scheduler.rehearsal.cloud.keystone.store import Store


def add_routes(routes: Routes, store: Store) -> None:
    """Add the routes of trusts."""
    handlers = _Trusts(store)
    routes.add("GET", "/v3/OS-TRUST/trusts", handlers.list)
    routes.add("POST", "/v3/OS-TRUST/trusts", handlers.create)
    routes.add("GET", "/v3/OS-TRUST/trusts/{trust_id}", handlers.show)
    routes.add("DELETE", "/v3/OS-TRUST/trusts/{trust_id}", handlers.delete, 204)


class _Trusts:
    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, request: Request) -> dict[str, Any]:
        identity = self._store.token(request.token).identity
        query, found = request.query, [*self._store.trusts.values()]
        trustee, trustor = query.get("trustee_user_id"), query.get("trustor_user_id")
        if not identity.is_admin and identity.user_id not in (trustee, trustor):
            raise Refusal(403, "You are not authorized to perform the requested action: identity:list_trusts.")
        found = [each for each in found if trustee in (None, each.trustee) and trustor in (None, each.trustor)]
        return {"trusts": [self._shown(each) for each in found]}

    def create(self, request: Request) -> Answer:
        identity, said = self._store.token(request.token).identity, request.body["trust"]
        if said["trustor_user_id"] != identity.user_id or identity.trust_id is not None:
            raise Refusal(403, "You are not authorized to perform the requested action: identity:create_trust.")
        if said["trustee_user_id"] not in self._store.users:
            raise Refusal(404, f"Could not find user: {said['trustee_user_id']}.")
        by_id = {role_id: name for name, role_id in self._store.roles.items()}
        roles = frozenset(each.get("name") or by_id.get(each.get("id"), "") for each in said.get("roles", ()))
        project_id = said["project_id"]
        if not roles or not roles <= self._store.roles_of(identity.user_id, project_id):
            raise Refusal(403, "Some of requested roles are not in redelegated trust.")
        made = Trust(
            self._store.timing.new_short_id(),
            identity.user_id,
            said["trustee_user_id"],
            project_id,
            roles,
            bool(said.get("impersonation", True)),
            said.get("expires_at"),
            said.get("remaining_uses"),
        )
        self._store.trusts[made.id] = made
        return Answer(201, {"trust": self._shown(made)})

    def show(self, request: Request, trust_id: str) -> dict[str, Any]:
        return {"trust": self._shown(self._mine(request, trust_id))}

    def delete(self, request: Request, trust_id: str) -> None:
        identity = self._store.token(request.token).identity
        found = self._mine(request, trust_id)
        # As Keystone's policy identity:delete_trust says, an administrator may, and the one who gave the trust.
        if not identity.is_admin and found.trustor != identity.user_id:
            raise Refusal(403, "You are not authorized to perform the requested action: identity:delete_trust.")
        del self._store.trusts[trust_id]

    def _mine(self, request: Request, trust_id: str) -> Trust:
        identity = self._store.token(request.token).identity
        found = self._store.trusts.get(trust_id)
        if found is None:
            raise Refusal(404, f"Could not find trust: {trust_id}.")
        if not identity.is_admin and identity.user_id not in (found.trustor, found.trustee):
            raise Refusal(403, "You are not authorized to perform the requested action: identity:get_trust.")
        return found

    def _shown(self, trust: Trust) -> dict[str, Any]:
        return {
            "id": trust.id,
            "trustor_user_id": trust.trustor,
            "trustee_user_id": trust.trustee,
            "project_id": trust.project_id,
            "impersonation": trust.impersonates,
            "expires_at": trust.expires_at,
            "remaining_uses": trust.remaining_uses,
            "roles": [{"id": self._store.role_id(name), "name": name} for name in sorted(trust.roles)],
        }
