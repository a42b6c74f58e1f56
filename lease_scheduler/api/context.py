"""The caller of a request: user, project and roles."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Any, Literal

from werkzeug.datastructures import Headers

from lease_scheduler.api.errors import ApiError

#: Each role and the next weaker role, which it implies; strongest first.
IMPLIED_ROLES = {"admin": "manager", "manager": "member", "member": "reader"}

_REQUEST_ID = re.compile(r"req-[0-9a-fA-F-]{36}")
_NAME = re.compile(r"[ -~]{1,255}")
_LONGEST_PROJECT_NAME = 255


@dataclass(frozen=True)
class Caller:
    """The sender of a request.

    :ivar roles: roles of the caller, including implied ones
    :ivar origin: name of the peer on whose behalf the requests of the caller come; None if they are local
    :ivar project_name: name of the project, for people; empty if it is not known
    """

    user_id: str
    project_id: str
    roles: frozenset[str]
    request_id: str
    origin: str | None = None
    project_name: str = ""

    def credentials(self) -> dict[str, Any]:
        """Return the credentials that oslo.policy checks; only those of peers have an ``origin``."""
        found: dict[str, Any] = {
            "user_id": self.user_id,
            "project_id": self.project_id,
            "roles": sorted(self.roles),
        }
        return found if self.origin is None else {**found, "origin": self.origin}


def nobody(request_id: str) -> Caller:
    """Return the anonymous caller of a route that is open to all."""
    return Caller("", "", frozenset(), request_id)


def request_id_of(headers: Headers) -> str:
    """Return the request id that the client sent, or a new one."""
    given = headers.get("X-Openstack-Request-Id", "")
    return given if _REQUEST_ID.fullmatch(given) else f"req-{uuid.uuid4()}"


def caller_of(
    headers: Headers, auth: Literal["noauth", "keystone"], request_id: str, peer_role: str | None = None
) -> Caller:
    """Return the sender of a request.

    :param auth: with ``noauth``, a request without identity headers is from an administrator of the project ``admin``
    :param peer_role: role of the users that stand for peers; None means that all requests are local. With ``noauth``
        nobody is a peer, because nothing confirms the headers
    :raises ApiError: 401, keystonemiddleware has not confirmed the identity
    """
    default = "admin" if auth == "noauth" else ""
    user_id, project_id = headers.get("X-User-Id", default), headers.get("X-Project-Id", default)
    roles = {role.strip().lower() for role in headers.get("X-Roles", default).split(",")} - {""}
    if auth == "keystone" and (headers.get("X-Identity-Status") != "Confirmed" or not user_id or not project_id):
        raise ApiError(401, "Authentication required: send a project-scoped token in X-Auth-Token")
    is_peer = auth == "keystone" and peer_role is not None and peer_role.lower() in roles
    origin = headers.get("X-User-Name", "") if is_peer else None
    for name, value in (("X-User-Id", user_id), ("X-Project-Id", project_id), ("X-User-Name", origin)):
        if value is not None and not _NAME.fullmatch(value):
            raise ApiError(400, f"{name}: must be 1 to 255 printable ASCII characters", name)
    project_name = headers.get("X-Project-Name", "")
    return Caller(
        user_id,
        project_id,
        _with_implied(roles),
        request_id,
        origin,
        project_name if len(project_name) <= _LONGEST_PROJECT_NAME else "",
    )


def _with_implied(roles: set[str]) -> frozenset[str]:
    found = set(roles)
    for role, implied in IMPLIED_ROLES.items():
        if role in found:
            found.add(implied)
    return frozenset(found)
