"""The load that a site publishes, from what it has learnt of the requests that arrive, and as plain values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from lease_scheduler.federation.members import Arrivals, PublishedLoad, together
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.request_types import RequestType, request_type
from lease_scheduler.policy.arrivals import KnownArrivals

_LOCAL, _EXTERNAL = "local", "external"


def sort_of(request: LeaseRequest) -> str:
    """Return the name of the sort to which a request belongs: ``local``, or ``external`` with the request type."""
    if request.origin is None:
        return _LOCAL
    found = request_type(request)
    return _EXTERNAL if found is None else f"{_EXTERNAL} {found.value}"


def published_load(known: Mapping[str, KnownArrivals], now: int) -> PublishedLoad:
    """Return the load of a site.

    :param known: what the site has learnt, by the names that ``sort_of`` returns
    """
    found = {name: Arrivals(each.rate(now), each.work, each.squares) for name, each in known.items()}
    types: dict[str, RequestType | None] = {f"{_EXTERNAL} {each.value}": each for each in RequestType}
    types[_EXTERNAL] = None
    external = {of_type: found[name] for name, of_type in types.items() if name in found}
    return PublishedLoad(found.get(_LOCAL, Arrivals()), external)


def plain_load(load: PublishedLoad) -> dict[str, Any]:
    """Return a load as values that fit into JSON."""
    return {
        "local": _plain(load.local),
        "external": [
            {"type": None if of_type is None else of_type.value, **_plain(each)}
            for of_type, each in load.external.items()
        ],
    }


def load_of(plain: Mapping[str, Any]) -> PublishedLoad:
    """Return the load for its plain values. Requests of types that only a later version knows have no type.

    :raises InvalidValueError: a figure is impossible
    :raises KeyError: a figure is missing
    """
    types = {each.value: each for each in RequestType}
    parts: defaultdict[RequestType | None, list[Arrivals]] = defaultdict(list)
    for each in plain["external"]:
        parts[types.get(each["type"])].append(_arrivals(each))
    external = {of_type: each[0] if len(each) == 1 else together(each) for of_type, each in parts.items()}
    return PublishedLoad(_arrivals(plain["local"]), external)


def _plain(arrivals: Arrivals) -> dict[str, Any]:
    return {"rate": arrivals.rate, "work": dict(arrivals.work), "squares": dict(arrivals.squares)}


def _arrivals(plain: Mapping[str, Any]) -> Arrivals:
    return Arrivals(float(plain["rate"]), dict(plain["work"]), dict(plain["squares"]))
