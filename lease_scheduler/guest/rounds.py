"""One round of a guest: look at demand and holdings, decide, ask, join, leave (algorithm A2 of the sources)."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lease_scheduler.guest.controllers.base import Controller
from lease_scheduler.guest.errors import GuestError, RefusedError, UnavailableError
from lease_scheduler.guest.holdings import holdings_of, offers_of, waiting_jobs
from lease_scheduler.guest.interfaces import Queue, QueueView, Site
from lease_scheduler.guest.members import Membership
from lease_scheduler.guest.nodes import Lease, LeaseState, Margins, Node, NodeState, Power, pairs
from lease_scheduler.guest.records import LeaseRecord, Records, Stage
from lease_scheduler.guest.values import Action, Ask, End, Extend

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Terms:
    """What the guest asks for in all of its leases.

    :ivar attributes: attributes of leases besides duration and nodes, such as ``name`` and ``kind``
    :ivar node: one node set without its ``count``
    """

    attributes: Mapping[str, Any]
    node: Mapping[str, Any]

    def of(self, ask: Ask) -> dict[str, Any]:
        """Return the body of a request."""
        return {**self.attributes, "duration": ask.seconds, "nodes": [{**self.node, "count": ask.units}]}


@dataclass(frozen=True)
class Pauses:
    """Times in seconds.

    :ivar refused: after a refusal, the site is not asked for new leases
    """

    refused: int


class Rounds:
    """The guest. ``round`` is called again and again by one thread.

    :param membership: lets nodes join and leave
    :param clock: returns the present instant
    """

    def __init__(
        self,
        records: Records,
        queue: Queue,
        site: Site,
        controller: Controller,
        membership: Membership,
        terms: Terms,
        pauses: Pauses,
        clock: Callable[[], int],
    ) -> None:
        self._records = records
        self._queue = queue
        self._site = site
        self._controller = controller
        self._membership = membership
        self._terms = terms
        self._pauses = pauses
        self._clock = clock
        self._asks_again = 0

    @property
    def _margins(self) -> Margins:
        return self._membership.margins

    def round(self) -> None:
        """Do what is due now. What the site or the queue cannot do at present is left to a later round."""
        now = self._clock()
        self._records.take_told(now)
        self._membership.collect(now)
        try:
            leases = self._look_at_leases()
        except GuestError as error:
            LOG.warning("The site does not tell of leases; nodes stay as they are: %s", error)
            return
        try:
            view = self._queue.look()
        except GuestError as error:
            LOG.warning("The queue does not answer; nodes and leases stay as they are: %s", error)
            return
        self._membership.advance(leases, view, now)
        self._pair(leases, view, now)
        self._carry_out(self._decide(leases, view, now), now)
        self._membership.start(leases, view, now)

    # -- leases that were begun ----------------------------------------------------------------------------------

    def _look_at_leases(self) -> dict[str, Lease]:
        """Finish what was begun, and return the leases that have not ended.

        :raises UnavailableError: the site does not answer
        """
        for record in self._records.leases():
            self._finish(record)
        records = self._records.leases()
        found = self._site.leases([each.id for each in records])
        in_use = {node.lease_id for node in self._records.nodes()}
        over, lost = [], []
        for record in records:
            lease = found.get(record.id)
            if lease is None or lease.state is LeaseState.OVER:
                over.append(record.id)
            elif lease.state is LeaseState.LOST and record.stage is not Stage.ENDING:
                LOG.info("lease %s was preempted", record.id)
                lost.append(record.id)
        self._records.set_stage(lost, Stage.ENDING)
        for each in over:
            found.pop(each, None)
            # Nodes of a lease that is over have to leave before it is forgotten; they are released without it.
            if each not in in_use:
                self._records.forget_lease(each)
        return found

    def _finish(self, record: LeaseRecord) -> None:
        """Repeat the call that is under way for a lease."""
        if record.stage is Stage.ASKING:
            self._ask(record)
        elif record.stage is Stage.ENDING:
            self._end(record.id)
        elif record.extension is not None:
            self._extend(record.id, record.extension)

    def _ask(self, record: LeaseRecord) -> None:
        try:
            self._site.ask(record.id, record.terms)
        except RefusedError as error:
            LOG.info("no lease of %d nodes for %d s: %s", record.units, record.term, error)
            self._asks_again = self._clock() + self._pauses.refused
            self._records.forget_lease(record.id)
            return
        self._records.set_stage([record.id], Stage.ASKED)
        LOG.info("asked for lease %s: %d nodes for %d s", record.id, record.units, record.term)

    def _extend(self, lease_id: str, seconds: int) -> None:
        try:
            self._site.extend(lease_id, seconds)
            LOG.info("lease %s is extended to %d s", lease_id, seconds)
        except RefusedError as error:
            LOG.info("lease %s is not extended: %s", lease_id, error)
        self._records.set_extension(lease_id, None)

    def _end(self, lease_id: str) -> None:
        try:
            self._site.end(lease_id)
        except RefusedError as error:
            # It is between two states; the next round looks again.
            LOG.info("lease %s cannot be ended yet: %s", lease_id, error)

    # -- demand --------------------------------------------------------------------------------------------------

    def _pair(self, leases: Mapping[str, Lease], view: QueueView, now: int) -> None:
        """Give nodes of leases that have started to nodes that the queue waits for."""
        nodes = self._records.nodes()
        offers = offers_of(self._records.leases(), leases, nodes, now, self._margins)
        wanted = [each.name for each in nodes if each.state is NodeState.WANTED]
        paired = pairs(wanted, offers, view.job_nodes)
        self._records.put_nodes(Node(name, NodeState.JOINING, now, lease_id) for name, lease_id in paired)
        if self._controller.leads:
            self._offer(sum(offer.free for offer in offers) - len(paired), view)

    def _offer(self, spare: int, view: QueueView) -> None:
        """Have the queue want nodes for which there are leases; it then says so by its resume hook."""
        taken = {each.name for each in self._records.nodes()}
        names = [
            each.name
            for each in view.nodes.values()
            if each.power is Power.DOWN and not each.has_failed and each.name not in taken
        ]
        if spare > 0 and names:
            self._membership.try_queue(lambda: self._queue.power_up(names[:spare]))

    def _decide(self, leases: Mapping[str, Lease], view: QueueView, now: int) -> list[Action]:
        nodes = self._records.nodes()
        holdings = holdings_of(self._records.leases(), leases, nodes, view, now, self._margins)
        return self._controller.decide(waiting_jobs(nodes, view, now), holdings, now)

    def _carry_out(self, actions: Sequence[Action], now: int) -> None:
        """Write all actions, and then make their calls."""
        asks = [each for each in actions if isinstance(each, Ask) and now >= self._asks_again]
        new = [
            LeaseRecord(str(uuid.uuid4()), each.units, each.seconds, each.job, Stage.ASKING, self._terms.of(each))
            for each in asks
        ]
        self._records.add_leases(new)
        unused = [each.lease_id for each in actions if isinstance(each, End)]
        self._records.set_stage(unused, Stage.ENDING)
        for lease_id in unused:
            LOG.info("lease %s is not used any more; it is ended", lease_id)
        for each in actions:
            if isinstance(each, Extend):
                self._records.set_extension(each.lease_id, each.seconds)
        changed = {each.lease_id for each in actions if isinstance(each, End | Extend)} | {each.id for each in new}
        try:
            for record in self._records.leases():
                if record.id in changed:
                    self._finish(record)
        except UnavailableError as error:
            LOG.warning("The site does not answer; the next round repeats it: %s", error)
