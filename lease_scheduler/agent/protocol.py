"""Messages between an engine and the agents of its site, each signed with a key of the agent's host.

The engine derives the keys of all hosts from the secret of the site, which no agent needs to know. So a key that has
leaked is good for one host alone.

An order is accepted once: it names the run of the agent that it is for, which ends with the process, and a revision
that must be higher than that of any order before. So an order that was recorded on the message bus can be played back
neither to the same agent nor to one that was restarted, and clocks need not agree. An answer repeats the nonce of its
request.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.model.errors import LeaseSchedulerError

#: Version of the messages. The second number grows when something is added, the first when something is removed.
VERSION = "2.0"

#: Least number of characters of the secret.
SECRET_LENGTH = 16

#: Weight of one CPU.
CPU_WEIGHT = 100

_SIGNATURE = "signature"
_REQUEST, _ANSWER = "request", "answer"

Document = dict[str, Any]


class NotAuthenticError(LeaseSchedulerError):
    """A message that was not signed with the key of this host, or is for another site or host."""


class AgentError(LeaseSchedulerError):
    """An agent that did not do what it was asked."""


def topic(site: str) -> str:
    """Return the topic on which the agents of a site receive requests."""
    return f"lease-scheduler.agent.{site}"


def host_key(secret: str, site: str, host: str) -> str:
    """Return the key with which the agent of a host and the engine of its site sign their messages.

    :param secret: secret of the site
    """
    return hmac.new(secret.encode(), json.dumps(["agent", site, host]).encode(), "sha256").hexdigest()


@dataclass(frozen=True)
class Request:
    """A request from an engine to the agent of a host.

    :ivar nonce: random text that the answer repeats
    :ivar run: the run of the agent that it is for; empty if it is not known yet
    :ivar revision: number of the order, or None to ask only
    :ivar weights: id of each server that gets less than its full CPUs -> its weight; one CPU has ``CPU_WEIGHT``
    """

    site: str
    host: str
    nonce: str
    run: str = ""
    revision: int | None = None
    weights: Mapping[str, int] | None = None


@dataclass(frozen=True)
class ServerReport:
    """A server as its hypervisor shows it.

    :ivar shares: its present CPU weight, in the units of the hypervisor
    :ivar cpu_seconds: CPU time that it has used since it was started
    """

    vcpus: int
    shares: int
    cpu_seconds: float


@dataclass(frozen=True)
class Answer:
    """The answer of an agent.

    :ivar run: its present run
    :ivar revision: revision of the last order of this run, or 0
    :ivar accepted: whether the request named this run and, if it is an order, a higher revision
    :ivar problem: why servers may not have the weights that they should have, or None
    """

    site: str
    host: str
    nonce: str
    run: str
    revision: int
    accepted: bool
    problem: str | None
    servers: Mapping[str, ServerReport]


def pack_request(request: Request, key: str) -> Document:
    """Return the signed message of a request."""
    weights = None if request.weights is None else dict(request.weights)
    return _signed({**vars(request), "weights": weights, "kind": _REQUEST}, key)


def unpack_request(message: Any, key: str, site: str, host: str) -> Request:
    """Return the request of a message.

    :raises NotAuthenticError: it is not for this host, or not from an engine of its site
    """
    found = _verified(message, key, _REQUEST, site, host)
    try:
        return Request(**found)
    except TypeError as error:
        raise NotAuthenticError("the message has other fields than expected") from error


def pack_answer(answer: Answer, key: str) -> Document:
    """Return the signed message of an answer."""
    servers = {server_id: vars(report) for server_id, report in answer.servers.items()}
    return _signed({**vars(answer), "servers": servers, "kind": _ANSWER}, key)


def unpack_answer(message: Any, key: str, request: Request) -> Answer:
    """Return the answer to a request.

    :raises NotAuthenticError: it is not from the agent that was asked, or answers another request
    """
    found = _verified(message, key, _ANSWER, request.site, request.host)
    if found.get("nonce") != request.nonce:
        raise NotAuthenticError("the message answers another request")
    try:
        servers = {server_id: ServerReport(**report) for server_id, report in found.pop("servers").items()}
        return Answer(**found, servers=servers)
    except (KeyError, TypeError) as error:
        raise NotAuthenticError("the message has other fields than expected") from error


def _signed(fields: Document, key: str) -> Document:
    return {**fields, _SIGNATURE: _signature(fields, key)}


def _verified(message: Any, key: str, kind: str, site: str, host: str) -> Document:
    if not isinstance(message, dict) or not isinstance(message.get(_SIGNATURE), str):
        raise NotAuthenticError("the message has no signature")
    fields = {name: value for name, value in message.items() if name != _SIGNATURE}
    if not hmac.compare_digest(_signature(fields, key), message[_SIGNATURE]):
        raise NotAuthenticError("the message was signed with another key")
    if (fields.pop("kind", None), fields.get("site"), fields.get("host")) != (kind, site, host):
        raise NotAuthenticError("the message is for another site or host")
    return fields


def _signature(fields: Document, key: str) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hmac.new(key.encode(), text.encode(), "sha256").hexdigest()
