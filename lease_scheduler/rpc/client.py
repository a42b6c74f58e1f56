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
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, LeaseSchedulerError, RefusedError
from lease_scheduler.rpc.gate import Gate
from lease_scheduler.rpc.interface import METHODS, VERSION, EngineRequests, topic

#: Seconds that an answer may take beyond the instant until which the engine may act on a request.
_MARGIN = 5.0

#: How often the transport tries to reach a broker that is away.
_RETRIES = 2

#: What it comes to when nobody answers.
_NO_ANSWER = (
    TimeoutError,
    oslo_messaging.MessagingTimeout,
    oslo_messaging.MessageDeliveryFailure,
    oslo_messaging.MessageUndeliverable,
    oslo_messaging.ClientSendError,
)

#: Have the broker say so if no engine has a queue for a request.
_DELIVERED = oslo_messaging.TransportOptions(at_least_once=True)

#: Seconds until such a request is sent again.
_PAUSE = 0.5


class EngineFailedError(LeaseSchedulerError):
    """The engine met an error of its own; its log tells more."""


class RpcEngineClient(EngineRequests):
    """Asks the engine of a site; every method sends the request of its name.

    Every request carries the instant until which the engine may act on it. So when no answer comes in time nothing will
    come of the request later either, as long as the clocks of the machines agree to within some seconds.

    :param transport: oslo.messaging transport
    :param timeout: seconds that the engine may take
    :param places: requests that may wait for it at the same time
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
        """Close the transport, which would otherwise wait for answers as long as the process lives."""
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
        raise RefusedError(refusal["code"], refusal["message"], refusal["field"], refusal["alternatives"])

    def problem(self, seconds: float) -> str | None:
        """Return what keeps the engine from working, or None.

        It takes no turn, as it is to tell of an engine that is stuck.

        :param seconds: how long to wait for an answer
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
        """The answer to a request.

        The transport has a limit for the answer only: while a broker is away it may wait for a connection for ever. So
        a thread does it that need not be waited for. A broker that was away has no queue for requests until the engine
        has noticed that it is back; a request that it could give to nobody is sent again.
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
        # The transport's own limit comes first if it has got as far as that.
        return answer.result(seconds + 2 * _MARGIN)


def _sender(name: str) -> Callable[..., Document]:
    """Return the method of the client that sends a request.

    Arguments that have their default are left out, so that an older engine need not know them.
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
