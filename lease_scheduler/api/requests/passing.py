"""Requests that peers pass on: for whom, and by way of whom."""

from __future__ import annotations

from lease_scheduler.api.context import Caller
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.model.documents import Document
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.records.attributes import ATTRIBUTES

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
