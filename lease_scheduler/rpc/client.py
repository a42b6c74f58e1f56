"""The API's side of the requests to the engine."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import wraps
from threading import Thread
from typing import Any

import oslo_messaging
from kombu.exceptions import OperationalError
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, LeaseSchedulerError, RefusedError
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.rpc.gate import Gate
from lease_scheduler.rpc.interface import METHODS, VERSION, EngineRequests, topic

#: Seconds to wait for an answer after the request has expired, which ends the engine's time to act on it.
_MARGIN = 5.0

#: Number of times that the transport tries again to reach a broker that does not answer.
_RETRIES = 2

#: Errors of the transport which mean that no engine has answered.
_NO_ANSWER = (
    TimeoutError,
    oslo_messaging.MessagingTimeout,
    oslo_messaging.MessageDeliveryFailure,
    oslo_messaging.MessageUndeliverable,
    oslo_messaging.ClientSendError,
    # The transport lets these through if the broker is away when it makes a connection.
    OSError,
    OperationalError,
)

#: Makes the broker report a request for which no engine has a queue.
_DELIVERED = oslo_messaging.TransportOptions(at_least_once=True)

#: Seconds until a request for which no engine has a queue is sent again.
_PAUSE = 0.5


class EngineFailedError(LeaseSchedulerError):
    """The engine failed with an internal error; its log has the details."""


class RpcEngineClient(EngineRequests):
    """Client of the engine of a site; each method sends the request of its name.

    Every request carries the instant at which it expires. The engine does not begin to act on an expired request, so a
    request whose answer does not come in time is not carried out later. For this the clocks of the machines must agree
    to within a few seconds.

    :param transport: oslo.messaging transport
    :param site: name of the site
    :param timeout: seconds until a request expires
    :param places: maximum number of requests that wait for the engine at the same time
    """

    def __init__(self, transport: Any, site: str, timeout: float = 30.0, places: int = 64) -> None:
        self._gate = Gate(places)
        self._transport = transport
        target = oslo_messaging.Target(topic=topic(site), version=VERSION)
        self._client = oslo_messaging.get_rpc_client(
            transport, target, timeout=timeout + _MARGIN, retry=_RETRIES, transport_options=_DELIVERED
        )
        self._timeout = timeout

    def close(self) -> None:
        """Close the transport, which would otherwise wait for answers until the process ends."""
        self._transport.cleanup()

    def _ask(self, context: Document, method: str, arguments: Document) -> Document:
        context = {**context, "expires": time.time() + self._timeout}
        try:
            with self._gate.turn(self._timeout):
                answer = self._call_in_time(context, self._timeout, name=method, arguments=arguments)
                self._gate.answered()
        except _NO_ANSWER as error:
            raise EngineUnavailableError("no engine answered in time; try again later") from error
        refusal = answer.get("error")
        if refusal is None:
            return dict(answer["answer"])
        if refusal["code"] == 503:
            raise EngineUnavailableError(refusal["message"])
        if refusal["code"] == 500:
            raise EngineFailedError(refusal["message"])
        raise RefusedError(
            refusal["code"],
            refusal["message"],
            refusal["field"],
            refusal["alternatives"],
            reason=RefusalReason.known(refusal.get("reason")),
        )

    def problem(self, seconds: float) -> str | None:
        """Return what keeps the engine from working, or None.

        This does not wait for a turn at the gate, so that it can also report an engine that is stuck.

        :param seconds: maximum time to wait for an answer
        """
        context = {"expires": time.time() + seconds}
        try:
            answer = self._call_in_time(context, seconds, name="ping", arguments={})
        except (oslo_messaging.MessagingTimeout, oslo_messaging.MessageUndeliverable):
            return "does not answer"
        except _NO_ANSWER:
            return "cannot be asked: the message broker does not answer"
        refusal = answer.get("error")
        problem = answer["answer"]["problem"] if refusal is None else refusal["message"]
        return None if problem is None else str(problem)

    def _call_in_time(self, context: Document, seconds: float, **request: Any) -> Document:
        """Return the answer to a request.

        The transport limits only the wait for an answer. While the broker is away, it may wait for a connection for
        ever, so a separate thread sends the request. A broker that returns has no queue for requests until the engine
        notices its return, so a request that cannot be delivered is sent again.

        :param seconds: maximum time to deliver the request and get the answer
        """
        answer: Future[Document] = Future()
        end = time.monotonic() + seconds
        again = Retrying(
            retry=retry_if_exception_type(oslo_messaging.MessageUndeliverable),
            wait=wait_fixed(_PAUSE),
            stop=stop_after_delay(seconds - _PAUSE),
            reraise=True,
        )

        def call_once() -> Document:
            client = self._client.prepare(timeout=max(0.0, end - time.monotonic()) + _MARGIN)
            return dict(client.call(context, "request", **request))

        def call() -> None:
            try:
                answer.set_result(again(call_once))
            except BaseException as error:
                answer.set_exception(error)

        Thread(target=call, name="engine-request", daemon=True).start()
        # If the request was sent, the transport's own limit ends the wait earlier.
        return answer.result(seconds + 2 * _MARGIN)


def _sender(name: str) -> Callable[..., Document]:
    """Return the method of the client that sends a request.

    Arguments with their default value are left out, so that an older engine need not know them.
    """
    declared = getattr(EngineRequests, name)
    signature = inspect.signature(declared)
    defaults = {key: parameter.default for key, parameter in signature.parameters.items()}

    @wraps(declared)
    def send(*positional: Any, **named: Any) -> Document:
        given = signature.bind(*positional, **named).arguments
        client, context = given.pop("self"), given.pop("context")
        arguments = {key: value for key, value in given.items() if value is not defaults[key]}
        return client._ask(context, name, arguments)  # type: ignore[no-any-return]

    return send


for _name in METHODS:
    setattr(RpcEngineClient, _name, _sender(_name))
