"""Requests that peers pass on: for whom, by way of whom, and for which project of this site."""

from __future__ import annotations

from lease_scheduler.api.context import Caller
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.request import ApiRequest
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.model.documents import Document
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.records.attributes import ATTRIBUTES

#: Where a request names the project of this site to which its lease is to belong.
_PROJECT = "on_behalf_of.project_id"

_OF_PEERS = tuple(each.name for each in ATTRIBUTES if each.of_peers)


def check_passed_on(lease: Document, caller: Caller, settings: ApiSettings) -> None:
    """Refuse a request that has passed here already, or was passed on too often, or says so without being of a peer.

    :param lease: the lease document of the request
    :raises ApiError: 403, only peers may say it; 409, with ``loop`` or ``depth`` as the reason for programs
    """
    if caller.origin is None:
        for name in _OF_PEERS:
            if lease[name] is not None:
                raise ApiError(403, f"{name}: only peers of this site may give it; leave it out", name)
    path = lease["path"] or ()
    shown = " > ".join(path)
    if settings.site in path:
        message = f"path: {settings.site} has passed this request on already: {shown}; ask another site"
        raise ApiError(409, message, "path", reason=RefusalReason.LOOP)
    if len(path) > settings.most_passes:
        message = f"path: the request was passed on {len(path)} times, and may be {settings.most_passes} times: {shown}"
        raise ApiError(409, message, "path", reason=RefusalReason.DEPTH)


def check_project(request: ApiRequest, lease: Document) -> None:
    """Refuse a lease for a project of this site, unless the peer that asks may request leases for it.

    :param lease: the lease document of the request
    :raises ApiError: 400, the service would act with the peer's roles in that project; 403, there is no such project
    :raises RefusedError: 403, the peer may not request leases for it
    :raises IdentityUnavailableError: nobody can say whether the project exists
    """
    origin, said = request.caller.origin, lease["on_behalf_of"]
    if origin is None or said is None or "project_id" not in said:
        return
    project_id: str = said["project_id"]
    # Asked first, so that a peer cannot find out which other projects exist.
    request.engine.check_project(request.context(), origin, project_id)
    if needs_trust(lease):
        what = "servers" if lease["servers"] else "affinity"
        problem = "is for leases of the project whose member asks; leave it out, or request the lease in that project"
        raise ApiError(400, f"{what}: {problem}", what)
    names = request.services.names
    if names is None or not names.has_project(project_id):
        message = f"there is no enabled project {project_id} here; give the id of a project of this site"
        raise ApiError(403, f"{_PROJECT}: {message}", _PROJECT, reason=RefusalReason.PROJECT)


def needs_trust(lease: Document) -> bool:
    """Return whether the service creates something in the project: servers, or a server group for affinity."""
    return bool(lease["servers"]) or any(each.get("affinity") is not None for each in lease["reservations"])
