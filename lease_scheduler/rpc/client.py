"""The API's side of the requests to the engine."""

from __future__ import annotations

import time
from concurrent.futures import Future
from threading import Thread
from typing import Any

import oslo_messaging
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, LeaseSchedulerError, RefusedError
from lease_scheduler.rpc.gate import Gate
from lease_scheduler.rpc.server import VERSION, topic

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


class RpcEngineClient:
    """Asks the engine of a site (see ``api.interfaces.EngineClient`` for what may be asked).

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

    def _ask(self, context: Document, method: str, **arguments: Any) -> Document:
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

    def ping(self, seconds: float) -> str | None:
        """Look whether the engine works; None if it does, else what is wrong with it.

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

    def create_lease(self, context: Document, lease: Document) -> Document:
        """Admit and plan a new lease."""
        return self._ask(context, "create_lease", lease=lease)

    def quote_lease(self, context: Document, lease: Document) -> Document:
        """What ``create_lease`` would come to, keeping nothing."""
        return self._ask(context, "quote_lease", lease=lease)

    def offer_lease(self, context: Document, lease: Document) -> Document:
        """Hold a lease for its consumer until he accepts it."""
        return self._ask(context, "offer_lease", lease=lease)

    def accept_lease(self, context: Document, lease_id: str, trust_id: str | None = None) -> Document:
        """Its consumer wants a lease that is held for him."""
        return self._ask(context, "accept_lease", lease_id=lease_id, trust_id=trust_id)

    def counter_offer(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Other terms for a lease that is held for its consumer."""
        return self._ask(context, "counter_offer", lease_id=lease_id, changes=changes)

    def quote_change(self, context: Document, lease_id: str, changes: Document) -> Document:
        """What ``update_lease`` would come to."""
        return self._ask(context, "quote_change", lease_id=lease_id, changes=changes)

    def reject_lease(self, context: Document, lease_id: str) -> Document:
        """Its consumer does not want a lease that is held for him."""
        return self._ask(context, "reject_lease", lease_id=lease_id)

    def update_lease(self, context: Document, lease_id: str, changes: Document) -> Document:
        """Change some keys of the lease document."""
        return self._ask(context, "update_lease", lease_id=lease_id, changes=changes)

    def delete_lease(self, context: Document, lease_id: str, reason: str) -> Document:
        """Cancel what is left of a lease and take it from the lists."""
        return self._ask(context, "delete_lease", lease_id=lease_id, reason=reason)

    def end_lease(self, context: Document, lease_id: str) -> Document:
        """The lease is done before its time."""
        return self._ask(context, "end_lease", lease_id=lease_id)

    def move_lease(self, context: Document, lease_id: str, hosts_away: list[str]) -> Document:
        """Other hosts instead of the named ones."""
        return self._ask(context, "move_lease", lease_id=lease_id, hosts_away=hosts_away)

    def availability(self, context: Document, query: Document) -> Document:
        """When nodes are free."""
        return self._ask(context, "availability", query=query)

    def create_host(self, context: Document, host: Document) -> Document:
        """Take a compute host into the pool."""
        return self._ask(context, "create_host", host=host)

    def create_hosts(self, context: Document, names: list[str]) -> Document:
        """Take many compute hosts into the pool at once."""
        return self._ask(context, "create_hosts", names=names)

    def update_host(self, context: Document, host_id: str, values: Document) -> Document:
        """Set or remove properties of a host."""
        return self._ask(context, "update_host", host_id=host_id, values=values)

    def delete_host(self, context: Document, host_id: str) -> Document:
        """Take a compute host out of the pool."""
        return self._ask(context, "delete_host", host_id=host_id)

    def create_floatingip(self, context: Document, values: Document) -> Document:
        """Take an address into the pool."""
        return self._ask(context, "create_floatingip", values=values)

    def delete_floatingip(self, context: Document, floatingip_id: str) -> Document:
        """Take an address out of the pool."""
        return self._ask(context, "delete_floatingip", floatingip_id=floatingip_id)

    def update_property(self, context: Document, resource_type: str, name: str, private: bool) -> Document:
        """Show a property to everybody or to administrators only."""
        return self._ask(context, "update_property", resource_type=resource_type, name=name, private=private)

    def create_series(self, context: Document, series: Document) -> Document:
        """Leases that repeat."""
        return self._ask(context, "create_series", series=series)

    def delete_series(self, context: Document, series_id: str) -> Document:
        """End a series."""
        return self._ask(context, "delete_series", series_id=series_id)

    def reconcile(self, context: Document, *, dry_run: bool = False) -> Document:
        """Compare plan and cloud now; repair what differs, or only tell."""
        return self._ask(context, "reconcile", **({"dry_run": True} if dry_run else {}))

    def list_installed(self, context: Document) -> Document:
        """What there is of the service in the cloud."""
        return self._ask(context, "list_installed")

    def uninstall(self, context: Document, *, end_leases: bool = False, keep_providers: bool = False) -> Document:
        """Leave the cloud as far as that can be done at once; what is left."""
        return self._ask(context, "uninstall", end_leases=end_leases, keep_providers=keep_providers)
