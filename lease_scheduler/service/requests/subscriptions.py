"""Operations of projects on their subscriptions."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.records.subscriptions import MAIL, SubscriptionRecord
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.telling.subscriptions.mail import check_address
from lease_scheduler.service.telling.subscriptions.urls import check_url


class SubscriptionKeeper:
    """Operations that create, change and delete subscriptions.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    @answers(EngineRequests.create_subscription)
    def create(self, context: Document, subscription: Document) -> Document:
        """Make a subscription.

        :raises RefusedError: its driver is switched off, its target or lease is not allowed, or there are too many
        """
        site = self._site
        record = SubscriptionRecord(
            subscription_id=subscription["id"],
            project_id=subscription["project_id"],
            user_id=subscription["user_id"],
            driver=subscription["driver"],
            target=subscription["target"],
            event_types=tuple(subscription["event_types"]),
            lease_id=subscription["lease_id"],
            secret=subscription["secret"],
            created_at=0,
        )
        with site.request(context):
            self._check(record)
            most = site.options.subscriptions.most
            if site.subscriptions.count(record.project_id) >= most:
                raise RefusedError(403, f"a project may have at most {most} subscriptions; delete one first")
            document = site.work.documents.get(record.lease_id) if record.lease_id is not None else None
            if record.lease_id is not None and (document is None or document.project_id != record.project_id):
                raise RefusedError(400, f"lease_id: the project has no live lease {record.lease_id}", "lease_id")
            site.subscriptions.put(replace(record, created_at=site.work.now), site.work.changes)
        return {"subscription_id": record.subscription_id}

    @answers(EngineRequests.update_subscription)
    def update(self, context: Document, subscription_id: str, changes: Document) -> Document:
        """Change the target or the event types of a subscription.

        :param changes: ``target``, ``event_types``
        :raises RefusedError: there is no such subscription, or the target is not allowed
        """
        site = self._site
        with site.request(context):
            known = self._known(subscription_id)
            changed = replace(
                known,
                target=changes.get("target", known.target),
                event_types=tuple(changes.get("event_types", known.event_types)),
                updated_at=site.work.now,
            )
            self._check(changed)
            site.subscriptions.put(changed, site.work.changes)
        return {"subscription_id": subscription_id}

    @answers(EngineRequests.delete_subscription)
    def delete(self, context: Document, subscription_id: str) -> Document:
        """Delete a subscription. Deliveries that wait for it are not sent any more."""
        site = self._site
        with site.request(context):
            site.subscriptions.remove(subscription_id, site.work.changes)
        return {}

    def _known(self, subscription_id: str) -> SubscriptionRecord:
        found = self._site.subscriptions.get(subscription_id)
        if found is None:
            raise RefusedError(404, f"there is no subscription {subscription_id}, or its lease has ended")
        return found

    def _check(self, record: SubscriptionRecord) -> None:
        """Refuse a subscription that the operator does not allow.

        :raises RefusedError: its driver is switched off
        :raises InvalidValueError: its target is not allowed
        """
        options = self._site.options.subscriptions
        if record.driver not in options.drivers:
            on = ", ".join(options.drivers) or "none"
            raise RefusedError(400, f"driver: {record.driver} is not switched on; {on} is", "driver")
        if record.driver == MAIL:
            check_address(record.target, options.mail_domains, "target")
        else:
            check_url(record.target, options.urls, "target")
