"""How many hosts can go, or are missing (prediction A12-A14, A17)."""

from __future__ import annotations

import pytest

from lease_scheduler.api.dates import iso_date
from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site

_DAY, _HOUR = 86_400, 3_600


def _used(site: Site, days: int, hosts: float, project: str = "red") -> list[dict[str, object]]:
    """Return what takes some hosts at nine o'clock of each of the last days."""
    midnight = site.clock.now() // _DAY * _DAY
    return [
        {
            "project_id": project,
            "start": midnight - day * _DAY + 9 * _HOUR,
            "resource_seconds": {"VCPU": round(hosts * 8 * _HOUR), "CUSTOM_OTHER": 5},
        }
        for day in range(1, days + 1)
    ]


def test_administrators_see_how_many_hosts_can_go(admin: Client, member: Client, site: Site) -> None:
    """Use of all projects adds up; a class that no host has does not count."""
    for name in ("host-1", "host-2", "host-3"):
        admin.post("/v1/os-hosts", {"name": name})
    for host in site.host_rows.values():
        host["capacity"] = {"VCPU": 8}
    site.usage_rows = [*_used(site, 60, 0.4), *_used(site, 60, 0.5, "blue")]
    path = "/v1/capacity?promises=0.9,0.95,0.99"
    answer = admin.at("latest").get(path)
    assert answer.status_code == 200, answer.json
    found = (answer.json or {})["capacity"]
    assert (found["hosts"], found["days"], found["hours"], found["highest"]) == (3, 60, 60, 0.9)
    assert found["end"] == iso_date(site.clock.now())
    assert [need["hosts"] for need in found["promises"]] == [1, 1, None]
    assert [need["can_go"] for need in found["promises"]] == [2, 2, None]
    assert [need["least_days"] for need in found["promises"]] == [29, 59, 299]
    (asked,) = [call for call in site.calls if call[0] == "usage"]
    assert asked[1:] == (None, site.clock.now() - 90 * _DAY, site.clock.now(), site.clock.now(), _HOUR)
    assert member.at("latest").get(path).status_code == 403
    assert admin.at("1.31").get(path).status_code == 404


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ("promises=1", "promises", "promises: must be numbers of more than 0 and at most 0.9999"),
        ("promises=0.9,much", "promises", "not 'much'"),
        ("promises=0.9,0.99999", "promises", "not '0.99999'"),
        ("promises=nan", "promises", "not 'nan'"),
        ("promises=" + ",".join(["0.9"] * 17), "promises", "promises: must be at most 16, not 17"),
        ("start=2030-01-01&end=2029-01-01", "end", "end: must be later than start"),
        ("start=2020-01-01&end=2024-01-01", "start", "start: must be at most two years before end"),
    ],
)
def test_wrong_parameters_are_named(admin: Client, query: str, field: str, message: str) -> None:
    answer = admin.at("latest").get(f"/v1/capacity?{query}")
    assert answer.status_code == 400
    assert (answer.json or {})["field"] == field
    assert message in (answer.json or {})["error_message"]


@pytest.mark.parametrize("query", ["", "start=2099-01-01&end=2099-02-01"])
def test_without_recorded_use_no_number_of_hosts_is_given(admin: Client, site: Site, query: str) -> None:
    """Without use, in the future, and even without hosts."""
    admin.post("/v1/os-hosts", {"name": "host-1"})
    for hosts in (1, 0):
        found = (admin.at("latest").get(f"/v1/capacity?{query}").json or {})["capacity"]
        assert (found["hosts"], found["days"], found["highest"]) == (hosts, 0, 0)
        assert {(need["hosts"], need["can_go"], need["spare"], need["lifetime"]) for need in found["promises"]} == {
            (None, None, None, 0)
        }
        site.host_rows.clear()


def test_yields_with_fewer_hosts_come_from_the_engine(admin: Client, site: Site) -> None:
    """dfrs F29: numbers are told once each, in order, and yields are rounded down."""
    row = {"pool": None, "hosts": 3, "without": ["host-1"], "least_yield": 0.66666, "leases": 4, "waiting": 0}
    site.yield_rows = [row]
    found = (admin.at("latest").get("/v1/capacity?fewer_hosts=2,0,2").json or {})["capacity"]
    assert found["least_yields"] == [{**row, "fewer": count, "least_yield": 0.666} for count in (0, 2)]
    assert next(call for call in site.calls if call[0] == "list_least_yields")[2] == [0, 2]
    assert (admin.at("latest").get("/v1/capacity").json or {})["capacity"]["least_yields"] == []
    assert len([call for call in site.calls if call[0] == "list_least_yields"]) == 1
    old = admin.at("1.34").get("/v1/capacity?fewer_hosts=1")
    assert old.status_code == 400
    assert "1.35" in (old.json or {})["error_message"]


@pytest.mark.parametrize("numbers", ["-1", "1.5", "many", "1,,2", "100001", "9" * 40, "²"])
def test_numbers_of_hosts_must_be_whole(admin: Client, numbers: str) -> None:
    answer = admin.at("latest").get(f"/v1/capacity?fewer_hosts={numbers}")
    assert (answer.status_code, (answer.json or {})["field"]) == (400, "fewer_hosts")


def test_at_most_16_numbers_of_hosts(admin: Client) -> None:
    answer = admin.at("latest").get("/v1/capacity?fewer_hosts=" + ",".join(["1"] * 17))
    assert "must be at most 16, not 17" in (answer.json or {})["error_message"]
