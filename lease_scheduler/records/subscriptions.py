"""Subscriptions of projects to notifications about their leases, and the deliveries that wait to be sent."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.records.messages import Message

#: Driver that sends signed HTTP requests.
WEBHOOK = "webhook"

#: Driver that sends mail.
MAIL = "mail"

#: Names of the notification drivers.
DRIVERS = (WEBHOOK, MAIL)

#: Event type: a lease awaits approval. It is also sent to the approvers.
AWAITING_APPROVAL = "lease.awaiting_approval"

#: Event types to which a project may subscribe. All others name hosts or servers, which are for operators.
EVENT_TYPES = (
    "lease.create",
    "lease.update",
    "lease.delete",
    "lease.transition",
    "lease.event.before_start_lease",
    "lease.event.start_lease",
    "lease.event.before_end_lease",
    "lease.event.before_end_lease.stop",
    "lease.event.end_lease",
    "lease.event.preemption_warning",
    "lease.event.idle",
    "lease.event.trust_missing",
    "lease.degraded",
    "lease.healed",
    "lease.replacement",
    "lease.promise_broken",
    AWAITING_APPROVAL,
    "lease.approved",
    "lease.declined",
)


#: Project id of the subscriptions of approvers. No project in Keystone has this id.
APPROVERS = "approvers"


@dataclass(frozen=True)
class SubscriptionRecord:
    """Subscription of a project to notifications about its leases.

    :ivar project_id: its project; ``APPROVERS`` for the address of an approver, who approves leases of all projects
    :ivar driver: one of ``DRIVERS``
    :ivar target: address that notifications are sent to: the URL of a webhook, or a mail address
    :ivar event_types: event types that are sent; empty for all of ``EVENT_TYPES``
    :ivar lease_id: the only lease that it is about, or None for all leases of the project
    :ivar secret: key of the signatures, or None if the driver signs nothing
    :ivar ended_at: instant at which its lease ended, or None. After it, the subscription is removed when its last
        delivery is over
    """

    subscription_id: str
    project_id: str
    user_id: str
    driver: str
    target: str
    created_at: int
    event_types: tuple[str, ...] = ()
    lease_id: str | None = None
    secret: str | None = None
    updated_at: int | None = None
    ended_at: int | None = None

    def wants(self, message: Message) -> bool:
        """Return whether a message about a lease of its project is sent to it."""
        if self.lease_id is not None and message.payload["lease_id"] != self.lease_id:
            return False
        return message.event_type in (self.event_types or EVENT_TYPES)


@dataclass(frozen=True)
class Delivery:
    """A notification that waits to be sent to one subscription.

    :ivar delivery_id: the same at every attempt, so that receivers recognize repetitions
    :ivar created_at: seconds since the epoch in real time, in which attempts are made
    """

    delivery_id: str
    subscription_id: str
    message: Message
    created_at: int


@dataclass(frozen=True)
class DueSubscription:
    """A subscription whose next delivery is due.

    :ivar failures: number of failed attempts since the last successful delivery
    """

    subscription_id: str
    project_id: str
    failures: int
