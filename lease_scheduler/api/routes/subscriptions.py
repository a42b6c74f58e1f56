"""Subscriptions to notifications."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import subscriptions
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import subscriptions as subscription_schemas

ROUTES = (
    Route(
        "GET",
        "/v1/subscriptions",
        subscriptions.list_subscriptions,
        "subscriptions:get",
        200,
        "List subscriptions to notifications",
        since=mv.V1_20,
        query=subscription_schemas.LIST_QUERY,
        answer=subscription_schemas.several,
    ),
    Route(
        "POST",
        "/v1/subscriptions",
        subscriptions.create_subscription,
        "subscriptions:post",
        201,
        "Subscribe to notifications about leases",
        since=mv.V1_20,
        body=subscription_schemas.create,
        answer=subscription_schemas.created,
        changes=True,
    ),
    Route(
        "GET",
        "/v1/subscriptions/{subscription_id}",
        subscriptions.show,
        "subscriptions:get",
        200,
        "Show a subscription",
        since=mv.V1_20,
        subject="subscription",
        answer=subscription_schemas.one,
    ),
    Route(
        "PUT",
        "/v1/subscriptions/{subscription_id}",
        subscriptions.update_subscription,
        "subscriptions:put",
        200,
        "Change a subscription",
        since=mv.V1_20,
        subject="subscription",
        body=subscription_schemas.update,
        answer=subscription_schemas.one,
        changes=True,
    ),
    Route(
        "DELETE",
        "/v1/subscriptions/{subscription_id}",
        subscriptions.delete_subscription,
        "subscriptions:delete",
        204,
        "Delete a subscription",
        since=mv.V1_20,
        subject="subscription",
        changes=True,
    ),
)
