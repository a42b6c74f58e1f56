from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import flask
import pytest

import lease_scheduler
from lease_scheduler.api.page_files import add_page, protection

_PAGE = Path(lease_scheduler.__file__).parent / "api" / "page"


def _headers(path: str, ancestors: Sequence[str] = ()) -> dict[str, str]:
    app = flask.Flask("test", static_folder=None)
    add_page(app)
    app.after_request(protection(ancestors))
    with app.test_client().get(path) as answer:
        assert answer.status_code == 200
        return dict(answer.headers)


@pytest.mark.parametrize("path", ["/index.html", "/page/index.html", "/main.js", "/calendar.css", "/icon.svg"])
def test_all_files_have_the_headers_of_the_policy(path: str) -> None:
    found = _headers(path)
    assert found["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert (found["X-Frame-Options"], found["Referrer-Policy"]) == ("DENY", "same-origin")


@pytest.mark.parametrize(
    ("ancestors", "policy", "options"),
    [
        (("self",), "frame-ancestors 'self'", "SAMEORIGIN"),
        (("https://a.example",), "frame-ancestors https://a.example", None),
        (("self", "https://a.example:8443"), "frame-ancestors 'self' https://a.example:8443", None),
    ],
)
def test_only_listed_sites_may_frame_the_page(ancestors: Sequence[str], policy: str, options: str | None) -> None:
    found = _headers("/index.html", ancestors)
    assert found["Content-Security-Policy"].endswith(f"; {policy}")
    assert found.get("X-Frame-Options") == options


def test_the_page_has_no_inline_scripts_and_styles() -> None:
    """The policy would block it."""
    text = (_PAGE / "index.html").read_text()
    assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:", text) == []
