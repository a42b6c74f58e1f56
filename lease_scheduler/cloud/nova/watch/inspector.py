"""Inspection of facts that are expensive to read: sizes of hosts, aggregates, misplaced servers.

Everything is inspected at intervals, and single hosts and aggregates when there is a hint.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from functools import partial
from threading import Condition, Thread
from time import monotonic
from typing import Any

from lease_scheduler.cloud.nova.api.complaints import complain
from lease_scheduler.cloud.nova.api.edits import Edits
from lease_scheduler.cloud.nova.api.inventories import Inventories
from lease_scheduler.cloud.nova.repair.strangers import Strangers
from lease_scheduler.cloud.nova.watch.sink import Sink
from lease_scheduler.cloud.observations import AggregateChange, Stranger

LOG = logging.getLogger(__name__)


class Inspector:
    """Inspector with a separate thread, so that a long inspection delays no events.

    :param nova: novaclient's client with administrator rights
    :param interval: real seconds between two inspections of everything
    """

    def __init__(
        self, nova: Any, inventories: Inventories, edits: Edits, strangers: Strangers, interval: float
    ) -> None:
        self._nova = nova
        self._inventories = inventories
        self._edits = edits
        self._strangers = strangers
        self._interval = interval
        self._changed = Condition()
        self._hosts: set[str] = set()
        self._aggregates: set[int] = set()
        self._stopped = True
        self._thread: Thread | None = None

    def start(self, sink: Sink) -> None:
        """Begin to inspect.

        :param sink: receives what is seen, from the inspector's thread
        """
        self._stopped = False
        self._thread = Thread(target=self._run, args=(sink,), name="nova-inspector", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop inspecting."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def hint_at_host(self, service: str) -> None:
        """Inspect the servers on a host soon.

        :param service: name of its compute service
        """
        with self._changed:
            self._hosts.add(service)
            self._changed.notify_all()

    def hint_at_aggregate(self, number: int) -> None:
        """Inspect an aggregate soon.

        :param number: its id
        """
        with self._changed:
            self._aggregates.add(number)
            self._changed.notify_all()

    def _run(self, sink: Sink) -> None:
        due = monotonic()
        while True:
            with self._changed:
                while not (self._stopped or self._hosts or self._aggregates or monotonic() >= due):
                    self._changed.wait(due - monotonic())
                if self._stopped:
                    return
                hosts, self._hosts = self._hosts, set()
                aggregates, self._aggregates = self._aggregates, set()
            if monotonic() >= due:
                # Each is tried by itself, because Placement or Nova may not answer.
                self._try(partial(self._look_at_placement, sink))
                self._try(partial(self._look_at_aggregates, sink))
                self._try(partial(sink.on_inspection, None))
                due = monotonic() + self._interval
            self._look_at(hosts, aggregates, sink)

    def _try(self, look: Callable[[], None]) -> None:
        try:
            look()
        except Exception as error:
            again = f"it is tried again in {self._interval:.0f} s"
            complain(LOG, f"hosts and aggregates could not be looked at; {again}", error)

    def _look_at_placement(self, sink: Sink) -> None:
        names = self._inventories.changed()
        if names:
            try:
                sink.on_hosts(names)
            except BaseException:
                self._inventories.forget(names)
                raise

    def _look_at_aggregates(self, sink: Sink) -> None:
        aggregates = self._nova.aggregates.list()
        self._tell_edits(self._edits.look(aggregates), sink)
        self._tell_strangers(self._strangers.look(aggregates), sink)

    def _look_at(self, hosts: Collection[str], aggregates: Collection[int], sink: Sink) -> None:
        for number in sorted(aggregates):
            self._try(partial(self._look_at_aggregate, number, sink))
        for host in sorted(hosts):
            self._try(partial(self._look_at_host, host, sink))
            self._try(partial(sink.on_inspection, host))

    def _look_at_aggregate(self, number: int, sink: Sink) -> None:
        self._tell_edits(self._edits.look_at(number), sink)

    def _look_at_host(self, host: str, sink: Sink) -> None:
        self._tell_strangers(self._strangers.look_at(host), sink)

    def _tell_edits(self, changes: Iterable[AggregateChange], sink: Sink) -> None:
        for change in changes:
            self._try(partial(sink.on_aggregate, change))

    def _tell_strangers(self, strangers: Iterable[Stranger], sink: Sink) -> None:
        for stranger in strangers:
            if not stranger.is_known:
                LOG.warning(
                    "server %s of project %s is on host %s, which lease %s has for itself",
                    stranger.server_id,
                    stranger.project_id,
                    stranger.host,
                    stranger.lease_id,
                )
            self._try(partial(sink.on_stranger, stranger))
