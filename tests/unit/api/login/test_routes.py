from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

import flask
import pytest
from jsonschema import Draft202012Validator
from oslo_config import cfg
from oslo_policy import policy
from werkzeug.test import TestResponse

from lease_scheduler.api.app import build_app
from lease_scheduler.api.login.interfaces import Grant, Password
from lease_scheduler.api.login.routes import Login
from lease_scheduler.api.login.settings import LoginSettings, WebSsoChoice
from lease_scheduler.api.microversions import MAXIMUM
from lease_scheduler.api.schemas.base import error
from lease_scheduler.api.settings import ApiSettings
from tests.unit.api.fakes import FixedClock, Site
from tests.unit.api.login.fakes import PASSWORD, FakeIdentity

_KEYSTONE = "https://keystone.example"
_CREDENTIALS = {"domain": "Default", "user": "eve", "password": PASSWORD}
_LATEST = {"OpenStack-API-Version": "reservation latest"}


def _app(login: Login | None, frame_ancestors: Sequence[str] = ()) -> flask.Flask:
    conf = cfg.ConfigOpts()
    conf([], project="lease-scheduler", default_config_files=[])
    clock = FixedClock()
    site = Site(clock)
    return build_app(ApiSettings(), site, site, clock, policy.Enforcer(conf), None, login, frame_ancestors)


def _login(identity: FakeIdentity, **settings: Any) -> Login:
    choice = WebSsoChoice("Example", f"{_KEYSTONE}/v3/x")
    return Login(LoginSettings(websso=(choice,), websso_origin=_KEYSTONE, **settings), identity)


@pytest.fixture
def identity() -> FakeIdentity:
    return FakeIdentity()


@pytest.fixture
def app(identity: FakeIdentity) -> flask.Flask:
    return _app(_login(identity))


def _post(app: flask.Flask, name: str, body: Any = None, **options: Any) -> TestResponse:
    if body is not None:
        options["json"] = body
    headers = _LATEST | options.pop("headers", {})
    answer = app.test_client().post(f"/login/{name}", headers=headers, **options)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    if answer.status_code >= 400:
        Draft202012Validator(error(MAXIMUM)).validate(answer.json)
    else:
        assert answer.headers["Cache-Control"] == "no-store"
    return answer


def test_the_page_learns_which_logins_are_offered(app: flask.Flask) -> None:
    assert app.test_client().get("/login").json == {
        "login": True,
        "default_domain": "Default",
        "websso": [{"label": "Example", "url": f"{_KEYSTONE}/v3/x"}],
        "frame_ancestors": [],
    }


def test_the_page_learns_which_sites_may_hand_it_a_session(identity: FakeIdentity) -> None:
    """These are the sites of frame-ancestors, with login and without."""
    sites = ["self", "https://dashboard.example.org"]
    for login in (None, _login(identity)):
        found = _app(login, sites).test_client().get("/login").json or {}
        assert found["frame_ancestors"] == sites


def test_without_login_all_its_routes_are_404(identity: FakeIdentity) -> None:
    app = _app(None)
    assert app.test_client().get("/login").json == {"login": False, "frame_ancestors": []}
    for name in ("password", "application-credential", "token", "end", "websso"):
        assert _post(app, name, _CREDENTIALS).status_code == 404
    assert identity.clients == []


