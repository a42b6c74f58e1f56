"""How well forecasts held (Pucher 2016, section 3.3.4; prediction A10)."""

from __future__ import annotations

from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site


def test_forecasts_show_how_often_they_held(admin: Client, site: Site) -> None:
    site.forecast_rows = [
        {"name": "start", "pool": None, "asked": 0.95, "held": 29 / 30, "count": 30, "since": 1_900_000_000},
        {"name": "demand", "pool": None, "asked": None, "held": None, "count": 0, "since": None},
    ]
    found = (admin.at("1.33").get("/v1/forecasts").json or {})["forecasts"]
    assert found[0] == {
        "name": "start",
        "pool": None,
        "asked": 0.95,
        "held": 0.966667,
        "count": 30,
        "since": "2030-03-17T17:46:40Z",
    }
    assert (found[1]["held"], found[1]["since"]) == (None, None)
    assert admin.at("1.32").get("/v1/forecasts").status_code == 404


def test_forecasts_are_for_administrators(member: Client) -> None:
    assert member.at("1.33").get("/v1/forecasts").status_code == 403
