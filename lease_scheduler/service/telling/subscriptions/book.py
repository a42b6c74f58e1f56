"""The subscriptions of a site in memory, and the deliveries that follow from its notifications."""

from __future__ import annotations

import json
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import (
    APPROVERS,
    AWAITING_APPROVAL,
    EVENT_TYPES,
    MAIL,
    Delivery,
    SubscriptionRecord,
)
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.telling.subscriptions.options import SubscriptionOptions

#: Maximum number of characters of the texts that are kept in a payload which is too large.
_LONGEST_TEXT = 255

#: Namespace of the ids of subscriptions of approvers, which are computed from their addresses.
_OF_APPROVERS = uuid.UUID("5d0b6f39-3c8e-4a53-8a0e-f4f1c6a7d2e8")


class SubscriptionBook:
    """The subscriptions of a site, except those whose lease has ended.

    :param records: those in the store
    :param wall: returns the real seconds since the epoch
    """

    def __init__(self, records: Iterable[SubscriptionRecord] = (), wall: Callable[[], float] = time.time) -> None:
        self._wall = wall
        self._by_project: defaultdict[str, dict[str, SubscriptionRecord]] = defaultdict(dict)
        self._projects: dict[str, str] = {}
        for record in records:
            self._keep(record)

    def get(self, subscription_id: str) -> SubscriptionRecord | None:
        """Return the subscription with this id, or None."""
        project_id = self._projects.get(subscription_id)
        return None if project_id is None else self._by_project[project_id][subscription_id]

    def count(self, project_id: str) -> int:
        """Return the number of subscriptions of a project."""
        return len(self._by_project.get(project_id, ()))

    def put(self, record: SubscriptionRecord, changes: StoreChanges) -> None:
        """Store a new value of a subscription; one that has ended is removed from memory."""
        changes.subscriptions[record.subscription_id] = record
        self._forget(record.subscription_id)
        if record.ended_at is None:
            self._keep(record)

    def remove(self, subscription_id: str, changes: StoreChanges) -> None:
        """Delete a subscription, with its deliveries."""
        changes.subscriptions[subscription_id] = None
        self._forget(subscription_id)

    def tell(self, changes: StoreChanges, options: SubscriptionOptions) -> None:
        """Add the deliveries of the messages in the changes, and end the subscriptions to leases that end in them."""
        if not options.drivers or not (self._projects or options.approvers):
            return
        now = int(self._wall())
        for message in changes.messages:
            if message.event_type not in EVENT_TYPES:
                continue
            subscribed = list(self._by_project.get(message.payload["project_id"], {}).values())
            if message.event_type == AWAITING_APPROVAL:
                subscribed += self._of_approvers(options.approvers, changes)
            wanting = [record for record in subscribed if record.driver in options.drivers and record.wants(message)]
            if wanting:
                sent = shortened(message, options.largest)
                changes.deliveries += [
                    Delivery(str(uuid.uuid4()), record.subscription_id, sent, now) for record in wanting
                ]
        ended = {lease_id for lease_id, lease in changes.leases.items() if lease.is_final}
        if ended:
            for record in [each for held in self._by_project.values() for each in held.values()]:
                if record.lease_id in ended:
                    self.put(replace(record, ended_at=changes.instant), changes)

    def _of_approvers(self, addresses: Iterable[str], changes: StoreChanges) -> list[SubscriptionRecord]:
        """Return the subscriptions of the configured approvers, and remove those of former ones.

        They are made only when a lease awaits approval, so that they follow the configuration of that time.
        """
        wanted = {str(uuid.uuid5(_OF_APPROVERS, address)): address for address in addresses}
        for former in self._by_project.get(APPROVERS, {}).keys() - wanted.keys():
            self.remove(former, changes)
        for subscription_id, address in wanted.items():
            if subscription_id not in self._projects:
                made = SubscriptionRecord(
                    subscription_id, APPROVERS, "", MAIL, address, changes.instant, (AWAITING_APPROVAL,)
                )
                self.put(made, changes)
        return [self._by_project[APPROVERS][subscription_id] for subscription_id in wanted]

    def _keep(self, record: SubscriptionRecord) -> None:
        self._by_project[record.project_id][record.subscription_id] = record
        self._projects[record.subscription_id] = record.project_id

    def _forget(self, subscription_id: str) -> None:
        project_id = self._projects.pop(subscription_id, None)
        if project_id is not None:
            del self._by_project[project_id][subscription_id]


def shortened(message: Message, largest: int) -> Message:
    """Return a message with a payload of limited size.

    If the payload is too large, lists, objects and long texts are left out, and ``omitted`` names them.

    :param largest: maximum size in bytes, as JSON
    """
    if len(json.dumps(dict(message.payload)).encode()) <= largest:
        return message
    kept = {
        key: value
        for key, value in message.payload.items()
        if not isinstance(value, dict | list | tuple) and not (isinstance(value, str) and len(value) > _LONGEST_TEXT)
    }
    return replace(message, payload={**kept, "omitted": sorted(message.payload.keys() - kept.keys())})
