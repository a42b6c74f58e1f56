"""Settings of the login, as plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WebSsoChoice:
    """A way of logging in by WebSSO.

    :ivar label: what the page calls it
    :ivar url: address at Keystone where it begins
    """

    label: str
    url: str


@dataclass(frozen=True)
class LoginSettings:
    """Settings of the login.

    :ivar default_domain: name of the domain that the form proposes
    :ivar websso: ways of logging in by WebSSO
    :ivar websso_origin: origin of the pages of Keystone, which alone may post a token; None without WebSSO
    :ivar concurrent: number of logins that are served at the same time; more are answered 503, so that a slow
        identity service does not occupy all threads
    """

    default_domain: str = "Default"
    websso: tuple[WebSsoChoice, ...] = ()
    websso_origin: str | None = None
    concurrent: int = 8
