"""Group ``page``: the calendar page and its login."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("page", title="The calendar page")

_URL_SCHEMES = ["http", "https"]

OPTIONS: list[cfg.Opt] = [
    cfg.BoolOpt(
        "login",
        default=True,
        help="Whether the page offers to log in, with [api] auth_strategy = keystone. Otherwise people paste a token "
        "that they got elsewhere.",
    ),
    cfg.URIOpt(
        "auth_url",
        schemes=_URL_SCHEMES,
        help="URL of Keystone for logging in, as the API reaches it. By default that of [keystone_authtoken].",
    ),
    cfg.StrOpt(
        "cafile",
        help="File with the certificates of authorities for HTTPS connections to Keystone. By default that of "
        "[keystone_authtoken].",
    ),
    cfg.BoolOpt(
        "insecure",
        help="Whether HTTPS connections to Keystone are not verified. By default as in [keystone_authtoken].",
    ),
    cfg.IntOpt(
        "timeout",
        default=10,
        min=1,
        max=300,
        help="Seconds that Keystone has for each request of a login. A login needs up to five.",
    ),
    cfg.StrOpt(
        "default_domain",
        default="Default",
        help="Name of the domain that the login form proposes.",
    ),
    cfg.DictOpt(
        "websso",
        default={},
        help="Protocols of WebSSO, and what their choices are called, for example openid:OpenID Connect. For one "
        "identity provider of Keystone, put its name before the protocol: example/openid:Example. Needs websso_url "
        "and public_url.",
    ),
    cfg.URIOpt(
        "websso_url",
        schemes=_URL_SCHEMES,
        help="Public URL of Keystone, as browsers reach it, for example https://cloud.example.org/identity/v3.",
    ),
    cfg.URIOpt(
        "public_url",
        schemes=_URL_SCHEMES,
        help="URL of the page, as browsers reach it. Keystone sends people who have logged in by WebSSO to this URL "
        "followed by /login/websso, which [federation] trusted_dashboard in keystone.conf must list.",
    ),
    cfg.ListOpt(
        "frame_ancestors",
        default=[],
        help="Sites that may show the page in a frame, such as https://dashboard.example.org, or self for the site "
        "of the page. The page accepts a session from such a site while it shows the page, so list only sites that "
        "you trust with logins, such as Horizon with the panel of this project. By default no site may.",
    ),
]
