"""Forecasts: how well they held."""

from __future__ import annotations

from lease_scheduler.api.dates import iso_date
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document


def list_forecasts(request: ApiRequest) -> Answer:
    """List forecasts with how often they held."""
    found = request.engine.list_forecasts(request.context())["forecasts"]
    return Answer({"forecasts": [_shown(forecast) for forecast in found]})


def _shown(forecast: Document) -> Document:
    shares = {name: None if forecast[name] is None else round(forecast[name], 6) for name in ("asked", "held")}
    return {**forecast, **shares, "since": iso_date(forecast["since"])}
