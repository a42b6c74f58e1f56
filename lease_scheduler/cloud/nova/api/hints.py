"""Hints: plain values from Nova's versioned notifications, which are not trusted.

A hint only says where to look. The facts are then read from Nova's API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.nova.boots import FLAVOR_LEASE

#: Prefix of notifications about images that the hosts of an aggregate fetch into their caches.
_CACHING = "aggregate.cache_images."

#: Suffixes of notifications about actions that are over.
_OVER = (".end", ".error")

#: Notification about a part of a deletion. The deletion has its own notification.
_PART = "instance.shutdown.end"


@dataclass(frozen=True)
class ServiceHint:
    """A compute service was registered, removed, enabled, disabled or forced down.

    :ivar host: name of the compute service, which aggregates also use
    """

    host: str


@dataclass(frozen=True)
class ServerHint:
    """An action on a server is over.

    :ivar lease_id: lease of its flavor, or None for an ordinary flavor
    :ivar host: name of the compute service that has the server, or that reports it if none has it any more; None if not
        known
    :ivar user_id: user who requested the action
    """

    event_type: str
    server_id: str
    lease_id: str | None = None
    host: str | None = None
    user_id: str | None = None


@dataclass(frozen=True)
class AggregateHint:
    """A host aggregate was changed or removed.

    :ivar number: its id
    :ivar user_id: user who made the change
    """

    number: int
    user_id: str | None = None


@dataclass(frozen=True)
class CacheHint:
    """The hosts of an aggregate fetch requested images into their caches.

    :ivar phase: ``start``, ``progress`` of one host, or ``end``
    :ivar aggregate: name of the aggregate
    :ivar request_id: id of the request
    :ivar host: name of the compute service that has finished
    :ivar cached: ids of the images that this host has now
    """

    phase: str
    aggregate: str
    request_id: str | None = None
    host: str | None = None
    cached: frozenset[str] = frozenset()


Hint = ServiceHint | ServerHint | AggregateHint | CacheHint


def read(publisher: str, event_type: str, payload: Any, context: Any) -> Hint | None:
    """Return the hint of a notification, or None if it is of no interest or cannot be read.

    :param publisher: its sender, such as ``nova-compute:node1``
    :param payload: a serialised object of Nova
    :param context: context of the request that caused it
    """
    data = _data(payload)
    subject, _, rest = event_type.partition(".")
    user_id = _text(context.get("user_id")) if isinstance(context, Mapping) else None
    if event_type.startswith(_CACHING):
        request_id = _text(context.get("request_id")) if isinstance(context, Mapping) else None
        return _cache_hint(event_type.removeprefix(_CACHING), data, request_id)
    if subject == "service":
        host = _text(data.get("host"))
        return ServiceHint(host) if host and data.get("binary") == "nova-compute" else None
    if subject == "instance" and rest.endswith(_OVER) and event_type != _PART:
        server_id = _text(data.get("uuid"))
        # A compute service clears the host of a server before it notifies of the offload. The publisher still names it.
        host = _text(data.get("host")) or _compute(publisher)
        return ServerHint(event_type, server_id, _lease(data), host, user_id) if server_id else None
    if subject == "compute_task" and rest.endswith(_OVER):
        # Sent when no host is found. No compute service sends anything then.
        server_id = _text(data.get("instance_uuid"))
        lease_id = _lease(_data(data.get("request_spec")))
        return ServerHint(event_type, server_id, lease_id, user_id=user_id) if server_id else None
    if subject == "aggregate" and rest.endswith(_OVER):
        number = data.get("id")
        return AggregateHint(number, user_id) if isinstance(number, int) else None
    return None


def _cache_hint(phase: str, data: Mapping[str, Any], request_id: str | None) -> CacheHint | None:
    name, cached = _text(data.get("name")), data.get("images_cached")
    if name is None:
        return None
    ids = frozenset(each for each in cached if isinstance(each, str)) if isinstance(cached, list) else frozenset[str]()
    return CacheHint(phase, name, request_id, _text(data.get("host")), ids)


def _data(payload: Any) -> Mapping[str, Any]:
    """Return the fields of a serialised object of Nova."""
    found = payload.get("nova_object.data") if isinstance(payload, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _lease(data: Mapping[str, Any]) -> str | None:
    extra_specs = _data(data.get("flavor")).get("extra_specs")
    return _text(extra_specs.get(FLAVOR_LEASE)) if isinstance(extra_specs, Mapping) else None


def _compute(publisher: str) -> str | None:
    binary, _, host = publisher.partition(":")
    return host if binary == "nova-compute" and host else None