def test_logging_in_and_out_reveals_no_secret_in_the_log(
    app: flask.Flask, identity: FakeIdentity, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        found = _post(app, "password", {**_CREDENTIALS, "project_id": "b2"}, environ_base={"REMOTE_ADDR": "192.0.2.9"})
    assert (found.status_code, (found.json or {})["token"]) == (200, "for-b2")
    assert "login of 'eve' of domain 'Default' from 192.0.2.9" in caplog.text
    assert identity.clients[0] == "192.0.2.9"
    for secret in (PASSWORD, "for-b2", "unscoped"):
        assert secret not in caplog.text
    assert (_post(app, "token", {"token": "unscoped"}).json or {})["project"] == {"id": "a1", "name": "alpha"}
    assert _post(app, "end", {"tokens": ["for-b2", "unscoped"]}).status_code == 204
    assert identity.revoked == ["for-b2", "unscoped"]
    credential = _post(app, "application-credential", {"id": "c1", "secret": PASSWORD})
    assert (credential.json or {})["unscoped"] is None


def test_a_failure_is_logged_in_one_line(app: flask.Flask, caplog: pytest.LogCaptureFixture) -> None:
    body = {**_CREDENTIALS, "user": "eve\nINFO all is well", "password": "guess"}
    answer = _post(app, "password", body, environ_base={"REMOTE_ADDR": "not an address\n"})
    assert (answer.status_code, answer.json) == (
        401,
        {"error_code": 401, "error_message": "It does not accept this", "error_name": 401},
    )
    (line,) = [record.getMessage() for record in caplog.records if "login of" in record.getMessage()]
    assert line == r"login of 'eve\nINFO all is well' of domain 'Default' from None failed with 401"


def test_while_the_identity_service_is_away_the_answer_is_503(app: flask.Flask, identity: FakeIdentity) -> None:
    identity.is_away = True
    for name, body in (("password", _CREDENTIALS), ("token", {"token": "unscoped"}), ("end", {"tokens": ["a"]})):
        answer = _post(app, name, body)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert (answer.json or {})["error_message"] == "It does not answer"


def test_a_slow_identity_service_occupies_few_threads() -> None:
    """More logins than places are refused at once, and places become free again."""
    begun, go_on = threading.Event(), threading.Event()

    class Slow(FakeIdentity):
        def by_password(self, credentials: Password, client: str | None) -> Grant:
            begun.set()
            assert go_on.wait(20)
            return super().by_password(credentials, client)

    app = _app(_login(Slow(), concurrent=1))
    answers: list[int] = []
    first = threading.Thread(target=lambda: answers.append(_post(app, "password", _CREDENTIALS).status_code))
    first.start()
    assert begun.wait(20)
    second = _post(app, "password", _CREDENTIALS)
    go_on.set()
    first.join()
    assert (answers, second.status_code) == ([200], 503)
    assert "Too many people" in (second.json or {})["error_message"]
    assert _post(app, "password", _CREDENTIALS).status_code == 200


@pytest.mark.parametrize("name", ["password", "application-credential", "token", "end"])
class TestOtherSites:
    def test_forms_are_refused(self, app: flask.Flask, identity: FakeIdentity, name: str) -> None:
        assert _post(app, name, data=_CREDENTIALS).status_code == 400
        assert _post(app, name, data='{"user": "eve"}', content_type="text/plain").status_code == 400
        assert identity.clients == []

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_scripts_of_other_sites_are_refused(
        self, app: flask.Flask, identity: FakeIdentity, name: str, site: str
    ) -> None:
        assert _post(app, name, _CREDENTIALS, headers={"Sec-Fetch-Site": site}).status_code == 403
        assert identity.clients == []

    def test_preflight_requests_are_refused(self, app: flask.Flask, name: str) -> None:
        headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        answer = app.test_client().options(f"/login/{name}", headers=headers)
        assert answer.status_code == 405
        assert not [header for header, _ in answer.headers if header.startswith("Access-Control")]

    def test_other_methods_are_refused(self, app: flask.Flask, name: str) -> None:
        assert app.test_client().get(f"/login/{name}?user=eve&password=x").status_code == 405


def test_huge_bodies_are_refused(app: flask.Flask, identity: FakeIdentity) -> None:
    answer = _post(app, "password", {**_CREDENTIALS, "password": "x" * 40_000})
    assert answer.status_code == 413
    assert (answer.json or {})["error_message"] == "The body must not have more than 32768 bytes"
    form = {"token": "x" * 40_000}
    assert _post(app, "websso", data=form, headers={"Origin": _KEYSTONE}).status_code == 413
    assert identity.clients == []


class TestWebSso:
    def test_the_page_gets_the_token_without_a_script(self, app: flask.Flask) -> None:
        answer = _post(app, "websso", data={"token": "gAAAA-_=."}, headers={"Origin": _KEYSTONE})
        assert (answer.status_code, answer.mimetype) == (200, "text/html")
        assert '<meta name="token" content="gAAAA-_=.">' in answer.text
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "<script>" not in answer.text

    @pytest.mark.parametrize(
        "origin",
        [None, "null", "https://evil.example", "http://keystone.example", f"{_KEYSTONE}:8443", f"{_KEYSTONE}.evil"],
    )
    def test_other_origins_are_refused(self, app: flask.Flask, origin: str | None) -> None:
        headers = {} if origin is None else {"Origin": origin}
        answer = _post(app, "websso", data={"token": "gAAAA"}, headers=headers)
        assert answer.status_code == 403
        assert "gAAAA" not in answer.text

    @pytest.mark.parametrize("token", [None, "", '"><script>alert(1)</script>', "a\r\nb", "x" * 8_193])
    def test_invalid_tokens_are_refused(self, app: flask.Flask, token: str | None) -> None:
        data = {} if token is None else {"token": token}
        answer = _post(app, "websso", data=data, headers={"Origin": _KEYSTONE})
        assert answer.status_code == 400
        assert "<script" not in answer.text

    def test_without_websso_the_route_is_404(self, identity: FakeIdentity) -> None:
        app = _app(Login(LoginSettings(), identity))
        assert _post(app, "websso", data={"token": "gAAAA"}, headers={"Origin": "null"}).status_code == 404
