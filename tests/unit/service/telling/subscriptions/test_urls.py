from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.telling.subscriptions.urls import UrlRules, check_url, may_be_reached, parse_networks


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.org",
        "https://hooks.example.org:8443/leases?project=a&x=%20",
        "https://[2001:db8::1]/",
        "http://127.0.0.1:9000/",
        "http://localhost/",
        "http://[::1]:9000/",
    ],
)
def test_what_a_webhook_may_be(url: str) -> None:
    check_url(url, UrlRules(), "target")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://hooks.example.org/", "must begin with https://"),
        ("http://127.0.0.1.example.org/", "must begin with https://"),
        ("ftp://hooks.example.org/", "must be a URL like"),
        ("https:///leases", "must be a URL like"),
        ("hooks.example.org", "must be a URL like"),
        ("https://hooks.example.org:0/", "must be a URL like"),
        ("https://hooks.example.org:70000/", "is not a URL"),
        ("https://[::1/", "is not a URL"),
        ("https://user:secret@hooks.example.org/", "must have no user"),
        ("https://@hooks.example.org/", "must have no user"),
        ("https://hooks.example.org/#part", "must have no user, no password and no fragment"),
        ("https://hooks.example.org/a/../b", "must have no . and no .."),
        ("https://hooks.example.org/a/%2e%2E/b", "must have no . and no .."),
        ("https://hooks.example.org/a b", "visible ASCII"),
        ("https://hooks.example.org/\r\nX-Header: a", "visible ASCII"),
        ("https://hooks.ex\u00e4mple.org/", "visible ASCII"),
        ("https://hooks.example.org\\@127.0.0.1/", "visible ASCII"),
    ],
)
def test_what_a_webhook_may_not_be(url: str, problem: str) -> None:
    with pytest.raises(InvalidValueError, match="^target: ") as raised:
        check_url(url, UrlRules(), "target")
    assert problem in raised.value.problem


def test_an_operator_may_allow_requests_in_the_clear() -> None:
    check_url("http://hooks.example.org/", UrlRules(allows_http=True), "target")


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("https://hooks.example.org", True),
        ("https://hooks.example.org:443/any", True),
        ("https://example.org/hooks", True),
        ("https://example.org/hooks/leases", True),
        ("https://example.org/hooks?a=b", True),
        ("https://example.org/hooksmith", False),
        ("https://example.org/", False),
        ("https://hooks.example.org.evil.example/", False),
        ("https://hooks.example.org:8443/", False),
        ("http://hooks.example.org/", False),
    ],
)
def test_prefixes_are_compared_as_urls_and_not_as_texts(url: str, is_allowed: bool) -> None:
    rules = UrlRules(("https://hooks.example.org", "https://example.org/hooks/"), allows_http=True)
    if is_allowed:
        check_url(url, rules, "target")
    else:
        with pytest.raises(InvalidValueError, match="must begin with one of"):
            check_url(url, rules, "target")


@pytest.mark.parametrize("address", ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_may_be_reached(address: str) -> None:
    assert may_be_reached(address, ())


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
    ],
)
def test_other_addresses_may_not(address: str) -> None:
    assert not may_be_reached(address, ())


def test_an_operator_may_open_a_network() -> None:
    networks = parse_networks(["10.1.0.0/16", "fd00::/64"], "option")
    assert may_be_reached("10.1.2.3", networks)
    assert may_be_reached("::ffff:10.1.2.3", networks)
    assert may_be_reached("fd00::1", networks)
    assert not may_be_reached("10.2.0.1", networks)
    with pytest.raises(InvalidValueError, match="^option: .*; right is 10.1.0.0/16$"):
        parse_networks(["10.1.0.1/16"], "option")
