"""The options of subscriptions, and the drivers that send to them."""

from __future__ import annotations

import ssl
from pathlib import Path

from oslo_config import cfg

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.records.subscriptions import WEBHOOK
from lease_scheduler.service.subscriptions.base import NotificationDriver
from lease_scheduler.service.subscriptions.options import DeliveryOptions, SubscriptionOptions
from lease_scheduler.service.subscriptions.urls import UrlRules, check_prefixes, parse_networks
from lease_scheduler.service.subscriptions.webhook import Webhooks

_GROUP = "tenant_notifications"


def enabled_drivers(conf: cfg.ConfigOpts) -> tuple[str, ...]:
    """Return the names of the drivers that are switched on."""
    return tuple(dict.fromkeys(conf[_GROUP].enabled_drivers))


def subscription_options(conf: cfg.ConfigOpts) -> SubscriptionOptions:
    """Return what projects may subscribe to.

    :raises InvalidValueError: an option is wrong
    """
    group = conf[_GROUP]
    return SubscriptionOptions(enabled_drivers(conf), group.max_subscriptions, group.max_payload, _url_rules(conf))


def delivery_options(conf: cfg.ConfigOpts) -> DeliveryOptions:
    """Return how deliveries are sent."""
    group = conf[_GROUP]
    return DeliveryOptions(group.workers, group.retry_interval, group.max_retry_interval, group.give_up_after)


def notification_drivers(conf: cfg.ConfigOpts) -> dict[str, NotificationDriver]:
    """Return the drivers that are switched on, by name.

    :raises InvalidValueError: an option of one of them is wrong
    """
    made = {WEBHOOK: _webhooks}
    return {name: made[name](conf) for name in enabled_drivers(conf)}


def _webhooks(conf: cfg.ConfigOpts) -> NotificationDriver:
    authorities = conf[_GROUP].webhook_cafile
    if authorities and not Path(authorities).is_file():
        raise InvalidValueError(f"{_GROUP}.webhook_cafile", f"there is no file {authorities}")
    try:
        return Webhooks(_url_rules(conf), conf[_GROUP].webhook_timeout, authorities)
    except ssl.SSLError as error:
        raise InvalidValueError(f"{_GROUP}.webhook_cafile", f"{authorities} has no certificates") from error


def _url_rules(conf: cfg.ConfigOpts) -> UrlRules:
    group = conf[_GROUP]
    return UrlRules(
        check_prefixes(group.webhook_allowed_urls, f"{_GROUP}.webhook_allowed_urls"),
        parse_networks(group.webhook_allowed_networks, f"{_GROUP}.webhook_allowed_networks"),
        group.webhook_allow_http,
    )
