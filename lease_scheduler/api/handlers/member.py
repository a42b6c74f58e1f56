"""What the site is for gateways and other sites: what it can be asked to do, its capacity, and its load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.published_load import plain_load, published_load
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.policy.arrivals import KnownArrivals

#: What a gateway cannot be asked to do: it holds nothing for longer than it negotiates.
_NOT_OF_GATEWAYS = (Verb.HOLD, Verb.ACCEPT, Verb.REJECT)


def show(request: ApiRequest) -> Answer:
    """Show what the site says of itself; its capacity and load only to peers and to callers who see the whole site."""
    if request.caller.origin is not None or request.sees_site:
        return _shown(request, tuple(Verb), _capacity(request), _load(request))
    return _shown(request, tuple(Verb))


def show_gateway(request: ApiRequest) -> Answer:
    """Show what a gateway says of itself, which has no hosts and learns no load."""
    return _shown(request, tuple(verb for verb in Verb if verb not in _NOT_OF_GATEWAYS))


def _shown(
    request: ApiRequest, verbs: Sequence[Verb], capacity: dict[str, int] | None = None, load: Document | None = None
) -> Answer:
    settings = request.services.settings
    shown = {
        "name": settings.site,
        "origin": request.caller.origin,
        "verbs": [verb.value for verb in verbs],
        "speed": settings.speed,
        "capacity": capacity,
        "load": load,
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
