"""The interface of the drivers that send notifications to projects."""

from __future__ import annotations

from typing import Protocol

from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord


class NotDeliveredError(LeaseSchedulerError):
    """A receiver did not take a delivery. The project sees the message, so it must reveal nothing of the site."""


class NotificationDriver(Protocol):
    """A way to send notifications, such as by mail."""

    def send(self, subscription: SubscriptionRecord, delivery: Delivery) -> None:
        """Send a delivery, and return when the receiver has confirmed it.

        :raises NotDeliveredError: it did not; it will be tried again
        """
        ...
