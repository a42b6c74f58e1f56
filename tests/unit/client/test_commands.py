"""The commands as users type them, and the resulting requests."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.client.conftest import Asked, Openstack, Service

ID = "9f6a2c1e-0000-4000-8000-000000000001"
LEASE = {
    "id": ID,
    "name": "night",
    "kind": "best-effort",
    "state": "queued",
    "start_date": None,
    "end_date": None,
    "reservations": [{"id": "r", "hosts": ["compute-1"]}],
    "events": [],
}


def sent(service: Service) -> list[tuple[str, str, str | None]]:
    return [(asked.method, asked.path, asked.version) for asked in service.asked]


def test_a_lease_is_requested_with_all_its_terms(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", "/v1/leases", {"lease": LEASE}, status=201)
    outcome = openstack(
        *("create", "night", "--kind", "deadline", "--nodes", "count=2,vcpus=4", "--duration", "2h"),
        *("--deadline", "2030-01-01T00:00", "--start", "now", "--preemptible", "--preemption-mode", "suspend"),
        *("--on-end", "snapshot", "--extra", "ticket=7", "--server", "name=web,image=i", "-f", "json"),
    )
    assert outcome.status == 0, outcome.errors
    assert outcome.document["state"] == "queued"
    assert outcome.document["reservations"] == [{"id": "r", "hosts": ["compute-1"]}]
    assert service.asked == [
        Asked(
            "POST",
            "/v1/leases",
            {},
            "reservation 1.12",
            "secret",
            {
                "name": "night",
                "kind": "deadline",
                "nodes": [{"count": 2, "resources": {"VCPU": 4}}],
                "duration": "2h",
                "deadline": "2030-01-01T00:00",
                "start_date": "now",
                "preemptible": True,
                "preemption_mode": "suspend",
                "on_end": "snapshot",
                "extras": {"ticket": "7"},
                "servers": [{"name": "web", "image_id": "i"}],
            },
        )
    ]


@pytest.mark.parametrize(("kind", "version"), [("deadline", "1.39"), ("best-effort", "1.39"), ("immediate", "1.12")])
def test_quotes_of_preemptible_kinds_use_the_microversion_of_preempted_at(
    service: Service, openstack: Openstack, kind: str, version: str
) -> None:
    service.will_answer("POST", "/v1/quotes", {"quote": {"granted": True, "preempted_at": None}})
    assert openstack("quote", "night", "--kind", kind, "--duration", "2h").status == 0
    assert [asked.version for asked in service.asked] == [f"reservation {version}"]


def test_a_request_uses_the_lowest_microversion_and_has_only_given_terms(
    service: Service, openstack: Openstack
) -> None:
    service.will_answer("POST", "/v1/leases", {"lease": LEASE}, status=201)
    words = ["create", "night", "--start", "2030-01-01 00:00", "--end", "2030-01-02 00:00", "--not-preemptible"]
    assert openstack(*words, "--reservation", "resource_type=physical:host,min=1,max=1").status == 0
    (asked,) = service.asked
    assert asked.version == "reservation 1.12", "the first one that shows prices"
    assert asked.body == {
        "name": "night",
        "start_date": "2030-01-01 00:00",
        "end_date": "2030-01-02 00:00",
        "preemptible": False,
        "reservations": [
            {
                "resource_type": "physical:host",
                "min": 1,
                "max": 1,
                "hypervisor_properties": "",
                "resource_properties": "",
            }
        ],
    }


def test_a_list_has_all_pages(service: Service, openstack: Openstack) -> None:
    pages = [
        {"leases": [{**LEASE, "id": "a"}, {**LEASE, "id": "b"}], "leases_links": [{"rel": "next", "href": "..."}]},
        {"leases": [{**LEASE, "id": "c"}]},
    ]
    service.will_answer("GET", "/v1/leases", *pages)
    outcome = openstack("list", "--kind", "best-effort", "--sort", "start:desc", "--all-projects", "-f", "json")
    assert [row["ID"] for row in outcome.document] == ["a", "b", "c"]
    assert set(outcome.document[0]) == {"ID", "Name", "Kind", "State", "Start Date", "End Date"}
    first, second = service.asked
    assert first.query == {"kind": "best-effort", "sort_key": "start", "sort_dir": "desc", "all_projects": "true"}
    assert second.query == first.query | {"marker": "b"}
    assert {first.version, second.version} == {"reservation 1.2"}


def test_a_list_ends_at_its_limit(service: Service, openstack: Openstack) -> None:
    link = [{"rel": "next", "href": "..."}]
    pages = [
        {"leases": [{**LEASE, "id": "a"}, {**LEASE, "id": "b"}], "leases_links": link},
        {"leases": [{**LEASE, "id": "c"}], "leases_links": link},
    ]
    service.will_answer("GET", "/v1/leases", *pages)
    assert len(openstack("list", "--limit", "3", "--long", "-f", "json").document) == 3
    assert [asked.query["limit"] for asked in service.asked] == ["3", "1"]


@pytest.mark.parametrize(
    ("words", "version", "query"),
    [
        (["--deleted"], "reservation 1.4", {"deleted": "true"}),
        (["--series", ID], "reservation 1.9", {"series_id": ID}),
        (["--name", "x", "--state", "active", "--status", "ACTIVE", "--project", "p", "--marker", "m"],
         "reservation 1.2", {"name": "x", "state": "active", "status": "ACTIVE", "project_id": "p", "marker": "m"}),
    ],
)  # fmt: skip
def test_each_filter_of_a_list_uses_its_microversion(
    service: Service, openstack: Openstack, words: list[str], version: str, query: dict[str, str]
) -> None:
    service.will_answer("GET", "/v1/leases", {"leases": []})
    assert openstack("list", *words).status == 0
    (asked,) = service.asked
    assert (asked.version, asked.query) == (version, query)


def test_a_lease_is_named_by_its_id_or_by_a_name_that_only_it_has(service: Service, openstack: Openstack) -> None:
    path = f"/v1/leases/{ID}"
    service.will_answer("GET", path, {"lease": LEASE})
    assert openstack("show", ID).status == 0
    assert sent(service) == [("GET", path, "reservation 1.3")]
    service.will_answer("GET", "/v1/leases", {"leases": [LEASE]})
    assert openstack("show", "night").status == 0
    assert sent(service)[1:] == [("GET", "/v1/leases", "reservation 1.1"), ("GET", path, "reservation 1.3")]
    service.will_answer("GET", "/v1/leases", {"leases": []}, status=200)
    none = openstack("show", "night")
    assert (none.status, none.errors.strip()) == (1, "No lease found with a name or ID of 'night'.")
    service.will_answer("GET", "/v1/leases", {"leases": [LEASE, LEASE]})
    several = openstack("show", "night")
    assert (several.status, several.errors.strip()) == (1, "2 leases are called 'night'; name one of them by its ID.")


def test_a_deleted_lease_is_shown_on_request(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": LEASE})
    assert openstack("show", ID, "--deleted").status == 0
    (asked,) = service.asked
    assert (asked.version, asked.query) == ("reservation 1.4", {"deleted": "true"})


def test_a_change_has_only_the_given_terms(service: Service, openstack: Openstack) -> None:
    service.will_answer("PUT", f"/v1/leases/{ID}", {"lease": LEASE})
    words = ["--name", "day", "--end", "2030-01-01", "--before-end", "2029-12-31", "--if-version", "4"]
    assert openstack("set", ID, *words, "--reservation", "id=r,amount=2").status == 0
    (asked,) = service.asked
    assert asked.version == "reservation 1.2"
    assert asked.body == {
        "name": "day",
        "end_date": "2030-01-01",
        "before_end_date": "2029-12-31",
        "version": 4,
        "reservations": [{"id": "r", "amount": 2}],
    }


def test_a_change_may_have_a_max_price(service: Service, openstack: Openstack) -> None:
    service.will_answer("PUT", f"/v1/leases/{ID}", {"lease": LEASE})
    assert openstack("set", ID, "--duration", "2h", "--max-price", "3").status == 0
    (asked,) = service.asked
    assert (asked.version, asked.body) == ("reservation 1.15", {"duration": "2h", "max_price": 3.0})


def test_deleting_with_a_reason_cancels_the_lease(service: Service, openstack: Openstack) -> None:
    path = f"/v1/leases/{ID}"
    service.will_answer("DELETE", path, "", status=204)
    assert openstack("delete", ID, ID).status == 0
    assert sent(service) == [("DELETE", path, "reservation 1.0")] * 2
    service.will_answer("POST", f"{path}/action", {"lease": LEASE})
    assert openstack("delete", ID, "--reason", "too late").status == 0
    assert service.asked[-1].body == {"cancel": {"reason": "too late"}}


@pytest.mark.parametrize(
    ("words", "body"),
    [
        (["extend", ID, "--by", "2h"], {"extend": {"by": "2h"}}),
        (["extend", ID, "--end", "2030-01-01"], {"extend": {"end_date": "2030-01-01"}}),
        (["extend", ID, "--duration", "1d"], {"extend": {"duration": "1d"}}),
        (["shrink", ID, "--by", "2h"], {"shrink": {"by": "2h"}}),
        (["shrink", ID, "--reservation", "id=r,amount=1"], {"shrink": {"reservations": [{"id": "r", "amount": 1}]}}),
        (["move", ID, "--away-from", "a", "--away-from", "b"], {"move": {"hosts_away": ["a", "b"]}}),
        (["move", ID, "--start", "s", "--end", "e"], {"move": {"start_date": "s", "end_date": "e"}}),
        (["end", ID], {"end": {}}),
    ],
)
def test_each_command_sends_its_action(
    service: Service, openstack: Openstack, words: list[str], body: dict[str, Any]
) -> None:
    service.will_answer("POST", f"/v1/leases/{ID}/action", {"lease": LEASE})
    outcome = openstack(*words, "-f", "json")
    assert outcome.document["id"] == ID
    (asked,) = service.asked
    assert (asked.version, asked.body) == ("reservation 1.7", body)


def test_a_quote_of_a_change_changes_nothing_and_can_show_budgets(service: Service, openstack: Openstack) -> None:
    lines = [{"measure": "node_hours", "left": 4.0}]
    service.will_answer("POST", f"/v1/leases/{ID}/quote", {"quote": {"granted": True, "budget": lines}})
    for words, version in (["--quote"], "1.15"), (["--budget"], "1.41"), (["--quote", "--budget"], "1.41"):
        outcome = openstack("extend", ID, "--by", "2h", *words, "-f", "json")
        assert outcome.document["budget"] == lines
        assert (service.asked[-1].version, service.asked[-1].body) == (
            f"reservation {version}",
            {"extend": {"by": "2h"}},
        )


def test_a_quote_has_the_terms_of_a_lease(service: Service, openstack: Openstack) -> None:
    quote = {"granted": False, "reason": "full", "alternatives": [{"change": "start", "start": "2030-01-01T00:00:00Z"}]}
    service.will_answer("POST", "/v1/quotes", {"quote": quote})
    outcome = openstack("quote", "night", "--kind", "immediate", "--nodes", "vcpus=1", "--duration", "1h", "-f", "json")
    assert outcome.document == quote
    (asked,) = service.asked
    assert asked.version == "reservation 1.12"
    assert asked.body["nodes"] == [{"count": 1, "resources": {"VCPU": 1}}]


def test_availability_lists_windows_and_which_leases_are_preempted(service: Service, openstack: Openstack) -> None:
    window = {"start": "2030-01-01T00:00:00Z", "end": None, "count": 3}
    free = {"windows": [{**window, "count": 2}], "earliest": None}
    windows = [{**window, "preempted_kinds": {"best-effort": 4}}]
    found = {"windows": windows, "earliest": None, "free": free}
    service.will_answer("GET", "/v1/availability", {"availability": found})
    nodes = 'count=2,vcpus=4,CUSTOM_GPU=1,trait=A,trait=B,exclusive=true,per_host=1,properties=["==", "$a", "b"]'
    outcome = openstack("availability", "--nodes", nodes, "--start", "now", "--duration", "2h", "-f", "json")
    assert outcome.document == [
        {"Start": "2030-01-01T00:00:00Z", "End": None, "Count": 3, "Preempted Kinds": {"best-effort": 4}}
    ]
    (asked,) = service.asked
    assert asked.version == "reservation 1.17"
    assert asked.query == {
        "start": "now",
        "duration": "2h",
        "count": "2",
        "resources": "VCPU:4,CUSTOM_GPU:1",
        "traits": "A,B",
        "properties": '["==", "$a", "b"]',
        "exclusive": "true",
        "per_host": "1",
    }


def test_availability_without_preemption_lists_the_free_windows(service: Service, openstack: Openstack) -> None:
    window = {"start": "2030-01-01T00:00:00Z", "end": None, "count": 3, "preempted_kinds": {"best-effort": 4}}
    free = {"windows": [{"start": "2030-01-02T00:00:00Z", "end": None, "count": 2}], "earliest": None}
    found = {"windows": [window], "earliest": None, "free": free}
    service.will_answer("GET", "/v1/availability", {"availability": found})
    outcome = openstack("availability", "--nodes", "vcpus=4", "--free", "-f", "json")
    assert outcome.document == [{"Start": "2030-01-02T00:00:00Z", "End": None, "Count": 2}]


def test_history_hosts_usage_and_the_feed_are_printed(service: Service, openstack: Openstack) -> None:
    actor = {"user_id": "ada", "project_id": "physics", "by_operator": False}
    entry = {"time": "2030-01-01T00:00:00Z", "from": "queued", "to": "active", "reason": "its turn", **actor}
    service.will_answer("GET", f"/v1/leases/{ID}/history", {"history": [entry]})
    said = "2030-01-01T00:00:00Z queued active its turn ada physics False\n"
    assert openstack("history", ID, "-f", "value").output == said
    assert "physics" not in openstack("history", ID).output
    assert "physics" in openstack("history", ID, "--long").output
    host = {"hypervisor_hostname": "compute-1", "reservation_id": "r"}
    service.will_answer("GET", f"/v1/leases/{ID}/hosts", {"hosts": [host]})
    assert openstack("host", "list", ID, "-f", "value").output == "compute-1 r\n"
    used = {"project_id": "p", "node_hours": 1.5, "resource_hours": {"VCPU": 3.0}, "kinds": {}}
    service.will_answer("GET", "/v1/usage", {"start": "s", "end": "e", "usage": [used]})
    (row,) = openstack("usage", "--all-projects", "--start", "s", "--end", "e", "-f", "json").document
    assert row["Resource Hours"] == {"VCPU": 3.0}
    assert service.asked[-1].query == {"start": "s", "end": "e", "all_projects": "true"}
    service.will_answer("GET", "/v1/leases.ics", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n")
    assert openstack("feed").output.splitlines() == ["BEGIN:VCALENDAR", "END:VCALENDAR"]
    versions = ["1.37", "1.37", "1.37", "1.7", "1.10", "1.11"]
    assert [asked.version for asked in service.asked] == [f"reservation {version}" for version in versions]


def test_usage_by_steps_is_a_table_for_spreadsheets(service: Service, openstack: Openstack) -> None:
    day = {"start": "2030-01-01T00:00:00Z", "end": "2030-01-02T00:00:00Z", "node_hours": 1.5}
    money = {"earned": 2.0, "missed": {"undercharged": 0.5, "rejected": 0.0, "rejected_by_user": 0.0}}
    steps = [
        {**day, "resource_hours": {"VCPU": 3.0}, "revenue": money},
        {**day, "resource_hours": {"DISK_GB": 9.0}, "revenue": money},
    ]
    totals = [{**day, "resource_hours": {"VCPU": 3.0}, "capacity_hours": {"VCPU": 192.0}}]
    answer = {"start": "s", "end": "e", "usage": [{"project_id": "p", "history": steps}], "history": totals}
    service.will_answer("GET", "/v1/usage", answer)
    assert openstack("usage", "--by", "day", "--revenue", "-f", "csv", "--quote", "none").output.splitlines() == [
        "project_id,start,end,node_hours,DISK_GB_hours,VCPU_hours,earned,undercharged,rejected,rejected_by_user",
        "p,2030-01-01T00:00:00Z,2030-01-02T00:00:00Z,1.5,0.0,3.0,2.0,0.5,0.0,0.0",
        "p,2030-01-01T00:00:00Z,2030-01-02T00:00:00Z,1.5,9.0,0.0,2.0,0.5,0.0,0.0",
    ]
    assert service.asked[-1].query == {"interval": "day"}
    assert openstack("usage", "--capacity", "--by", "hour", "-f", "csv", "--quote", "none").output.splitlines() == [
        "start,end,node_hours,VCPU_hours,VCPU_capacity_hours",
        "2030-01-01T00:00:00Z,2030-01-02T00:00:00Z,1.5,3.0,192.0",
    ]
    assert service.asked[-1].query == {"interval": "hour", "all_projects": "true"}
    assert {asked.version for asked in service.asked} == {"reservation 1.14"}


@pytest.mark.parametrize(("kind", "version"), [("reservation", "1.12"), ("immediate", "1.45"), ("best-effort", "1.45")])
def test_offers_use_the_microversion_that_has_them_for_their_kind(
    service: Service, openstack: Openstack, kind: str, version: str
) -> None:
    service.will_answer("POST", "/v1/quotes", {"quote": {"granted": True, "lease_id": ID}})
    openstack("quote", "night", "--kind", kind, "--duration", "1h", "--nodes", "vcpus=1", "--hold", "-f", "json")
    assert service.asked[-1].version == f"reservation {version}"


def test_limits_of_a_peer_are_set_all_at_once(service: Service, openstack: Openstack) -> None:
    peer = {"name": "north", "limits": {"kinds": ["best-effort"], "max_share": 0.25, "max_nodes": 0}, "nodes": 2}
    service.will_answer("PUT", "/v1/peers/north", {"peer": peer})
    words = ["--kind", "best-effort", "--max-share", "0.25", "--max-nodes", "0", "-f", "json"]
    assert openstack("peer set", "north", *words).document == peer
    assert service.asked[-1].body == peer["limits"]
    assert service.asked[-1].version == "reservation 1.46"
    for words, projects in ((["--project", "a", "--project", "b"], ["a", "b"]), (["--all-projects"], "all")):
        openstack("peer set", "north", *words, "-f", "json")
        assert (service.asked[-1].body, service.asked[-1].version) == ({"projects": projects}, "reservation 1.50")
    service.will_answer("GET", "/v1/peers", {"peers": [peer]})
    (row,) = openstack("peer list", "-f", "json").document
    assert row["Nodes"] == 2
    service.will_answer("GET", "/v1/peers/north", {"peer": peer})
    assert openstack("peer show", "north", "-f", "json").document == peer
    service.will_answer("DELETE", "/v1/peers/north", None, status=204)
    assert openstack("peer delete", "north").status == 0
    assert [each.method for each in service.asked[-3:]] == ["GET", "GET", "DELETE"]


def test_prices_use_their_microversion(service: Service, openstack: Openstack) -> None:
    """Highest prices, offers and revenue; all of it needs the microversion of prices."""
    lease = LEASE | {"price": 2.5, "max_price": 3.0, "expires_at": "2030-01-01T00:05:00Z"}
    words = ["night", "--start", "2030-01-02", "--duration", "1h", "--nodes", "vcpus=1", "-f", "json"]
    service.will_answer("POST", "/v1/leases", {"lease": lease}, status=201)
    assert openstack("create", *words, "--max-price", "3").document["price"] == 2.5
    assert service.asked[-1].body["max_price"] == 3.0
    quote = {"granted": True, "lease_id": ID, "price": 2.5, "expires_at": "2030-01-01T00:05:00Z"}
    service.will_answer("POST", "/v1/quotes", {"quote": quote})
    assert openstack("quote", *words, "--hold").document == quote
    assert service.asked[-1].body["hold"] is True
    assert openstack("quote", *words).document["price"] == 2.5
    assert "hold" not in service.asked[-1].body
    service.will_answer("POST", f"/v1/leases/{ID}/action", {"lease": lease})
    for action in ("accept", "reject"):
        assert openstack(action, ID, "-f", "json").document["price"] == 2.5
        assert service.asked[-1].body == {action: {}}
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": lease})
    assert openstack("show", ID, "--price", "-f", "json").document["expires_at"] == "2030-01-01T00:05:00Z"
    revenue = {"earned": 4.0, "missed": {"rejected": 1.0}}
    used = {"project_id": "p", "node_hours": 1.5, "resource_hours": {}, "kinds": {}, "revenue": revenue}
    service.will_answer("GET", "/v1/usage", {"start": "s", "end": "e", "usage": [used]})
    assert openstack("usage", "--revenue", "-f", "json").document[0]["Revenue"] == revenue
    assert {asked.version for asked in service.asked} == {"reservation 1.12"}


def test_a_lease_is_ready_to_be_preempted(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", f"/v1/leases/{ID}/action", {"lease": LEASE})
    assert openstack("ready", ID, "-f", "json").document["id"] == ID
    assert (service.asked[-1].body, service.asked[-1].version) == ({"ready": {}}, "reservation 1.29")


def test_tables_leave_out_prices_that_leases_do_not_have(service: Service, openstack: Openstack) -> None:
    """Programs find the keys nevertheless: asking for the price of a lease without one is no error."""
    nothing = {"price": None, "expires_at": None, "max_price": None}
    words = ["night", "--start", "2030-01-02", "--duration", "1h", "--nodes", "vcpus=1"]
    service.will_answer("POST", "/v1/leases", {"lease": LEASE | nothing}, status=201)
    service.will_answer("POST", "/v1/quotes", {"quote": {"granted": True, "start": None} | nothing})
    for command in ("create", "quote"):
        table = openstack(command, *words)
        assert table.status == 0, table.errors
        assert "price" not in table.output
        assert openstack(command, *words, "-f", "json").document.items() >= nothing.items()
        assert openstack(command, *words, "-c", "price", "-f", "json").document == {"price": None}


def test_a_requested_column_is_shown_even_if_it_is_null(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": LEASE | {"price": None, "pool": "gpu"}})
    assert openstack("show", ID, "-c", "price", "-f", "json").document == {"price": None}
    assert openstack("show", ID, "-c", "pool", "-f", "value").output == "gpu\n"
    assert [asked.version for asked in service.asked] == ["reservation 1.12", "reservation 1.26"]


def test_counter_offers_and_quotes_of_changes_are_sent(service: Service, openstack: Openstack) -> None:
    """haizea F8: counter-offers of both sides, and changes that are priced first."""
    words = ["night", "--start", "2030-01-02", "--duration", "1h", "--nodes", "vcpus=1", "-f", "json"]
    quote = {"granted": False, "negotiation_id": "n", "counter_offers": [{"lease_id": ID, "change": "nodes"}]}
    service.will_answer("POST", "/v1/quotes", {"quote": quote})
    limits = ["--latest-start", "2030-01-03", "--fewest-nodes", "2", "--shortest-duration", "30m"]
    assert openstack("quote", *words, "--hold", "--counter-offers", "2", *limits).document == quote
    assert service.asked[-1].body["counter_offers"] == 2
    assert service.asked[-1].body["flexibility"] == {
        "latest_start": "2030-01-03",
        "fewest_nodes": 2,
        "shortest_duration": "30m",
    }
    service.will_answer("POST", f"/v1/leases/{ID}/action", {"lease": LEASE})
    for command, body in (
        (["counter", ID, "--end", "2030-01-03", "--max-price", "4"], {"end_date": "2030-01-03", "max_price": 4.0}),
        (["extend", ID, "--by", "1h", "--max-price", "4"], {"by": "1h", "max_price": 4.0}),
        (["shrink", ID, "--by", "1h", "--max-price", "4"], {"by": "1h", "max_price": 4.0}),
        (["move", ID, "--start", "2030-01-03", "--max-price", "4"], {"start_date": "2030-01-03", "max_price": 4.0}),
    ):
        assert openstack(*command, "-f", "json").status == 0
        assert service.asked[-1].body == {command[0]: body}
    answer = {"granted": True, "price": 3.0, "present_price": 2.0}
    service.will_answer("POST", f"/v1/leases/{ID}/quote", {"quote": answer})
    for action in ("extend", "shrink"):
        assert openstack(action, ID, "--by", "1h", "--quote", "-f", "json").document == answer
        assert service.asked[-1].body == {action: {"by": "1h"}}
    assert {asked.version for asked in service.asked} == {"reservation 1.15"}


def test_breaches_and_penalties_are_shown_on_request(service: Service, openstack: Openstack) -> None:
    """haizea F95: of a lease and of projects, from the microversion that introduced them."""
    breach = {"kind": "late-start", "time": "t", "seconds": 90, "node_hours": 0.05, "penalty": 1.5}
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": LEASE | {"breaches": [breach], "penalties": 1.5}})
    assert openstack("show", ID, "--breaches", "-f", "json").document["breaches"] == [breach]
    broken = {"late-start": {"count": 1, "node_hours": 0.05, "penalty": 1.5}}
    used = {"project_id": "p", "revenue": {"earned": 4.0, "penalties": 1.5, "net": 2.5}, "breaches": broken}
    service.will_answer("GET", "/v1/usage", {"start": "s", "end": "e", "usage": [used]})
    (row,) = openstack("usage", "--penalties", "-f", "json").document
    assert (row["Revenue"]["net"], row["Breaches"]) == (2.5, broken)
    assert {asked.version for asked in service.asked} == {"reservation 1.15"}


def test_forecasts_have_a_line_each(service: Service, openstack: Openstack) -> None:
    row = {"name": "start", "pool": None, "asked": 0.95, "held": 0.97, "count": 30, "since": "2030-03-17T17:46:40Z"}
    service.will_answer("GET", "/v1/forecasts", {"forecasts": [row]})
    (line,) = openstack("forecast", "list", "-f", "json").document
    assert (line["Name"], line["Held"], line["Count"]) == ("start", 0.97, 30)
    (asked,) = service.asked
    assert asked.version == "reservation 1.33"


def test_a_lease_shows_by_when_it_is_expected_to_start(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": LEASE | {"expectation": "has started by"}})
    assert openstack("show", ID, "--expectation", "-f", "json").document["expectation"] == "has started by"
    assert {asked.version for asked in service.asked} == {"reservation 1.33"}


def test_capacity_has_a_line_for_each_promise(service: Service, openstack: Openstack) -> None:
    need = {"promise": 0.95, "hosts": 5, "can_go": 3, "spare": 2, "lifetime": 21_600, "least_days": 59}
    unknown = {"promise": 0.99, "hosts": None, "can_go": None, "spare": None, "lifetime": 0, "least_days": 299}
    report = {"hosts": 8, "days": 70, "full": 0.0, "promises": [need, unknown]}
    service.will_answer("GET", "/v1/capacity", {"capacity": report})
    lines = openstack("capacity", "--promises", "0.95,0.99", "--start", "s", "-f", "json").document
    assert [line["Can Go"] for line in lines] == [3, None]
    assert lines[0]["Present Hosts"] == 8
    (asked,) = service.asked
    assert asked.version == "reservation 1.32"


def test_capacity_has_a_line_for_each_number_of_fewer_hosts(service: Service, openstack: Openstack) -> None:
    row = {"pool": None, "fewer": 1, "hosts": 7, "without": ["h1"], "least_yield": 0.5, "leases": 9, "waiting": 0}
    service.will_answer("GET", "/v1/capacity", {"capacity": {"least_yields": [row]}})
    (line,) = openstack("capacity", "--fewer-hosts", "1", "-f", "json").document
    assert (line["Fewer"], line["Hosts"], line["Least Yield"], line["Without"]) == (1, 7, 0.5, ["h1"])
    (asked,) = service.asked
    assert asked.version == "reservation 1.35"


def test_a_lease_shows_since_when_it_is_idle(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": LEASE | {"idle_since": "2030-01-01T00:00:00Z"}})
    assert openstack("show", ID, "--idle", "-f", "json").document["idle_since"] == "2030-01-01T00:00:00Z"
    assert {asked.version for asked in service.asked} == {"reservation 1.21"}


@pytest.mark.parametrize("amount", ["-1", "much", "nan", "inf"])
def test_a_max_price_must_be_a_number(service: Service, openstack: Openstack, amount: str) -> None:
    outcome = openstack("create", "night", "--nodes", "vcpus=1", f"--max-price={amount}")
    assert outcome.status == 2
    assert not service.asked


def test_maintenances_are_created_and_listed(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", "/v1/maintenances", {"maintenance": LEASE}, status=201)
    words = ["maintenance", "create", "new disks", "--host", "compute-1", "--host", "2"]
    assert openstack(*words, "--duration", "4h").status == 0
    assert openstack(*words, "--start", "s", "--end", "e").status == 0
    name_and_hosts = {"name": "new disks", "hosts": ["compute-1", "2"]}
    assert [asked.body for asked in service.asked] == [
        name_and_hosts | {"start_date": "now", "duration": "4h"},
        name_and_hosts | {"start_date": "s", "end_date": "e"},
    ]
    service.will_answer("GET", "/v1/maintenances", {"maintenances": [LEASE]})
    (row,) = openstack("maintenance", "list", "-f", "json").document
    assert row["Hosts"] == ["compute-1"]
    assert {asked.version for asked in service.asked} == {"reservation 1.8"}


def test_series_are_created_shown_and_deleted(service: Service, openstack: Openstack) -> None:
    series = {"id": ID, "name": "weekly", "rule": "FREQ=WEEKLY;COUNT=3", "project_id": "p", "created_at": None}
    service.will_answer("POST", "/v1/series", {"series": {**series, "leases": ["a"], "refused": []}}, status=201)
    words = ["--nodes", "vcpus=1", "--start", "2030-01-01", "--duration", "1h", "--rule", "FREQ=WEEKLY;COUNT=3"]
    assert openstack("series", "create", "weekly", *words, "-f", "json").document["leases"] == ["a"]
    assert service.asked[-1].body == {
        "name": "weekly",
        "rule": "FREQ=WEEKLY;COUNT=3",
        "lease": {
            "name": "weekly",
            "nodes": [{"count": 1, "resources": {"VCPU": 1}}],
            "start_date": "2030-01-01",
            "duration": "1h",
        },
    }
    service.will_answer("GET", "/v1/series", {"series": [series]})
    assert openstack("series", "list", "-f", "json").document[0]["Rule"] == "FREQ=WEEKLY;COUNT=3"
    service.will_answer("GET", f"/v1/series/{ID}", {"series": {**series, "leases": ["a"]}})
    assert openstack("series", "show", "weekly", "-f", "json").document["leases"] == ["a"]
    service.will_answer("DELETE", f"/v1/series/{ID}", "", status=204)
    assert openstack("series", "delete", "weekly").status == 0
    assert service.asked[-1].method == "DELETE"
    assert {asked.version for asked in service.asked} == {"reservation 1.9"}
    assert openstack("series", "create", "weekly", *words, "--time-zone", "Europe/Berlin", "-f", "json").status == 0
    assert (service.asked[-1].body["time_zone"], service.asked[-1].version) == ("Europe/Berlin", "reservation 1.36")


def test_a_refusal_is_one_line_with_its_alternatives(service: Service, openstack: Openstack) -> None:
    refusal = {
        "error_code": 409,
        "error_name": 409,
        "error_message": "Not enough hosts available",
        "alternatives": [
            {"change": "start", "start": "2030-01-01T00:00:00Z", "end": None, "count": None},
            {"change": "count", "start": None, "end": None, "count": 1},
        ],
    }
    service.will_answer("POST", "/v1/leases", refusal, status=409)
    outcome = openstack("create", "night", "--nodes", "vcpus=1", "--duration", "1h", "--kind", "immediate")
    assert outcome.status == 1
    assert outcome.errors == (
        "Not enough hosts available. Possible: change start, start 2030-01-01T00:00:00Z; change count, count 1 "
        "(HTTP 409)\n"
    )
    assert outcome.output == ""


def test_an_unexpected_answer_is_one_line_too(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", f"/v1/leases/{ID}", "<h1>Bad\nGateway</h1>", status=502)
    outcome = openstack("show", ID)
    assert (outcome.status, outcome.errors) == (1, "HTTP 502: <h1>Bad Gateway</h1>\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["create", "night", "--nodes", "vcpus=none"], "argument --nodes: vcpus: none is not a whole number"),
        (["create", "night", "--kind", "eternal"], "argument --kind: invalid choice: 'eternal'"),
        (["list", "--limit", "0"], "argument --limit: 0 is not a whole number of at least 1"),
        (["extend", ID], "one of the arguments --by --end --duration is required"),
        (["extend", ID, "--by", "1h", "--end", "x"], "not allowed with argument --by"),
        (["availability"], "the following arguments are required: --nodes"),
        (["maintenance", "create", "x", "--duration", "1h"], "the following arguments are required: --host"),
    ],
)
def test_a_wrong_command_line_sends_no_request(
    service: Service, openstack: Openstack, words: list[str], problem: str
) -> None:
    outcome = openstack(*words)
    assert outcome.status == 2
    assert problem in outcome.errors.splitlines()[-1]
    assert service.asked == []


def test_the_help_for_listing_hosts_names_no_administrators(openstack: Openstack) -> None:
    """As the policy of the service says: any reader of the project may list them."""
    assert "admin" not in openstack("host", "list", "--help").output.partition("output formatters")[0]


def test_create_has_a_help_text(openstack: Openstack) -> None:
    outcome = openstack("create", "--help")
    assert outcome.status == 0
    assert "Request a lease" in outcome.output
    assert "--deadline <date>" in outcome.output


def test_subscriptions_are_created_listed_and_deleted(service: Service, openstack: Openstack) -> None:
    path = f"/v1/subscriptions/{ID}"
    subscription: dict[str, Any] = {
        "id": ID,
        "driver": "mail",
        "target": "user@example.org",
        "secret": None,
        "event_types": [],
    }
    service.will_answer("POST", "/v1/subscriptions", {"subscription": subscription}, status=201)
    service.will_answer("GET", "/v1/subscriptions", {"subscriptions": [subscription]})
    service.will_answer("GET", path, {"subscription": subscription})
    service.will_answer("DELETE", path, {}, status=204)
    words = ["--event", "lease.create", "--event", "lease.delete", "--lease", ID]
    assert openstack("subscription", "create", "--mail", "user@example.org", *words).status == 0
    assert openstack("subscription", "create", "--webhook", "https://192.0.2.1/").status == 0
    assert openstack("subscription", "create").status == 2
    assert openstack("subscription", "list", "--all-projects").status == 0
    assert openstack("subscription", "show", ID).status == 0
    assert openstack("subscription", "delete", ID).status == 0
    assert [asked.body for asked in service.asked[:2]] == [
        {
            "driver": "mail",
            "target": "user@example.org",
            "event_types": ["lease.create", "lease.delete"],
            "lease_id": ID,
        },
        {"driver": "webhook", "target": "https://192.0.2.1/"},
    ]
    assert service.asked[2].query == {"all_projects": "true"}
    assert sent(service)[2:] == [
        ("GET", "/v1/subscriptions", "reservation 1.20"),
        ("GET", path, "reservation 1.20"),
        ("DELETE", path, "reservation 1.20"),
    ]


def test_feeds_are_created_listed_and_deleted(service: Service, openstack: Openstack) -> None:
    feed = {"id": ID, "project_id": "p", "user_id": "u", "name": "phone", "created_at": None}
    service.will_answer("POST", "/v1/feeds", {"feed": {**feed, "url": "https://192.0.2.1/secret"}}, status=201)
    service.will_answer("GET", "/v1/feeds", {"feeds": [feed]})
    service.will_answer("DELETE", f"/v1/feeds/{ID}", {}, status=204)
    made = openstack("feed", "create", "phone")
    assert (made.status, "https://192.0.2.1/secret" in made.output) == (0, True)
    assert openstack("feed", "create").status == 2
    assert openstack("feed", "list", "-f", "value").output == f"{ID} phone u None\n"
    assert openstack("feed", "list", "--all-projects", "-f", "value").output == f"{ID} phone p u None\n"
    assert openstack("feed", "delete", ID).status == 0
    assert service.asked[0].body == {"name": "phone"}
    assert [asked.query for asked in service.asked[1:3]] == [{}, {"all_projects": "true"}]
    assert sent(service) == [
        ("POST", "/v1/feeds", "reservation 1.22"),
        ("GET", "/v1/feeds", "reservation 1.22"),
        ("GET", "/v1/feeds", "reservation 1.22"),
        ("DELETE", f"/v1/feeds/{ID}", "reservation 1.22"),
    ]


def test_flows_are_shown_and_changed(service: Service, openstack: Openstack) -> None:
    flow = {
        "name": "p",
        "policy": "winks",
        "weight": 30.0,
        "weight_source": "set",
        "share": 0.3,
        "share_of_last_day": 0.41,
        "owed_host_hours": 2.5,
        "queued": 1,
        "leases": [{"lease_id": ID, "position": 1, "expected_start": "2030-01-31T14:20:00Z"}],
    }
    service.will_answer("GET", "/v1/flows", {"flows": [flow]})
    service.will_answer("GET", "/v1/flows/p", {"flow": flow})
    service.will_answer("PUT", "/v1/flows/p", {"flow": flow})
    service.will_answer("PUT", "/v1/flows/p", {"flow": {**flow, "weight": None}})

    listed = openstack("flow", "list", "--all-projects")
    assert (listed.status, "0.41" in listed.output) == (0, True)
    shown = openstack("flow", "show", "p")
    assert (shown.status, "14:20" in shown.output) == (0, True)
    assert openstack("flow", "set", "p", "--weight", "30").status == 0
    assert openstack("flow", "set", "p", "--no-weight").status == 0
    assert openstack("flow", "set", "p").status != 0
    assert openstack("flow", "set", "p", "--weight", "many").status == 2
    assert [each.body for each in service.asked[2:]] == [{"weight": 30.0}, {"weight": None}]
    assert sent(service)[0] == ("GET", "/v1/flows", "reservation 1.25")


def test_budgets_have_a_line_each(service: Service, openstack: Openstack) -> None:
    amounts = {"limit": 100.0, "used": 20.0, "reserved": 30.0, "requested": 0.0, "left": 50.0}
    line = {"start": "2030-03-01T00:00:00Z", "end": "2030-04-01T00:00:00Z", "measure": "node_hours", **amounts}
    service.will_answer("GET", "/v1/budget", {"budget": {"project_id": "p", "lines": [line]}})
    (row,) = openstack("budget", "--project", "p", "-f", "json").document
    assert (row["Measure"], row["Reserved"], row["Left"]) == ("node_hours", 30.0, 50.0)
    service.will_answer("GET", "/v1/budget", {"budget": {"project_id": "p", "lines": None}})
    assert openstack("budget", "-f", "json").document == []
    assert {asked.version for asked in service.asked} == {"reservation 1.41"}
    service.will_answer("POST", "/v1/quotes", {"quote": {"granted": True, "budget": [line]}})
    terms = ("x", "--kind", "immediate", "--nodes", "count=1,vcpus=1", "--duration", "1h", "--budget")
    assert openstack("quote", *terms, "-f", "json").document["budget"] == [line]
    assert service.asked[-1].version == "reservation 1.41"


def test_approvers_list_and_decide(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", "/v1/leases", {"leases": []})
    openstack("list", "--all-projects", "--state", "awaiting-approval", "-f", "json")
    service.will_answer("POST", f"/v1/leases/{ID}/action", {"lease": {"id": ID, "state": "ready"}})
    openstack("approve", ID, "-f", "json")
    openstack("decline", ID, "--reason", "too long", "-f", "json")
    assert [each.body for each in service.asked[1:]] == [{"approve": {}}, {"decline": {"reason": "too long"}}]
    assert {each.version for each in service.asked} == {"reservation 1.42"}


def test_quotes_and_leases_show_approval_on_request(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", "/v1/quotes", {"quote": {"granted": True, "approval": "it is large"}})
    terms = ("x", "--kind", "immediate", "--nodes", "count=1,vcpus=1", "--duration", "1h", "--approval")
    assert openstack("quote", *terms, "-f", "json").document["approval"] == "it is large"
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": {"id": ID, "approval": "awaiting"}})
    assert openstack("show", ID, "--approval", "-f", "json").document["approval"] == "awaiting"
    assert {each.version for each in service.asked} == {"reservation 1.42"}
