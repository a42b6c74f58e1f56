"""Subscriptions: where projects want notifications about their leases sent."""

from __future__ import annotations

import uuid

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.errors import ApiError, not_found
from lease_scheduler.api.handlers.listing import wanted_projects
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document
from lease_scheduler.records.subscriptions import WEBHOOK
from lease_scheduler.service.telling.subscriptions.signature import new_secret


def list_subscriptions(request: ApiRequest) -> Answer:
    """List the subscriptions of the caller's project; administrators may list those of others."""
    _check_enabled(request)
    project_id = wanted_projects(request, "subscriptions:all_projects")
    return Answer({"subscriptions": [_shown(each) for each in request.reader.subscriptions(project_id)]})


def create_subscription(request: ApiRequest) -> Answer:
    """Subscribe to notifications. The secret is in this answer only."""
    _check_enabled(request)
    body = request.body
    subscription = {
        "id": str(uuid.uuid4()),
        "project_id": request.caller.project_id,
        "user_id": request.caller.user_id,
        "driver": body["driver"],
        "target": body["target"],
        "event_types": body.get("event_types", []),
        "lease_id": body.get("lease_id"),
        "secret": new_secret() if body["driver"] == WEBHOOK else None,
    }
    request.engine.create_subscription(request.context(), subscription)
    return Answer({"subscription": {**_shown_again(request, subscription["id"]), "secret": subscription["secret"]}})


def show(request: ApiRequest) -> Answer:
    """Show one subscription, and what became of the latest deliveries."""
    _check_enabled(request)
    return Answer({"subscription": _shown(request.named)})


def update_subscription(request: ApiRequest) -> Answer:
    """Change where or what is sent."""
    _check_enabled(request)
    subscription_id: str = request.named["id"]
    request.engine.update_subscription(request.context(), subscription_id, dict(request.body))
    return Answer({"subscription": _shown_again(request, subscription_id)})


def delete_subscription(request: ApiRequest) -> Answer:
    """Delete a subscription, and what waits to be sent to it."""
    _check_enabled(request)
    request.engine.delete_subscription(request.context(), request.named["id"])
    return Answer()


def _check_enabled(request: ApiRequest) -> None:
    """Refuse requests at a site whose operator sends no notifications to projects.

    :raises ApiError: 403
    """
    if not request.services.settings.notification_drivers:
        raise ApiError(
            403,
            "The operator of this site has not switched on notifications to projects ([tenant_notifications] "
            "enabled_drivers)",
        )


def _shown_again(request: ApiRequest, subscription_id: str) -> Document:
    found = request.reader.subscription(subscription_id)
    if found is None:
        raise not_found(subscription_id=subscription_id)
    return _shown(found)


def _shown(subscription: Document) -> Document:
    return {
        **{key: subscription[key] for key in ("id", "project_id", "user_id", "driver", "target", "lease_id")},
        "event_types": list(subscription["event_types"]),
        **{key: iso_date(subscription[key]) for key in ("created_at", "updated_at", "next_attempt_at", "delivered_at")},
        "waiting": subscription["waiting"],
        "failed_attempts": subscription["failures"],
        "last_error": subscription["last_error"],
    }
