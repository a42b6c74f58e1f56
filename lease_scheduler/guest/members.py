"""Lets nodes join and leave the queue, one step after the other; each step is recorded before it is done."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from lease_scheduler.guest.errors import GuestError, RefusedError, UnavailableError
from lease_scheduler.guest.interfaces import Handlers, Queue, QueueView, Site
from lease_scheduler.guest.nodes import Lease, Margins, Node, NodeState, Power, Step, due
from lease_scheduler.guest.pool import Done, HandlerPool
from lease_scheduler.guest.records import Records

LOG = logging.getLogger(__name__)


class Membership:
    """The nodes of the queue that have leases.

    :param pool: runs the handlers
    """

    def __init__(
        self, records: Records, queue: Queue, site: Site, handlers: Handlers, pool: HandlerPool, margins: Margins
    ) -> None:
        self._records = records
        self._queue = queue
        self._site = site
        self._handlers = handlers
        self._pool = pool
        self.margins = margins

    def collect(self, now: int) -> None:
        """Take over what handlers have done since the last round."""
        nodes = {each.name: each for each in self._records.nodes()}
        for done in self._pool.collect():
            node = nodes.get(done.node)
            if done.error is not None:
                LOG.warning("node %s: %s", done.node, done.error)
            elif node is not None and done.step == Step.JOIN.value and node.state is NodeState.JOINING:
                self._joined(node, done, now)
            elif node is not None and done.step == Step.LEAVE.value and node.state is NodeState.LEAVING:
                LOG.info("node %s has left lease %s", node.name, node.lease_id)
                if node.is_wanted_again:
                    self._records.put_nodes([Node(node.name, NodeState.WANTED, now)])
                else:
                    self._records.forget_nodes([node.name])

    def _joined(self, node: Node, done: Done, now: int) -> None:
        address = done.address
        if address is not None and not self.try_queue(lambda: self._queue.locate(node.name, address)):
            return
        self._records.put_nodes([replace(node, state=NodeState.JOINED, since=now)])
        self._records.add_setup(node.name, str(node.lease_id), now, now - node.since)
        LOG.info("node %s has joined with lease %s after %d s", node.name, node.lease_id, now - node.since)

    def advance(self, leases: Mapping[str, Lease], view: QueueView, now: int) -> None:
        """Do what is due for each node, but for handlers."""
        forgotten, released = [], []
        for node in self._records.nodes():
            seen = view.nodes.get(node.name)
            match self._due(node, leases, view, now):
                case Step.FORGET:
                    forgotten.append(node.name)
                case Step.RELEASE:
                    LOG.info("node %s leaves lease %s", node.name, node.lease_id)
                    released.append(replace(node, state=NodeState.LEAVING, since=now))
                case Step.DRAIN:
                    self.try_queue(partial(self._queue.drain, [node.name]))
                case Step.POWER_DOWN if seen is not None:
                    if not seen.is_draining:
                        self.try_queue(partial(self._queue.drain, [node.name]))
                    if seen.jobs:
                        self.try_queue(partial(self._queue.requeue, seen.jobs))
                case Step.POWER_DOWN_NOW if seen is not None:
                    if seen.jobs:
                        self.try_queue(partial(self._queue.requeue, seen.jobs))
                    self.try_queue(partial(self._queue.power_down_now, [node.name]))
        self._records.forget_nodes(forgotten)
        self._records.put_nodes(released)
        self._repair(view)

    def _repair(self, view: QueueView) -> None:
        """Let the queue use nodes again that did not come in time: powering them down takes the failure away.

        Nodes that an administrator has taken out of service stay so.
        """
        known = {each.name for each in self._records.nodes()}
        late = [
            each.name
            for each in view.nodes.values()
            if each.is_late and each.power is Power.DOWN and each.name not in known
        ]
        if late:
            self.try_queue(lambda: self._queue.power_down_now(late))

    def start(self, leases: Mapping[str, Lease], view: QueueView, now: int) -> None:
        """Start the handlers that are due."""
        for node in self._records.nodes():
            step = self._due(node, leases, view, now)
            if step in (Step.JOIN, Step.LEAVE):
                self._pool.start(node.name, step.value, self._handler(step, node))

    def _due(self, node: Node, leases: Mapping[str, Lease], view: QueueView, now: int) -> Step | None:
        lease = leases.get(node.lease_id) if node.lease_id is not None else None
        return due(node, view.nodes.get(node.name), lease, now, self.margins)

    def _handler(self, step: Step, node: Node) -> Callable[[], str | None]:
        def join() -> str | None:
            return self._handlers.join(node.name, self._site.describe(str(node.lease_id)))

        def leave() -> None:
            self._handlers.leave(node.name, self._last_known(str(node.lease_id)))

        return join if step is Step.JOIN else leave

    def _last_known(self, lease_id: str) -> dict[str, Any]:
        """Return the attributes of a lease, or only its id if the site does not tell them."""
        try:
            return self._site.describe(lease_id)
        except (RefusedError, UnavailableError):
            return {"id": lease_id}

    @staticmethod
    def try_queue(call: Callable[[], None]) -> bool:
        """Make a call to the queue and return whether it succeeded; the next round repeats it otherwise."""
        try:
            call()
        except GuestError as error:
            LOG.warning("the queue: %s", error)
            return False
        return True
