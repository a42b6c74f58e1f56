"""Commands for the sites behind a gateway, and options that choose one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.client.conftest import Openstack, Service

ID = "9f6a2c1e-0000-4000-8000-000000000001"
LEASE = {"id": ID, "name": "night", "kind": "best-effort", "state": "queued", "site": "north", "reservations": []}
NODES = ("--kind", "best-effort", "--nodes", "count=1,vcpus=1")
SITE = {
    "name": "north",
    "state": "answering",
    "leases": 2,
    "last_answer_at": "2030-01-01T00:00:00Z",
    "unreachable_since": None,
    "verbs": ["quote", "submit"],
    "speed": 1.0,
    "capacity": None,
    "load": None,
}
_VERSION = "reservation 1.51"


def _is_gateway(service: Service, *sites: dict[str, Any]) -> None:
    service.will_answer("GET", "/v1/sites", {"sites": list(sites)})


def test_sites_are_listed_and_shown(service: Service, openstack: Openstack) -> None:
    _is_gateway(service, SITE)
    service.will_answer("GET", "/v1/sites/north", {"site": SITE})
    (row,) = openstack("site", "list", "-f", "json").document
    assert (row["Name"], row["State"], row["Leases"]) == ("north", "answering", 2)
    assert openstack("site", "show", "north", "-f", "json").document == SITE
    assert {asked.version for asked in service.asked} == {_VERSION}


@pytest.mark.parametrize(
    ("words", "expected"), [(("--site", "north"), {"site": "north"}), (("--anywhere",), {}), ((), {})]
)
def test_a_request_names_its_site_or_none(
    service: Service, openstack: Openstack, words: tuple[str, ...], expected: dict[str, str]
) -> None:
    _is_gateway(service, SITE)
    service.will_answer("POST", "/v1/leases", {"lease": LEASE}, status=201)
    service.will_answer("POST", "/v1/quotes", {"quote": {"granted": True, "site": "north"}})
    for command in ("create", "quote"):
        assert openstack(command, "night", *NODES, *words, "-f", "json").document["site"] == "north"
    sent = [asked for asked in service.asked if asked.method == "POST"]
    assert len(sent) == 2
    for asked in sent:
        assert {key: value for key, value in asked.body.items() if key == "site"} == expected
        assert (asked.version == _VERSION) is bool(words)


def test_only_one_of_both_can_be_chosen(service: Service, openstack: Openstack) -> None:
    outcome = openstack("create", "night", *NODES, "--anywhere", "--site", "north")
    assert outcome.status == 2
    assert "not allowed with argument" in outcome.errors


def test_leases_are_listed_by_site(service: Service, openstack: Openstack) -> None:
    _is_gateway(service, SITE)
    service.will_answer("GET", "/v1/leases", {"leases": [LEASE]})
    (row,) = openstack("list", "--site", "north", "-f", "json").document
    assert row["Site"] == "north"
    asked = service.asked[-1]
    assert (asked.query["site"], asked.version) == ("north", _VERSION)


def test_a_lease_shows_its_site_on_request(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": LEASE})
    assert openstack("show", ID, "--site", "-f", "json").document["site"] == "north"
    assert service.asked[-1].version == "reservation 1.49"


@pytest.mark.parametrize(
    "words",
    [
        ("site", "list"),
        ("site", "show", "north"),
        ("create", "night", *NODES, "--site", "north"),
        ("create", "night", *NODES, "--anywhere"),
        ("quote", "night", *NODES, "--anywhere"),
        ("list", "--site", "north"),
    ],
    ids=" ".join,
)
def test_a_service_that_is_no_gateway_is_named_in_one_line(
    service: Service, openstack: Openstack, words: tuple[str, ...]
) -> None:
    _is_gateway(service)
    outcome = openstack(*words)
    assert outcome.status == 2
    assert outcome.errors == "This service is no gateway, so it has no sites: ask a gateway, or name no site.\n"
    assert [asked.path for asked in service.asked] == ["/v1/sites"]
