"""The engine's side of the messages to agents."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from typing import Any

import oslo_messaging

from lease_scheduler.agent import protocol
from lease_scheduler.agent.protocol import AgentError, Answer, NotAuthenticError, Request

#: Number of times that the transport tries again to reach a broker that does not answer.
_RETRIES = 1

#: Makes the broker report a request for which no agent has a queue.
_DELIVERED = oslo_messaging.TransportOptions(at_least_once=True)


@dataclass(frozen=True)
class _AgentState:
    """The state of an agent as last known: its run, and the revision of its last order."""

    run: str
    revision: int


class AgentClient:
    """Client of the agents of a site. Each host is served by one thread at a time.

    :param transport: oslo.messaging transport
    :param secret: secret of the site
    :param timeout: seconds to wait for an answer
    """

    def __init__(self, transport: Any, site: str, secret: str, timeout: float) -> None:
        self._transport = transport
        self._site = site
        self._secret = secret
        self._timeout = timeout
        target = oslo_messaging.Target(topic=protocol.topic(site), version=protocol.VERSION)
        self._client = oslo_messaging.get_rpc_client(
            transport, target, timeout=timeout, retry=_RETRIES, transport_options=_DELIVERED
        )
        self._known: dict[str, _AgentState] = {}
        self._calls: dict[str, Future[Any]] = {}

    def close(self) -> None:
        """Close the transport. No request may be under way."""
        self._transport.cleanup()

    def ask(self, host: str) -> Answer:
        """Return the state of the servers of a host, without an order.

        :raises AgentError: no valid answer came in time
        """
        return self._send(host, None, None)

    def order(self, host: str, weights: Mapping[str, int]) -> Answer:
        """Set the weights of servers of a host, until another order comes or the agent gets no order for some time.

        :param weights: see ``Request.weights``
        :raises AgentError: no valid answer came in time, or another engine gives it orders
        """
        known = self._known.get(host)
        if known is None:
            known = self._ask_state(host)
        answer = self._next(host, known, weights)
        if not answer.accepted and answer.run != known.run:
            # It was restarted, and has no order yet.
            answer = self._next(host, self._ask_state(host), weights)
        if not answer.accepted:
            # The engine that leads must prevail. One that was deposed ends within seconds.
            del self._known[host]
            raise AgentError("another engine gives it orders, too; the order is repeated")
        return answer

    def _ask_state(self, host: str) -> _AgentState:
        answer = self.ask(host)
        return _AgentState(answer.run, answer.revision)

    def _next(self, host: str, known: _AgentState, weights: Mapping[str, int]) -> Answer:
        """Send the next order. Its number is used up even if no answer comes: the agent may have accepted it."""
        self._known[host] = following = _AgentState(known.run, known.revision + 1)
        return self._send(host, following, weights)

    def _send(self, host: str, known: _AgentState | None, weights: Mapping[str, int] | None) -> Answer:
        run, revision = ("", None) if known is None else (known.run, known.revision)
        request = Request(self._site, host, secrets.token_hex(16), run, revision, weights)
        key = protocol.host_key(self._secret, self._site, host)
        message = protocol.pack_request(request, key)
        try:
            answer = self._call(host, message)
        except (oslo_messaging.MessagingTimeout, oslo_messaging.MessageUndeliverable, TimeoutError) as error:
            raise AgentError("does not answer") from error
        except oslo_messaging.MessagingException as error:
            raise AgentError(f"cannot be asked: {type(error).__name__}") from error
        if isinstance(answer, dict) and "refused" in answer:
            raise AgentError("it has another secret or another site; see [agent] secret")
        try:
            return protocol.unpack_answer(answer, key, request)
        except NotAuthenticError as error:
            raise AgentError(f"its answer is not authentic: {error}; see [agent] secret") from error

    def _call(self, host: str, message: protocol.Document) -> Any:
        """Return the answer to a message.

        The transport may wait for a broker for ever, so a daemon thread sends the message. There is at most one for
        each host.
        """
        earlier = self._calls.get(host)
        if earlier is not None and not earlier.done():
            raise TimeoutError
        found: Future[Any] = Future()
        self._calls[host] = found

        def call() -> None:
            try:
                found.set_result(self._client.prepare(server=host).call({}, "request", message=message))
            except BaseException as error:
                found.set_exception(error)

        Thread(target=call, name="agent-request", daemon=True).start()
        return found.result(2 * self._timeout)
