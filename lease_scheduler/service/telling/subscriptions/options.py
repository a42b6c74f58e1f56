"""The options of subscriptions and deliveries, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from lease_scheduler.service.telling.subscriptions.urls import UrlRules


@dataclass(frozen=True)
class SubscriptionOptions:
    """Options of subscriptions: what projects may subscribe to.

    :ivar drivers: names of the drivers that are switched on; empty if there are no subscriptions
    :ivar most: maximum number of subscriptions of a project
    :ivar largest: maximum size of a payload in bytes, as JSON
    :ivar urls: rules for the URLs of webhooks
    :ivar approvers: mail addresses that are told of leases which await approval
    :ivar mail_domains: domains to which mails may be sent; empty for all
    """

    drivers: tuple[str, ...] = ()
    most: int = 20
    largest: int = 65_536
    urls: UrlRules = field(default_factory=UrlRules)
    mail_domains: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeliveryOptions:
    """Options of deliveries. All times are real seconds.

    :ivar workers: maximum number of deliveries that are sent at the same time
    :ivar first_pause: time between a failed attempt and the next one; doubles with every further failure
    :ivar longest_pause: maximum of that time
    :ivar give_up_after: age at which a delivery is given up
    """

    workers: int = 8
    first_pause: int = 10
    longest_pause: int = 3_600
    give_up_after: int = 86_400

    def pause(self, failures: int) -> int:
        """Return the time to wait after a number of failures in a row, at least 1."""
        # The bound of the exponent only keeps the number small.
        return min(self.longest_pause, self.first_pause << min(failures - 1, 30))
