"""The compute services: messages to them, and the work that they do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lease_scheduler.rehearsal.cloud.nova.compute.processes import (
    HypervisorCall,
    HypervisorError,
    Proceed,
    Process,
    Work,
)
from lease_scheduler.rehearsal.cloud.nova.records import Action, Host, Server
from lease_scheduler.rehearsal.cloud.nova.store import Store


@dataclass(frozen=True)
class Order:
    """A message to a compute service.

    :ivar method: what is to be done, by the name in Nova's RPC interface
    :ivar event: name of the event of the action that records the work
    :ivar make: returns the work
    :ivar takes_turns: whether it waits for other work with the same server on the same host
    """

    method: str
    server: Server
    action: Action
    event: str
    make: Callable[[], Work]
    takes_turns: bool = False


@dataclass
class _Service:
    """A compute service.

    :ivar inbox: messages that wait for it while it is stopped
    :ivar processes: its work in progress
    :ivar turns: server -> orders that wait for their turn; the first one is being carried out
    """

    inbox: deque[Order] = field(default_factory=deque)
    processes: list[Process] = field(default_factory=list)
    turns: dict[str, deque[Order]] = field(default_factory=dict)


class Computes:
    """All compute services.

    The attributes that are functions are hooks, at which a world lets hosts be slow or fail and messages be lost.

    :ivar hypervisor: carries out a call of a hypervisor, and then calls its second argument, at once or later
    :ivar delivers: returns whether a message arrives; called with the method and the id of the server
    :ivar releases: returns whether Placement lets Nova release what a consumer has
    :ivar cpu_seconds: returns the CPU time of each processor of a server; None if its hypervisor cannot tell
    :ivar when_started: called with the host when a service has started again
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._services: dict[str, _Service] = {}
        self.hypervisor: Callable[[HypervisorCall, Proceed], None] = lambda call, proceed: proceed(None)
        self.delivers: Callable[[str, str], bool] = lambda method, server_id: True
        self.releases: Callable[[str], bool] = lambda consumer_id: True
        self.cpu_seconds: Callable[[Server], Sequence[float | None]] = lambda server: [0.0] * server.flavor.vcpus
        self.when_started: Callable[[Host], None] = lambda host: None

    # -- services --------------------------------------------------------------------------------------------

    def add(self, host: Host) -> None:
        """Add a compute service, which runs."""
        self._services[host.name] = _Service()

    def stop(self, host: str) -> None:
        """Stop a compute service: its work ends where it is, and messages wait for it."""
        service, found = self._services[host], self._store.hosts[host]
        found.reported = self._store.last_report(found)
        found.runs = False
        for process in service.processes:
            process.stop()
        service.processes.clear()
        service.turns.clear()

    def start(self, host: str) -> None:
        """Start a compute service again: it repairs what it left, and then takes its messages."""
        found, service = self._store.hosts[host], self._services[host]
        if found.runs:
            return
        found.runs = True
        found.reported = self._store.timing.time()
        self.when_started(found)
        waiting, service.inbox = service.inbox, deque()
        for order in waiting:
            self._take(host, order)

    # -- work ------------------------------------------------------------------------------------------------

    def seconds(self, what: str) -> float:
        """Return how long something takes this time."""
        least, most = self._store.options.durations.get(what, (0.0, 0.0))
        return self._store.timing.random.uniform(least, most)

    def cast(self, host: str, order: Order) -> None:
        """Send a message to a compute service."""
        if self.delivers(order.method, order.server.id):
            self._store.timing.call_later(self.seconds("message"), lambda: self._take(host, order))

    def later(self, what: str, order: Order) -> None:
        """Have nova-conductor do something, which no stopped host delays."""
        self._store.timing.call_later(self.seconds(what), lambda: self._begin(None, order, lambda: None))

    def _take(self, host: str, order: Order) -> None:
        service = self._services[host]
        if not self._store.hosts[host].runs:
            service.inbox.append(order)
            return
        if not order.takes_turns:
            self._begin(host, order, lambda: None)
            return
        turns = service.turns.setdefault(order.server.id, deque())
        turns.append(order)
        if len(turns) == 1:
            self._begin(host, order, lambda: self._next(host, order))

    def _next(self, host: str, done: Order) -> None:
        turns = self._services[host].turns[done.server.id]
        turns.popleft()
        if not turns:
            del self._services[host].turns[done.server.id]
            return
        following = turns[0]
        self._begin(host, following, lambda: self._next(host, following))

    def _begin(self, host: str | None, order: Order, then: Callable[[], None]) -> None:
        event = self._store.begin(order.action, order.event, host)
        processes = self._services[host].processes if host is not None else []

        def over(error: Exception | None) -> None:
            if process in processes:
                processes.remove(process)
            self._store.finish(event, None if error is None else str(error) or type(error).__name__)
            if error is not None:
                order.action.message = "Error"
            if isinstance(error, HypervisorError) and not order.server.deleted:
                self._store.fail(order.server, str(error), task=None)
            then()

        def call(what: HypervisorCall, proceed: Proceed) -> None:
            here = replace(what, host=host or "")
            self._store.timing.call_later(self.seconds(what.method), lambda: self.hypervisor(here, proceed))

        process = Process(self._store.timing, order.make(), call, over)
        processes.append(process)
        process.go_on()
