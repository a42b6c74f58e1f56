"""Pools: which ones a project may use, and where requests and answers name them."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.model.pools import PoolRule
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import Site
from tests.unit.api.handlers.test_leases import DATES

_BODY = {"name": "a", **DATES, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}
_RULES = (
    PoolRule("gpu", frozenset({"blue"}), frozenset({"gpu-user"})),
    PoolRule("general"),
    PoolRule("secret", frozenset({"black"})),
)


@pytest.fixture
def pools(build: Build) -> Flask:
    return build(ApiSettings(auth="noauth", pools=_RULES))


def _asked(site: Site, request: str) -> dict[str, Any]:
    """Return what the engine was asked last."""
    found: dict[str, Any] = next(call[2] for call in reversed(site.calls) if call[0] == request)
    return found


def _client(app: Flask, roles: str = "member", project: str = "red", version: str = "latest") -> Client:
    return Client(app, version, roles, project)


@pytest.mark.parametrize(
    ("project", "roles", "names"),
    [
        ("red", "member", ["general"]),
        ("blue", "member", ["gpu", "general"]),
        ("red", "member,GPU-user", ["gpu", "general"]),
        ("black", "member", ["general", "secret"]),
        # A pool is for projects, so the role of an administrator opens none.
        ("red", "admin", ["general"]),
    ],
)
def test_a_project_sees_the_pools_that_it_may_use(
    pools: Flask, site: Site, project: str, roles: str, names: list[str]
) -> None:
    """By its id or by a role of its user; a lease is planned only in these, in the configured order."""
    client = _client(pools, roles, project)
    assert client.get("/v1/pools").get_json() == {"pools": [{"name": name} for name in names]}
    assert client.post("/v1/leases", _BODY).status_code == 201
    assert (_asked(site, "create_lease")["pool"], _asked(site, "create_lease")["pools"]) == (None, names)
    assert client.post("/v1/quotes", _BODY).status_code == 200
    assert _asked(site, "quote_lease")["pools"] == names


@pytest.mark.parametrize("path", ["/v1/leases", "/v1/quotes"])
def test_a_request_names_its_pool(pools: Flask, site: Site, path: str) -> None:
    answer = _client(pools, project="blue").post(path, {**_BODY, "pool": "gpu"})
    assert answer.status_code in (200, 201)
    assert _asked(site, "create_lease" if path == "/v1/leases" else "quote_lease")["pool"] == "gpu"


def test_leases_show_their_pool(pools: Flask) -> None:
    client = _client(pools)
    made = client.post("/v1/leases", {**_BODY, "pool": "general"}).get_json()["lease"]
    assert made["pool"] == "general"
    assert "pool" not in client.at("1.25").get(f"/v1/leases/{made['id']}").get_json()["lease"]
    listed = client.get("/v1/leases?pool=general").get_json()["leases"]
    assert [each["id"] for each in listed] == [made["id"]]
    assert client.get("/v1/leases?pool=gpu").get_json()["leases"] == []
    assert client.put(f"/v1/leases/{made['id']}", {"pool": "gpu"}).status_code == 400


@pytest.mark.parametrize("path", ["/v1/leases", "/v1/quotes", "/v1/series", "/v1/availability"])
def test_pools_that_the_project_may_not_use_do_not_exist_for_it(pools: Flask, path: str) -> None:
    """Whether others may use a pool of that name is not said."""
    client, messages = _client(pools), []
    for name in ("secret", "nothing"):
        if path == "/v1/availability":
            answer = client.get(f"{path}?vcpus=1&pool={name}")
        else:
            body: dict[str, Any] = {**_BODY, "pool": name}
            answer = client.post(path, {"rule": "FREQ=WEEKLY;COUNT=2", "lease": body} if "series" in path else body)
        assert answer.status_code == 400
        assert answer.get_json()["field"] == ("lease.pool" if path == "/v1/series" else "pool")
        messages.append(answer.get_json()["error_message"].replace(name, "..."))
    assert messages == ["pool: there is no pool ... that the project may use; right is general"] * 2


def test_a_project_without_any_pool_is_refused(build: Build) -> None:
    client = _client(build(ApiSettings(auth="noauth", pools=_RULES[:1])))
    answer = client.post("/v1/leases", _BODY)
    assert (answer.status_code, answer.get_json()["error_message"]) == (
        403,
        "pool: the project may use no pool of this site; ask its operator",
    )


def test_a_site_without_pools_accepts_no_name_of_one(member: Client, site: Site) -> None:
    client = member.at("latest")
    assert client.get("/v1/pools").get_json() == {"pools": []}
    answer = client.post("/v1/leases", {**_BODY, "pool": "gpu"})
    assert (answer.status_code, answer.get_json()["error_message"]) == (
        400,
        "pool: this site has no pools to choose from; leave it out",
    )
    assert client.post("/v1/leases", _BODY).get_json()["lease"]["pool"] is None
    assert "pools" not in _asked(site, "create_lease")
    assert "pools" not in client.get("/v1/calendar").get_json()
    assert client.get("/v1/availability?vcpus=1").status_code == 200
    assert "pool" not in _asked(site, "availability")


def test_availability_is_that_of_one_pool(pools: Flask, site: Site) -> None:
    client = _client(pools, project="blue")
    client.get("/v1/availability?vcpus=1&pool=general")
    assert _asked(site, "availability")["pool"] == "general"
    client.get("/v1/availability?vcpus=1")
    assert _asked(site, "availability")["pool"] == "gpu"
    assert client.at("1.25").get("/v1/availability?vcpus=1&pool=general").status_code == 400


def test_an_administrator_puts_hosts_and_addresses_into_pools(pools: Flask) -> None:
    """From microversion 1.26 on; before, ``pool`` is a capability like any other."""
    admin = _client(pools, "admin")
    made = admin.post("/v1/os-hosts", {"name": "host-1", "pool": "gpu"}).get_json()["host"]
    assert made["pool"] == "gpu"
    moved = admin.put(f"/v1/os-hosts/{made['id']}", {"pool": "general"}).get_json()["host"]
    assert moved["pool"] == "general"
    old = admin.at("1.0").put(f"/v1/os-hosts/{made['id']}", {"pool": "left"}).get_json()["host"]
    assert old["pool"] == "left"
    assert admin.get(f"/v1/os-hosts/{made['id']}").get_json()["host"]["pool"] == "general"
    address = {"floating_network_id": "net", "floating_ip_address": "10.0.0.9"}
    assert "pool" in admin.post("/v1/floatingips", {**address, "pool": "gpu"}).get_json()["floatingip"]
    assert admin.at("1.25").post("/v1/floatingips", {**address, "pool": "gpu"}).status_code == 400


def test_the_calendar_names_the_pools_of_the_project(pools: Flask) -> None:
    assert _client(pools, project="blue").get("/v1/calendar").get_json()["pools"] == ["gpu", "general"]
