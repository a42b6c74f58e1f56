"""Group ``tenant_notifications``: notifications to projects about their leases."""

from __future__ import annotations

from oslo_config import cfg, types

from lease_scheduler.records.subscriptions import DRIVERS

GROUP = cfg.OptGroup("tenant_notifications", title="Notifications to projects")

OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "enabled_drivers",
        item_type=types.String(choices=list(DRIVERS)),
        default=[],
        help="Drivers by which projects may have notifications about their leases sent. If the list is empty, nobody "
        "can subscribe, and nothing is sent. Engine and API need the same value.",
    ),
    cfg.IntOpt(
        "max_subscriptions", default=20, mutable=True, min=1, help="Maximum number of subscriptions of a project."
    ),
    cfg.IntOpt(
        "max_payload",
        default=65_536,
        mutable=True,
        min=16_384,
        help="Maximum size in bytes of the payload of a notification to a project. Lists, objects and long texts are "
        "left out of a larger one.",
    ),
    cfg.IntOpt(
        "workers",
        default=8,
        min=2,
        max=64,
        help="Number of notifications that are sent to projects at the same time. Receivers whose last attempt failed "
        "take at most half of them, and so does each project.",
    ),
    cfg.IntOpt(
        "retry_interval",
        default=10,
        min=1,
        help="Seconds after which a notification that could not be delivered is sent again. The interval doubles with "
        "each further failure.",
    ),
    cfg.IntOpt("max_retry_interval", default=3_600, min=1, help="Maximum of this interval in seconds."),
    cfg.IntOpt(
        "give_up_after",
        default=86_400,
        min=1,
        help="Age in seconds at which a notification that could not be delivered is given up.",
    ),
    cfg.FloatOpt(
        "webhook_timeout",
        default=5.0,
        min=0.1,
        max=60.0,
        help="Seconds that a webhook may take, from the beginning of the connection to the status of the answer.",
    ),
    cfg.ListOpt(
        "webhook_allowed_urls",
        default=[],
        help="URLs with which the URLs of webhooks must begin, such as https://hooks.example.org or "
        "https://example.org/hooks. Server and port must be the same, and the path the same or below. If the list is "
        "empty, any URL is allowed.",
    ),
    cfg.ListOpt(
        "webhook_allowed_networks",
        default=[],
        help="Networks that webhooks may reach although they are not public, such as 10.1.0.0/16. All other private, "
        "loopback and link-local addresses are refused when something is to be sent, whatever the name of the host.",
    ),
    cfg.BoolOpt(
        "webhook_allow_http",
        default=False,
        help="Whether webhooks may be http:// URLs. Their content can be read on the way. URLs of this machine may "
        "always be.",
    ),
    cfg.StrOpt(
        "webhook_cafile",
        default="",
        help="File of CA certificates to trust. If it is empty, those of the system are trusted.",
    ),
    cfg.HostAddressOpt("mail_host", default="localhost", help="Mail server that takes the mails to projects (SMTP)."),
    cfg.PortOpt("mail_port", default=25, help="Its port."),
    cfg.BoolOpt(
        "mail_starttls",
        default=False,
        help="Whether the connection to the mail server is encrypted (STARTTLS). Its certificate must then be valid.",
    ),
    cfg.StrOpt(
        "mail_cafile",
        default="",
        help="File of CA certificates to trust for this. If it is empty, those of the system are trusted.",
    ),
    cfg.StrOpt(
        "mail_user",
        default="",
        help="User by whose name the service logs in at the mail server; needs mail_starttls. If it is empty, the "
        "service does not log in.",
    ),
    cfg.StrOpt("mail_password", default="", secret=True, help="Password of this user."),
    cfg.StrOpt("mail_sender", default="", help="Address from which mails come, such as leases@example.org."),
    cfg.FloatOpt(
        "mail_timeout", default=10.0, min=0.1, max=60.0, help="Seconds to wait for each answer of the mail server."
    ),
    cfg.ListOpt(
        "mail_allowed_domains",
        default=[],
        help="Domains to whose addresses mails may be sent, such as example.org; subdomains are not included. If the "
        "list is empty, projects may have mails sent to any address, also to those of strangers.",
    ),
    cfg.StrOpt(
        "mail_templates",
        default="",
        help="Folder of templates that replace those that are shipped: files such as lease.create.txt. If it is empty, "
        "those that are shipped are used.",
    ),
]
