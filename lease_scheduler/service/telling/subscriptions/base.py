"""What the drivers that send notifications to projects have in common."""

from __future__ import annotations

from typing import Protocol

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord


class NotDeliveredError(LeaseSchedulerError):
    """A receiver did not take a delivery. The message is shown to the project, so it must not tell of the site."""


class NotificationDriver(Protocol):
    """Sends notifications to the targets of one kind."""

    def send(self, subscription: SubscriptionRecord, delivery: Delivery) -> None:
        """Send a delivery, and return when the receiver has confirmed it.

        :raises NotDeliveredError: it did not; it will be tried again
        """
        ...
