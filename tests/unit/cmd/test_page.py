from __future__ import annotations

from pathlib import Path

import pytest
from oslo_config import cfg

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.page import frame_ancestors, origin_of, websso_choices, websso_origin
from lease_scheduler.model.errors import InvalidValueError

_WEBSSO = (
    "websso = openid:OpenID Connect, example/saml2:Example\n"
    "websso_url = https://Cloud.example.org:443/identity\npublic_url = https://leases.example.org/calendar/\n"
)


def _conf(folder: Path, lines: str) -> cfg.ConfigOpts:
    file = folder / "service.conf"
    file.write_text(f"[page]\n{lines}\n")
    return configuration.load(["--config-file", str(file)], program="test")


def test_websso(tmp_path: Path) -> None:
    conf = _conf(tmp_path, _WEBSSO)
    assert websso_origin(conf) == "https://cloud.example.org"
    one, other = websso_choices(conf)
    query = "?origin=https%3A%2F%2Fleases.example.org%2Fcalendar%2Flogin%2Fwebsso"
    base = "https://Cloud.example.org:443/identity/v3/auth/OS-FEDERATION"
    assert (one.label, one.url) == ("OpenID Connect", f"{base}/websso/openid{query}")
    path = "identity_providers/example/protocols/saml2/websso"
    assert (other.label, other.url) == ("Example", f"{base}/{path}{query}")


def test_no_websso(tmp_path: Path) -> None:
    conf = _conf(tmp_path, "")
    assert (websso_origin(conf), websso_choices(conf), frame_ancestors(conf)) == (None, (), ())


@pytest.mark.parametrize(
    ("lines", "option"),
    [
        ("websso = openid:Example\npublic_url = https://a.example", "page.websso_url"),
        ("websso = openid:Example\nwebsso_url = https://a.example", "page.public_url"),
        (f"{_WEBSSO}websso = ../openid:Example", "page.websso"),
        (f"{_WEBSSO}websso = a/b/c:Example", "page.websso"),
        (f"{_WEBSSO}websso = open id:Example", "page.websso"),
        (f"{_WEBSSO}websso_url = https://a.example/v3?x=1", "page.websso_url"),
        (f"{_WEBSSO}websso_url = https://a.example@evil.example/", "page.websso_url"),
        (f"{_WEBSSO}public_url = https://a.example/#x", "page.public_url"),
    ],
)
def test_wrong_options_for_websso_are_named(tmp_path: Path, lines: str, option: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        websso_origin(_conf(tmp_path, lines))
    assert raised.value.field == option


@pytest.mark.parametrize(
    "line",
    ["websso_url = ftp://a.example", "public_url = //a.example", "auth_url = keystone", "timeout = 0", "logn = true"],
)
def test_wrong_values_end_the_program(tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _conf(tmp_path, line)
    assert line.partition(" ")[0] in capsys.readouterr().err


def test_frame_ancestors(tmp_path: Path) -> None:
    conf = _conf(tmp_path, "frame_ancestors = 'self', https://Dashboard.example.org, http://127.0.0.1:8080")
    assert frame_ancestors(conf) == ("self", "https://dashboard.example.org", "http://127.0.0.1:8080")


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "none",
        "https:",
        "https://*.example.org",
        "https://a.example; script-src *",
        "https://a.example/path",
        "https://a.example:x",
        "javascript:alert(1)",
        "dashboard.example.org",
    ],
)
def test_what_is_no_site(tmp_path: Path, text: str) -> None:
    """Nothing gets into the header that could be another directive."""
    with pytest.raises(InvalidValueError, match=r"^page\.frame_ancestors: "):
        frame_ancestors(_conf(tmp_path, f"frame_ancestors = {text}"))


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://A.example/v3", "https://a.example"),
        ("https://a.example:443", "https://a.example"),
        ("http://a.example:80/x", "http://a.example"),
        ("http://a.example:5000/v3", "http://a.example:5000"),
        ("https://[2001:DB8::1]:5000/v3", "https://[2001:db8::1]:5000"),
    ],
)
def test_origins_as_browsers_send_them(url: str, origin: str) -> None:
    assert origin_of(url) == origin
