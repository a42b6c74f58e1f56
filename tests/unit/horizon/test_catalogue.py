from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.horizon.catalogue import origin_of, page_url


def _catalogue(url: str, **values: Any) -> list[dict[str, Any]]:
    endpoint = {"interface": "public", "region_id": "north", "region": "north", "url": url} | values
    identity = {"type": "identity", "endpoints": [{**endpoint, "url": "https://keystone.example/v3"}]}
    return [{"endpoints": []}, identity, {"type": "reservation", "endpoints": [endpoint]}]


@pytest.mark.parametrize(
    ("endpoint", "page", "origin"),
    [
        ("https://leases.example/v1", "https://leases.example/", "https://leases.example"),
        ("https://leases.example/v1/", "https://leases.example/", "https://leases.example"),
        ("https://leases.example", "https://leases.example/", "https://leases.example"),
        ("HTTPS://Leases.Example:443/v1", "https://leases.example/", "https://leases.example"),
        ("http://cloud.example:1234/v1", "http://cloud.example:1234/", "http://cloud.example:1234"),
        ("http://cloud.example/reservation/v1", "http://cloud.example/reservation/", "http://cloud.example"),
        ("http://cloud.example/v1x", "http://cloud.example/v1x/", "http://cloud.example"),
        ("http://[2001:db8::1]:1234/v1", "http://[2001:db8::1]:1234/", "http://[2001:db8::1]:1234"),
    ],
)
def test_the_page_is_at_the_root_of_the_endpoint(endpoint: str, page: str, origin: str) -> None:
    """The origin is as browsers write it: they would deliver a message to no other one."""
    found = page_url(_catalogue(endpoint), "north")
    assert found == page
    assert origin_of(page) == origin


@pytest.mark.parametrize(
    "endpoint",
    [
        "javascript:alert(1)//leases.example/v1",
        "//leases.example/v1",
        "/v1",
        "",
        "https://user:password@leases.example/v1",
        "https://leases.example:port/v1",
        "https:///v1",
        "https://[::1/v1",
    ],
)
def test_an_address_that_browsers_must_not_open(endpoint: str) -> None:
    assert page_url(_catalogue(endpoint), "north") is None


@pytest.mark.parametrize("values", [{"interface": "internal"}, {"region_id": "south", "region": "south"}])
def test_only_public_endpoints_of_the_region_count(values: dict[str, str]) -> None:
    assert page_url(_catalogue("https://leases.example/v1", **values), "north") is None


def test_a_catalogue_with_the_older_name_of_the_region() -> None:
    assert page_url(_catalogue("https://leases.example/v1", region_id=None), "north") == "https://leases.example/"


def test_a_catalogue_without_the_service() -> None:
    assert page_url([], "north") is None
    assert page_url(_catalogue("https://leases.example/v1")[:2], "north") is None
