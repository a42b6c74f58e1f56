"""Options of the calendar page, as values that are sent to browsers."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode, urlsplit

from oslo_config import cfg

from lease_scheduler.api.login import websso
from lease_scheduler.api.login.settings import WebSsoChoice
from lease_scheduler.model.errors import InvalidValueError

#: Name of a protocol, preceded by that of an identity provider if one is given.
_CHOICE = re.compile(r"(?:\w[\w.@-]{0,63}/)?\w[\w.@-]{0,63}", re.ASCII)
_HOST = re.compile(r"[\w.:-]+", re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}


def frame_ancestors(conf: cfg.ConfigOpts) -> tuple[str, ...]:
    """Return the sites that may show the page in a frame.

    :raises InvalidValueError: one of them is not a valid site
    """
    return tuple(_site(each) for each in conf.page.frame_ancestors)


def _site(text: str) -> str:
    plain = text.strip().strip("'").lower()
    if plain == "self":
        return plain
    try:
        if origin_of(plain) == plain:
            return plain
    except ValueError:
        pass
    raise InvalidValueError(
        "page.frame_ancestors",
        f"{text!a} must be self or scheme, name and port of a site, such as https://dashboard.example.org",
    )


def origin_of(url: str) -> str:
    """Return the origin of a URL in the form in which browsers send it.

    :raises ValueError: the URL is not an HTTP or HTTPS URL with a plain host name
    """
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or not _HOST.fullmatch(parts.hostname):
        raise ValueError(url)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port
    return f"{parts.scheme}://{host}" + ("" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}")


def websso_origin(conf: cfg.ConfigOpts) -> str | None:
    """Return the origin of Keystone's pages, or None if the site has no WebSSO.

    :raises InvalidValueError: an option for WebSSO is missing or wrong
    """
    group = conf.page
    if not group.websso:
        return None
    for name in ("websso_url", "public_url"):
        value = group[name]
        if not value:
            raise InvalidValueError(f"page.{name}", "is needed with [page] websso")
        parts = urlsplit(value)
        if parts.query or parts.fragment or "@" in parts.netloc:
            raise InvalidValueError(f"page.{name}", f"{value!a} must be a URL without user, query and fragment")
    for name in group.websso:
        if not _CHOICE.fullmatch(name):
            raise InvalidValueError("page.websso", f"{name!a} must be a protocol, or identity provider/protocol")
    try:
        return origin_of(group.websso_url)
    except ValueError:
        raise InvalidValueError("page.websso_url", f"{group.websso_url!a} has no host name") from None


def websso_choices(conf: cfg.ConfigOpts) -> tuple[WebSsoChoice, ...]:
    """Return the choices of WebSSO for a login. Call ``websso_origin`` first, which checks the options."""
    group = conf.page
    if not group.websso:
        return ()
    query = urlencode({"origin": group.public_url.rstrip("/") + websso.PATH})
    base = f"{versioned(group.websso_url)}/auth/OS-FEDERATION"
    choices = []
    for name, label in group.websso.items():
        provider, _, protocol = name.rpartition("/")
        path = f"identity_providers/{quote(provider)}/protocols/{quote(protocol)}/websso"
        choices.append(WebSsoChoice(label, f"{base}/{path if provider else f'websso/{quote(protocol)}'}?{query}"))
    return tuple(choices)


def versioned(url: str) -> str:
    """Return the URL of version 3 of Keystone's API."""
    plain = url.rstrip("/")
    return plain if plain.endswith("/v3") else f"{plain}/v3"
