"""The API on an engine and a reader in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from jsonschema import Draft202012Validator
from microversion_parse import parse_version_string
from oslo_config import cfg
from oslo_policy import policy
from werkzeug.test import TestResponse

from lease_scheduler.api.app import build_app
from lease_scheduler.api.openapi import describe
from lease_scheduler.api.request import Route
from lease_scheduler.api.routes import ROUTES
from lease_scheduler.api.schemas.base import error
from lease_scheduler.api.settings import ApiSettings
from tests.unit.api.fakes import FixedClock, Names, Site, Sites, Trusts

Build = Callable[..., Flask]


def check_answer(method: str, path: str, answer: TestResponse) -> None:
    """Check that an answer conforms to the description of the interface."""
    assert answer.headers["X-Openstack-Request-Id"].startswith("req-")
    assert "OpenStack-API-Version" in answer.headers["Vary"]
    assert answer.status_code < 500 or answer.status_code == 503
    version = parse_version_string(answer.headers["OpenStack-API-Version"].removeprefix("reservation "))
    route = route_of(method, path.partition("?")[0].removesuffix(".json"))
    if answer.status_code >= 400:
        Draft202012Validator(error(version)).validate(answer.json)
    elif route is not None and route.answer is not None and answer.mimetype == "application/json":
        assert answer.status_code == route.code
        Draft202012Validator(route.answer(version)).validate(answer.json)
    if route is not None and route.since <= version and answer.status_code != 413:
        assert (
            str(answer.status_code) in describe([route], version, "")["paths"][route.path][method.lower()]["responses"]
        )


def route_of(method: str, path: str) -> Route | None:
    """Return the route that serves a path."""
    fitting = [
        route
        for route in ROUTES
        if route.method == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route.path), path)
    ]
    return min(fitting, key=lambda route: "{" in route.path, default=None)


class Client:
    """Sends requests as a given caller at a given microversion.

    :param roles: None for no header
    """

    def __init__(
        self, app: Flask, version: str | None = None, roles: str | None = None, project: str = "red", user: str = "eve"
    ) -> None:
        self._client = app.test_client()
        self._app = app
        self.headers = {"X-Auth-Token": "any", "X-Project-Id": project, "X-User-Id": user}
        if version is not None:
            self.headers["OpenStack-API-Version"] = f"reservation {version}"
        if roles is not None:
            self.headers["X-Roles"] = roles
        self._who = {"roles": roles, "project": project, "user": user}

    def at(self, version: str | None) -> Client:
        """Return a client for the same caller at another microversion."""
        return Client(self._app, version, **self._who)  # type: ignore[arg-type]

    def send(self, method: str, path: str, body: Any = None, **options: Any) -> TestResponse:
        headers = self.headers | options.pop("headers", {})
        if body is not None:
            options["json"] = body
        answer = self._client.open(path, method=method, headers=headers, **options)
        check_answer(method, path, answer)
        return answer

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.send("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self.send("POST", path, body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self.send("PUT", path, body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self.send("PATCH", path, body, **options)

    def delete(self, path: str, **options: Any) -> TestResponse:
        return self.send("DELETE", path, **options)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def site(clock: FixedClock) -> Site:
    return Site(clock)


@pytest.fixture
def trusts() -> Trusts:
    return Trusts()


@pytest.fixture
def build(site: Site, clock: FixedClock, trusts: Trusts) -> Build:
    """Builds the API with given settings, and as that of a gateway if sites are given."""

    def build_with(settings: ApiSettings, sites: Sites | None = None) -> Flask:
        conf = cfg.ConfigOpts()
        conf([], project="lease-scheduler", default_config_files=[])
        enforcer = policy.Enforcer(conf)
        return build_app(settings, site, site, clock, enforcer, trusts, names=Names(), sites=sites)

    return build_with


@pytest.fixture
def app(build: Build) -> Flask:
    return build(ApiSettings(auth="noauth", notification_drivers=("webhook",)))


@pytest.fixture
def member(app: Flask) -> Client:
    """A member of the project ``red`` that uses only Blazar's API."""
    return Client(app, roles="member")


@pytest.fixture
def admin(app: Flask) -> Client:
    """An administrator that uses only Blazar's API."""
    return Client(app)
