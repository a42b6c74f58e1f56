"""What the site is for gateways and other sites: what it can be asked to do, its capacity, and its load."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.published_load import plain_load, published_load
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.policy.arrivals import KnownArrivals


def show(request: ApiRequest) -> Answer:
    """Show what the site says of itself; its capacity and load only to peers and to callers who see the whole site."""
    sees = request.caller.origin is not None or request.sees_site
    settings = request.services.settings
    shown = {
        "name": settings.site,
        "origin": request.caller.origin,
        "verbs": [verb.value for verb in Verb],
        "speed": settings.speed,
        "capacity": _capacity(request) if sees else None,
        "load": _load(request) if sees else None,
    }
    return Answer({"member": shown})


def _capacity(request: ApiRequest) -> dict[str, int]:
    """Return the amounts of the hosts that leases may use, and that are in service.

    Each host has a ``HOST_SHARE``, as whole hosts are learnt by that alone.
    """
    found: Counter[str] = Counter()
    for host in request.reader.hosts():
        if host["reservable"] and host["out_until"] is None:
            found.update({**host["capacity"], HOST_SHARE: WHOLE_HOST})
    return dict(sorted(found.items()))


def _load(request: ApiRequest) -> Document:
    known = {}
    for sort, document in request.reader.arrivals().items():
        with suppress(InvalidValueError):
            known[sort] = KnownArrivals.restored(document)
    return plain_load(published_load(known, request.now))
