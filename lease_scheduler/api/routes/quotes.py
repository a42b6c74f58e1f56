"""Quotes."""

from __future__ import annotations

from lease_scheduler.api import microversions as mv
from lease_scheduler.api.handlers import quotes
from lease_scheduler.api.request import Route
from lease_scheduler.api.schemas import quotes as quote_schemas

ROUTES = (
    Route(
        "POST",
        "/v1/leases/{lease_id}/quote",
        quotes.quote_change,
        "leases:action",
        200,
        "Show what a change of a lease would come to, and what it would cost",
        since=mv.V1_15,
        subject="lease",
        body=quote_schemas.change,
        answer=quote_schemas.of_change,
        changes=True,
    ),
    Route(
        "POST",
        "/v1/quotes",
        quotes.create_quote,
        "quotes:post",
        200,
        "Show what a lease would come to, or hold it",
        since=mv.V1_6,
        body=quote_schemas.create,
        answer=quote_schemas.one,
        changes=True,
    ),
)
