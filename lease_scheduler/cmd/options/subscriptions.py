"""Options of subscriptions, and the drivers that send their deliveries."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from oslo_config import cfg

from lease_scheduler.cmd.options.approval import approvers
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.records.subscriptions import MAIL, WEBHOOK
from lease_scheduler.service.telling.subscriptions.base import NotificationDriver
from lease_scheduler.service.telling.subscriptions.mail import Mail, MailServer, check_address
from lease_scheduler.service.telling.subscriptions.options import DeliveryOptions, SubscriptionOptions
from lease_scheduler.service.telling.subscriptions.templates import load_templates
from lease_scheduler.service.telling.subscriptions.urls import UrlRules, check_prefixes, parse_networks
from lease_scheduler.service.telling.subscriptions.webhook import Webhooks

_GROUP = "tenant_notifications"


def enabled_drivers(conf: cfg.ConfigOpts) -> tuple[str, ...]:
    """Return the names of the enabled drivers."""
    return tuple(dict.fromkeys(conf[_GROUP].enabled_drivers))


def subscription_options(conf: cfg.ConfigOpts) -> SubscriptionOptions:
    """Return the options of subscriptions.

    :raises InvalidValueError: an option is wrong
    """
    group = conf[_GROUP]
    return SubscriptionOptions(
        drivers=enabled_drivers(conf),
        most=group.max_subscriptions,
        largest=group.max_payload,
        urls=_url_rules(conf),
        mail_domains=tuple(group.mail_allowed_domains),
        approvers=approvers(conf),
    )


def delivery_options(conf: cfg.ConfigOpts) -> DeliveryOptions:
    """Return the options of deliveries."""
    group = conf[_GROUP]
    return DeliveryOptions(group.workers, group.retry_interval, group.max_retry_interval, group.give_up_after)


def notification_drivers(conf: cfg.ConfigOpts) -> dict[str, NotificationDriver]:
    """Return the enabled drivers, by name.

    :raises InvalidValueError: an option of one of them is wrong
    """
    made = {WEBHOOK: _webhooks, MAIL: _mail}
    return {name: made[name](conf) for name in enabled_drivers(conf)}


def _webhooks(conf: cfg.ConfigOpts) -> NotificationDriver:
    with _authorities(conf, "webhook_cafile") as authorities:
        return Webhooks(_url_rules(conf), conf[_GROUP].webhook_timeout, authorities)


def _mail(conf: cfg.ConfigOpts) -> NotificationDriver:
    group = conf[_GROUP]
    if not group.mail_sender:
        raise InvalidValueError(f"{_GROUP}.mail_sender", "is needed to send mails, such as leases@example.org")
    check_address(group.mail_sender, (), f"{_GROUP}.mail_sender")
    if group.mail_user and not group.mail_starttls:
        raise InvalidValueError(f"{_GROUP}.mail_user", "needs mail_starttls, or the password could be read on the way")
    templates = load_templates(group.mail_templates, f"{_GROUP}.mail_templates")
    with _authorities(conf, "mail_cafile") as authorities:
        server = MailServer(
            host=group.mail_host,
            port=group.mail_port,
            starttls=group.mail_starttls,
            user=group.mail_user,
            password=group.mail_password,
            timeout=group.mail_timeout,
            authorities=authorities,
        )
        return Mail(server, group.mail_sender, templates, group.mail_allowed_domains)


@contextmanager
def _authorities(conf: cfg.ConfigOpts, option: str) -> Iterator[str]:
    """Yield the path of the file of CA certificates that an option names, to be read within the block.

    :raises InvalidValueError: there is no such file, or it contains no certificates
    """
    path: str = conf[_GROUP][option]
    if path and not Path(path).is_file():
        raise InvalidValueError(f"{_GROUP}.{option}", f"there is no file {path}")
    try:
        yield path
    except ssl.SSLError as error:
        raise InvalidValueError(f"{_GROUP}.{option}", f"{path} has no certificates") from error


def _url_rules(conf: cfg.ConfigOpts) -> UrlRules:
    group = conf[_GROUP]
    return UrlRules(
        check_prefixes(group.webhook_allowed_urls, f"{_GROUP}.webhook_allowed_urls"),
        parse_networks(group.webhook_allowed_networks, f"{_GROUP}.webhook_allowed_networks"),
        group.webhook_allow_http,
    )
