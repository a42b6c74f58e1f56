"""Rules for the URLs and addresses of webhooks, so that no project reaches the operator's network through them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, unquote, urlsplit

from lease_scheduler.model.errors import InvalidValueError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_PORTS = {"https": 443, "http": 80}

#: IPv6 addresses whose last 32 bits are an IPv4 address for a translator (RFC 6052).
_TRANSLATED = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True)
class UrlRules:
    """Rules that an operator sets for webhooks.

    :ivar prefixes: URLs with which the URL of a webhook must begin; empty for any
    :ivar networks: networks that webhooks may reach although they are not public
    :ivar allows_http: whether requests may be sent unencrypted to other machines
    """

    prefixes: tuple[str, ...] = ()
    networks: tuple[Network, ...] = ()
    allows_http: bool = False


def check_url(url: str, rules: UrlRules, field: str) -> None:
    """Refuse a URL that the rules do not allow. Its addresses are checked at every delivery.

    :param field: name of the URL, for the error
    :raises InvalidValueError: says what is wrong, and what would be right
    """
    parts = _parsed(url, field)
    if parts.scheme == "http" and not (rules.allows_http or _is_loopback(parts.hostname or "")):
        raise InvalidValueError(field, "must begin with https://, as others could read what is sent")
    if rules.prefixes and not any(_begins_with(parts, _parsed(prefix, field)) for prefix in rules.prefixes):
        raise InvalidValueError(field, f"must begin with one of: {', '.join(rules.prefixes)}")


def check_prefixes(prefixes: Iterable[str], field: str) -> tuple[str, ...]:
    """Return the prefixes that an operator has configured.

    :raises InvalidValueError: one of them is no URL
    """
    found = tuple(prefixes)
    for prefix in found:
        _parsed(prefix, field)
    return found


def parse_networks(texts: Iterable[str], field: str) -> tuple[Network, ...]:
    """Return networks such as ``10.1.0.0/16``.

    :raises InvalidValueError: one of them is no network
    """
    try:
        return tuple(ip_network(text) for text in texts)
    except ValueError as error:
        raise InvalidValueError(field, f"{error}; right is 10.1.0.0/16") from error


def may_be_reached(address: str, networks: Sequence[Network]) -> bool:
    """Return whether requests may be sent to an address: it is public, or in one of the networks."""
    found = _inner(ip_address(address))
    if any(found in network for network in networks):
        return True
    return found.is_global and not found.is_multicast and not found.is_reserved


def port_of(parts: SplitResult) -> int:
    """Return the port of a URL."""
    return parts.port or _PORTS[parts.scheme]


def _inner(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address leads to, or the address itself."""
    if isinstance(address, IPv6Address):
        if address in _TRANSLATED:
            return IPv4Address(int(address) & 0xFFFF_FFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _parsed(url: str, field: str) -> SplitResult:
    if not url.isascii() or any(character <= " " or character in '\x7f"<>\\^`{|}' for character in url):
        raise InvalidValueError(field, "must be a URL of visible ASCII characters; encode others")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InvalidValueError(field, f"is not a URL: {error}") from error
    if parts.scheme not in _PORTS or not parts.hostname or port == 0:
        raise InvalidValueError(field, "must be a URL like https://host/path")
    if "@" in parts.netloc or parts.fragment:
        raise InvalidValueError(field, "must have no user, no password and no fragment")
    if {".", ".."} & set(unquote(parts.path).split("/")):
        raise InvalidValueError(field, "must have no . and no .. in its path")
    return parts


def _begins_with(parts: SplitResult, prefix: SplitResult) -> bool:
    """Return whether a URL has the same scheme, host and port as a prefix, and its path is at or below that path."""
    if (parts.scheme, parts.hostname, port_of(parts)) != (prefix.scheme, prefix.hostname, port_of(prefix)):
        return False
    path = prefix.path.rstrip("/")
    return parts.path == path or parts.path.startswith(f"{path}/") or (not path and not parts.path)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
