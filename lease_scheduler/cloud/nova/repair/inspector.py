"""Inspection of what is expensive to ask for: sizes of hosts, aggregates, misplaced servers.

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
from lease_scheduler.cloud.nova.repair.overdrafts import Overdrafts
from lease_scheduler.cloud.nova.repair.strangers import Strangers
from lease_scheduler.cloud.observations import AggregateChange, Stranger

LOG = logging.getLogger(__name__)

#: Called with the names of hosts of the pool that may have another size or other traits; with an aggregate that has
#: changed; with a server that is where it must not be.
OnHosts = Callable[[frozenset[str]], None]
OnAggregate = Callable[[AggregateChange], None]
OnStranger = Callable[[Stranger], None]


def _ignore(_: Any) -> None:
    return


class Inspector:
    """See the module. It has a thread of its own, so that a long inspection delays no other events.

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
        self._on_hosts: OnHosts = _ignore
        self._on_aggregate: OnAggregate = _ignore
        self._on_stranger: OnStranger = _ignore
        self._overdrafts: Overdrafts | None = None

    def start(
        self,
        on_hosts: OnHosts | None = None,
        on_aggregate: OnAggregate | None = None,
        on_stranger: OnStranger | None = None,
        overdrafts: Overdrafts | None = None,
    ) -> None:
        """Begin to inspect. Calls come from the inspector's thread.

        :param overdrafts: looks for overdrawn capacity; None leaves that out
        """
        self._overdrafts = overdrafts
        self._on_hosts = on_hosts or _ignore
        self._on_aggregate = on_aggregate or _ignore
        self._on_stranger = on_stranger or _ignore
        self._stopped = False
        self._thread = Thread(target=self._run, name="nova-inspector", daemon=True)
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

    def _run(self) -> None:
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
                # Each on its own, because Placement or Nova may not answer.
                self._try(self._look_at_placement)
                self._try(self._look_at_aggregates)
                if self._overdrafts is not None:
                    self._try(self._overdrafts.look)
                due = monotonic() + self._interval
            self._look_at(hosts, aggregates)

    def _try(self, look: Callable[[], None]) -> None:
        try:
            look()
        except Exception as error:
            again = f"it is tried again in {self._interval:.0f} s"
            complain(LOG, f"hosts and aggregates could not be looked at; {again}", error)

    def _look_at_placement(self) -> None:
        names = self._inventories.changed()
        if names:
            try:
                self._on_hosts(names)
            except BaseException:
                self._inventories.forget(names)
                raise

    def _look_at_aggregates(self) -> None:
        aggregates = self._nova.aggregates.list()
        self._tell_edits(self._edits.look(aggregates))
        self._tell_strangers(self._strangers.look(aggregates))

    def _look_at(self, hosts: Collection[str], aggregates: Collection[int]) -> None:
        for number in sorted(aggregates):
            self._try(partial(self._look_at_aggregate, number))
        for host in sorted(hosts):
            self._try(partial(self._look_at_host, host))
            if self._overdrafts is not None:
                self._try(partial(self._overdrafts.look_at, host))

    def _look_at_aggregate(self, number: int) -> None:
        self._tell_edits(self._edits.look_at(number))

    def _look_at_host(self, host: str) -> None:
        self._tell_strangers(self._strangers.look_at(host))

    def _tell_edits(self, changes: Iterable[AggregateChange]) -> None:
        for change in changes:
            self._try(partial(self._on_aggregate, change))

    def _tell_strangers(self, strangers: Iterable[Stranger]) -> None:
        for stranger in strangers:
            if not stranger.is_known:
                LOG.warning(
                    "server %s of project %s is on host %s, which lease %s has for itself",
                    stranger.server_id,
                    stranger.project_id,
                    stranger.host,
                    stranger.lease_id,
                )
            self._try(partial(self._on_stranger, stranger))
