"""Peers: other sites and gateways that request leases here."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site

_PATH = "/v1/peers/northern-site"


@pytest.fixture
def admin(app: Flask) -> Client:
    return Client(app, "1.46", "admin")


def test_limits_are_set_all_at_once_shown_and_removed(admin: Client, site: Site) -> None:
    limits = {"kinds": ["best-effort"], "max_nodes": 4, "max_share": 0.5, "max_offers": 2}
    shown = (admin.put(_PATH, limits).json or {})["peer"]
    assert shown["limits"] == {"max_node_hours": None, "max_cost": None, **limits}
    assert (shown["name"], shown["nodes"], shown["share"]) == ("northern-site", 2, 0.25)
    assert (admin.put(_PATH, {"max_nodes": 5}).json or {})["peer"]["limits"]["kinds"] is None
    assert (admin.get("/v1/peers").json or {})["peers"] == [(admin.get(_PATH).json or {})["peer"]]
    assert admin.delete(_PATH).status_code == 204
    assert admin.get(_PATH).status_code == 404
    assert admin.delete(_PATH).status_code == 404


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"kinds": ["rent"]}, "kinds[0]"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"max_share": 1.5}, "max_share"),
        ({"max_hosts": 3}, "max_hosts"),
    ],
)
def test_a_wrong_limit_is_named(admin: Client, site: Site, limits: dict[str, object], field: str) -> None:
    answer = admin.put(_PATH, limits)
    assert (answer.status_code, (answer.json or {})["field"]) == (400, field)
    assert [name for name, *_ in site.calls] == []
