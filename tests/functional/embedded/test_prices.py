"""Prices as users of the service see them: over REST, through the engine and after a restart (haizea 7.2, F77-F82)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, date, until

_SETTINGS = """
[simulated_cloud]
hosts = 4
clock_speed = 60
clock_start = 1800000000
[scheduling]
policy_pricing = adaptive
[policy]
pricing_rate = 2
[enforcement]
enabled_filters = QuotaFilter
project_limits = small leases=1
"""
_HOUR = 3_600


def _terms(rest: Rest, count: int = 1, **said: Any) -> dict[str, Any]:
    """Return the terms of one hour of whole hosts in a week."""
    start = rest.now() + 7 * 86_400
    nodes = [{"count": count, "resources": {"VCPU": 8}}]
    return {"name": "priced", "nodes": nodes, "start_date": date(start), "end_date": date(start + _HOUR), **said}


def test_the_life_of_a_quote(make: Make) -> None:
    """An offer is held, accepted after a restart, rejected, or expires; the rate follows; lost revenue is reported."""
    service = make(configuration=_SETTINGS)
    service.start()
    rest = Rest(service)
    rest.register(4)
    member = Rest(service, X_Project_Id="physics", X_User_Id="ada", X_Roles="member")
    other = Rest(service, X_Project_Id="biology", X_User_Id="bob", X_Roles="member")

    def offered(**said: Any) -> dict[str, Any]:
        quote: dict[str, Any] = member.post("quotes", _terms(member, 4, hold=True, **said))["quote"]
        assert quote["granted"], quote
        return quote

    def price() -> float:
        return float(member.post("quotes", _terms(member, 1))["quote"]["price"])

    first = offered()
    assert first["price"] == 8.0
    path = f"leases/{first['lease_id']}"
    lease = member.get(path)["lease"]
    assert (lease["state"], lease["price"], lease["expires_at"]) == ("ready", 8.0, first["expires_at"])
    assert not other.post("quotes", _terms(other))["quote"]["granted"]
    assert other.ask("POST", f"{path}/action", {"accept": {}}).status_code in (403, 404)
    assert service.interrupt() == 0
    service.start()
    assert member.post(f"{path}/action", {"accept": {}})["lease"]["expires_at"] is None
    assert member.ask("POST", f"{path}/action", {"reject": {}}).status_code == 409
    # The whole site is taken then, so there is no price.
    assert member.post("quotes", _terms(member))["quote"]["price"] is None
    assert member.ask("DELETE", path).status_code == 204
    assert price() == 3.0

    second = offered()
    rejected = member.post(f"leases/{second['lease_id']}/action", {"reject": {}})["lease"]
    assert (rejected["state"], price()) == ("rejected-by-user", 2.5)

    # On this clock, five minutes take five real seconds.
    third = offered(max_price=10.0)
    until(lambda: rest.get(f"leases/{third['lease_id']}")["lease"]["state"] == "rejected-by-user")
    history = member.get(f"leases/{third['lease_id']}/history")["history"]
    assert history[-1]["reason"] == "its quote has expired"
    assert price() == 2.25

    refused = member.ask("POST", "leases", _terms(member, 2, max_price=4.0))
    assert (refused.status_code, refused.json()["field"]) == (409, "max_price")
    assert refused.json()["error_message"] == "its price is 4.5, and max_price is 4"
    assert price() == 2.125
    (usage,) = member.get("usage")["usage"]
    assert usage["revenue"] == {
        "earned": 0.0,
        "missed": {"undercharged": 0.0, "rejected": 0.0, "rejected_by_user": pytest.approx(12.0 + 10.0 + 4.0)},
        "penalties": 0.0,
        "net": 0.0,
    }


def test_an_offer_counts_in_limits(make: Make) -> None:
    """An offer counts towards a quota of one lease; after its rejection the project can have a lease."""
    service = make(configuration=_SETTINGS)
    service.start()
    Rest(service).register(4)
    small = Rest(service, X_Project_Id="small", X_User_Id="eve", X_Roles="member")
    quote = small.post("quotes", _terms(small, hold=True))["quote"]
    assert small.ask("POST", "leases", _terms(small)).status_code == 403
    assert small.ask("POST", "quotes", _terms(small, hold=True)).status_code == 403
    small.post(f"leases/{quote['lease_id']}/action", {"reject": {}})
    dear = small.ask("POST", "leases", _terms(small, max_price=0.5))
    assert (dear.status_code, dear.json()["field"]) == (409, "max_price")
    lease = small.post("leases", _terms(small, max_price=100))["lease"]
    # It has rejected rates of 2 and 1, so half of that is its estimated limit.
    assert lease["price"] == pytest.approx(0.5)


def test_a_negotiation_over_rest(make: Make) -> None:
    """haizea F8: counter-offers, a counter, a restart, and the price of a change in advance."""
    service = make(configuration=_SETTINGS.replace("adaptive", "constant"))
    service.start()
    rest = Rest(service)
    rest.register(4)
    member = Rest(service, X_Project_Id="physics", X_User_Id="ada", X_Roles="member")
    terms = _terms(member, 2)
    taken = member.post("leases", terms)["lease"]
    nodes = [{**terms["nodes"][0], "count": 4}]
    quote = member.post("quotes", {**terms, "nodes": nodes, "hold": True, "counter_offers": 2})["quote"]
    assert not quote["granted"]
    offers = {offer["change"]: offer for offer in quote["counter_offers"]}
    assert (offers["start"]["count"], offers["start"]["price"]) == (4, 8.0)
    assert (offers["nodes"]["count"], offers["nodes"]["price"]) == (2, 4.0)
    path = f"leases/{offers['nodes']['lease_id']}"
    lease = member.get(path)["lease"]
    assert lease["negotiation_id"] == quote["negotiation_id"]
    refused = member.ask("POST", f"{path}/action", {"counter": {"end_date": lease["end_date"], "max_price": 1}})
    assert (refused.status_code, refused.json()["field"]) == (409, "max_price")
    assert service.interrupt() == 0
    service.start()
    member.post(f"{path}/action", {"accept": {}})
    other = member.get(f"leases/{offers['start']['lease_id']}")["lease"]
    assert other["state"] == "rejected-by-user"
    change = member.post(f"{path}/quote", {"extend": {"by": "1h"}})["quote"]
    assert (change["granted"], change["price"], change["present_price"]) == (True, 8.0, 4.0)
    assert member.ask("POST", f"{path}/action", {"extend": {"by": "1h", "max_price": 7}}).status_code == 409
    assert member.post(f"{path}/action", {"extend": {"by": "1h", "max_price": 8}})["lease"]["price"] == 8.0
    assert member.get(f"{path}/history")["history"][-1]["reason"] == "its price is 8; it was 4"
    assert member.get(f"leases/{taken['id']}")["lease"]["breaches"] == []
