"""Projects, users and role assignments, as administrators see and change them."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone.records import DOMAIN, Project, User
from lease_scheduler.rehearsal.cloud.keystone.store import Store


def add_routes(routes: Routes, store: Store) -> None:
    """Add the routes of projects, users and roles."""
    handlers = _Projects(store)
    routes.add("GET", "/v3/projects", handlers.list)
    routes.add("GET", "/v3/projects/{project_id}", handlers.show)
    routes.add("PATCH", "/v3/projects/{project_id}", handlers.change)
    routes.add("DELETE", "/v3/projects/{project_id}", handlers.delete, 204)
    routes.add("GET", "/v3/users", handlers.users)
    routes.add("GET", "/v3/users/{user_id}", handlers.user)
    routes.add("GET", "/v3/roles", handlers.roles)
    routes.add("PUT", "/v3/projects/{project_id}/users/{user_id}/roles/{role_id}", handlers.grant)
    routes.add("DELETE", "/v3/projects/{project_id}/users/{user_id}/roles/{role_id}", handlers.revoke)
    routes.add("GET", "/v3/role_assignments", handlers.assignments)


class _Projects:
    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, request: Request) -> dict[str, Any]:
        self._admin(request)
        found = [each for each in self._store.projects.values() if request.query.get("name") in (None, each.name)]
        return {"projects": [_shown(each) for each in found]}

    def show(self, request: Request, project_id: str) -> dict[str, Any]:
        identity = self._store.token(request.token).identity
        if not identity.is_admin and identity.project_id != project_id:
            raise Refusal(403, "You are not authorized to perform the requested action: identity:get_project.")
        return {"project": _shown(self._project(project_id))}

    def change(self, request: Request, project_id: str) -> dict[str, Any]:
        self._admin(request)
        found = self._project(project_id)
        found.enabled = request.body["project"].get("enabled", found.enabled)
        found.name = request.body["project"].get("name", found.name)
        return {"project": _shown(found)}

    def delete(self, request: Request, project_id: str) -> None:
        self._admin(request)
        self._project(project_id)
        del self._store.projects[project_id]
        for user in self._store.users.values():
            user.roles.pop(project_id, None)
        for trust in [each for each in self._store.trusts.values() if each.project_id == project_id]:
            del self._store.trusts[trust.id]

    def users(self, request: Request) -> dict[str, Any]:
        self._admin(request)
        found = [each for each in self._store.users.values() if request.query.get("name") in (None, each.name)]
        return {"users": [_shown(each) for each in found]}

    def user(self, request: Request, user_id: str) -> dict[str, Any]:
        identity = self._store.token(request.token).identity
        if not identity.is_admin and identity.user_id != user_id:
            raise Refusal(403, "You are not authorized to perform the requested action: identity:get_user.")
        return {"user": _shown(self._user(user_id))}

    def roles(self, request: Request) -> dict[str, Any]:
        self._admin(request)
        wanted = request.query.get("name")
        found = [(name, role_id) for name, role_id in self._store.roles.items() if wanted in (None, name)]
        return {"roles": [{"id": role_id, "name": name} for name, role_id in found]}

    def grant(self, request: Request, project_id: str, user_id: str, role_id: str) -> Answer:
        self._admin(request)
        self._project(project_id)
        self._user(user_id).roles.setdefault(project_id, set()).add(self._role(role_id))
        return Answer(204)

    def revoke(self, request: Request, project_id: str, user_id: str, role_id: str) -> Answer:
        self._admin(request)
        self._user(user_id).roles.get(project_id, set()).discard(self._role(role_id))
        # What somebody gave away ends when they lose it themselves.
        left = self._store.roles_of(user_id, project_id)
        for trust in [*self._store.trusts.values()]:
            if (trust.trustor, trust.project_id) == (user_id, project_id) and not trust.roles <= left:
                del self._store.trusts[trust.id]
        return Answer(204)

    def assignments(self, request: Request) -> dict[str, Any]:
        self._admin(request)
        user_id, project_id = request.query.get("user.id"), request.query.get("scope.project.id")
        found = [
            {
                "user": {"id": user.id},
                "scope": {"project": {"id": project}},
                "role": {"id": self._store.role_id(name), "name": name},
            }
            for user in self._store.users.values()
            if user_id in (None, user.id)
            for project, names in user.roles.items()
            if project_id in (None, project)
            for name in sorted(names)
        ]
        return {"role_assignments": found}

    def _admin(self, request: Request) -> None:
        if not self._store.token(request.token).identity.is_admin:
            raise Refusal(403, "You are not authorized to perform the requested action.")

    def _project(self, project_id: str) -> Project:
        found = self._store.projects.get(project_id)
        if found is None:
            raise Refusal(404, f"Could not find project: {project_id}.")
        return found

    def _user(self, user_id: str) -> User:
        found = self._store.users.get(user_id)
        if found is None:
            raise Refusal(404, f"Could not find user: {user_id}.")
        return found

    def _role(self, role_id: str) -> str:
        found = next((name for name, each in self._store.roles.items() if each == role_id), None)
        if found is None:
            raise Refusal(404, f"Could not find role: {role_id}.")
        return found


def _shown(found: Project | User) -> dict[str, Any]:
    return {"id": found.id, "name": found.name, "domain_id": DOMAIN, "enabled": found.enabled}
