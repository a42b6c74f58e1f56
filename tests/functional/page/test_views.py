"""Queue, table, filters, counts and details."""

from __future__ import annotations

import pytest
from selenium.webdriver import Keys

from tests.functional.page.browser import Page
from tests.functional.page.service import HOUR, NOW, Document, Service, holding, host, lease

#: The dash that stands for no value.
NONE = "\N{EN DASH}"


def test_counts(page: Page, sight: Service) -> None:
    """Leases are counted by group of states, hosts by whether a lease holds them now."""
    page.open()
    # Being resumed or suspended is active: hosts are held.
    assert page.text("#count-active") == "4"
    assert page.text("#count-planned") == "1"
    assert page.text("#count-queued") == "1"
    assert page.text("#count-suspended") == "1"
    assert page.text("#use") == "50 %"
    assert float(page.one("#use-bar").get_attribute("value") or 0) == 0.5
    assert page.text("#matches") == "8 leases"


def test_what_is_not_loaded_is_counted(page: Page, sight: Service) -> None:
    """Counts are of all leases that there are, and the table says which of them it has."""
    sight.elsewhere = {"scheduled": 3, "ready": 1, "done": 1200}
    page.open("#view=leases&start=1772438400")
    assert page.text("#count-planned") == "5"
    assert page.text("#matches") == "8 of 1,212 leases loaded"
    page.until(lambda: "start=" in sight.paths()[-1])
    page.says(
        "#view-leases caption",
        "8 of 1,212 leases: those from 1 Mar 2026, 08:00 to 4 Mar 2026, 08:00, and those that wait. Times are UTC.",
    )
    page.one("#filter-form input[value=best-effort]").click()
    page.says("#matches", "3 of 1,212 leases shown")


def test_leases_at_other_times_are_mentioned(page: Page, service: Service) -> None:
    """A time without leases is not a site without leases."""
    service.elsewhere = {"scheduled": 1}
    page.open()
    assert page.text("#message h2") == "There are no leases at this time"
    assert page.text("#message p") == "There is 1 lease at other times. Move the timeline or zoom out."


def test_finished_lease_has_nothing_remaining(page: Page, sight: Service) -> None:
    """A lease that ended early has not had its whole duration, and will not have the rest."""
    sight.change("nightly", duration=86_400, accumulated=HOUR)
    sight.change("mesh", duration=86_400, accumulated=HOUR)
    page.open("#lease=id-nightly")
    assert "Duration" in page.text("#details .lease")
    assert "Remaining" not in page.text("#details .lease")
    page.open("#lease=id-mesh")
    assert "Remaining\n23 h" in page.text("#details .lease")


def test_details_tell_the_next_suspension_from_the_end(page: Page, sight: Service) -> None:
    """What is left after it is planned, or waits, or has to be done by a deadline."""
    cut, rest = holding(-1, 2, [1], suspend=60), holding(4, 5, [1])
    sight.put(
        lease("planned", "deadline", "active", holdings=[cut, rest], deadline=NOW + 9 * HOUR),
        lease("waits", "best-effort", "active", holdings=[cut], end=NOW + 6 * HOUR),
        lease("due", "deadline", "active", holdings=[cut], end=NOW + 6 * HOUR, deadline=NOW + 9 * HOUR),
    )
    ends = {
        "planned": "End\nMon, 2 Mar 2026, 17:00:00 UTC",
        "waits": "End\nat the earliest Mon, 2 Mar 2026, 18:00:00 UTC",
        "due": "End\nbetween Mon, 2 Mar 2026, 18:00:00 UTC and the deadline",
    }
    for name, end in ends.items():
        page.open(f"#project=&lease=id-{name}")
        text = page.text("#details .lease")
        assert "Runs until\nMon, 2 Mar 2026, 13:59:00 UTC, then suspended" in text
        assert end in text


def test_viewers_time_is_beside_utc(page: Page, sight: Service) -> None:
    """In the head, the details and the tooltip; where the viewer lives in UTC, nothing is repeated."""
    page.open("#lease=id-course&rows=24")
    assert page.text("#local") == ""
    page.live_in("America/New_York")
    page.open("#lease=id-course&rows=24")
    assert page.text("#local") == "Mon 07:00 GMT-5 where you are"
    assert "Mon, 2 Mar 2026, 10:00:00 UTC, Mon 05:00 GMT-5" in page.text("#details .lease")
    x, y, width, height = page.boxes("course")[0]
    page.move_to(x + width / 2, y + height / 2).perform()
    page.until(lambda: "Mon 05:00 GMT-5 to Mon 11:00 GMT-5 where you are" in page.text("#tip"))


def test_hosts_that_are_down_are_not_counted(page: Page, service: Service) -> None:
    """The share of hosts in use refers to the usable hosts."""
    service.set_hosts([host(1), host(2), host(3, "down"), host(4, "disabled")])
    service.put(lease("one", "reservation", "active", holdings=[holding(-1, 1, [1])]))
    page.open()
    assert page.text("#use") == "50 %"


def test_queue(page: Page, sight: Service) -> None:
    """The queue shows waiting leases in order, with position, size, waiting time and remaining duration."""
    sight.put(lease("late", "best-effort", "queued", queue_position=10, submitted=NOW - HOUR))
    page.open()
    assert page.text("#queue-count") == "3"
    page.one("#tab-queue").click()
    assert page.names("queue") == ["mesh", "genome", "late"]
    assert page.cells("queue", "genome") == [
        "genome", "2", "waiting in the queue", "physics", "64", "2 Mar 2026, 02:00", "10 h", "1 h 30 min", NONE,
    ]  # fmt: skip
    assert page.cells("queue", "mesh")[-1] == "2 Mar 2026, 15:00"
    page.until(lambda: page.driver.current_url.endswith("#view=queue"))


def test_queue_is_empty(page: Page, service: Service) -> None:
    """An empty queue says so."""
    service.put(lease("one", "reservation", "active", holdings=[holding(-1, 1, [1])]))
    page.open("#view=queue")
    assert page.text("#view-queue .none") == "No leases are waiting."


def test_table_has_all_leases(page: Page, sight: Service) -> None:
    """The table is equivalent to the chart: every lease with its kind, state and times."""
    page.open("#view=leases")
    assert len(page.names("leases")) == 8
    assert page.cells("leases", "course") == [
        "course", "reservation", "active", "physics", "1", "2 Mar 2026, 10:00", "2 Mar 2026, 16:00", NONE,
        "2 Mar 2026, 02:00",
    ]  # fmt: skip


def test_table_sorts(page: Page, sight: Service) -> None:
    """A header sorts by its column, and the second time in reverse; missing values come last both times."""
    page.open("#view=leases")
    head = "#view-leases thead th:nth-child({}) button"
    page.one(head.format(1)).click()
    names = page.names("leases")
    assert names == sorted(names)
    assert page.one("#view-leases thead th:nth-child(1)").get_attribute("aria-sort") == "ascending"
    page.one(head.format(1)).click()
    assert page.names("leases") == sorted(names, reverse=True)
    page.one(head.format(6)).click()
    assert page.names("leases")[:3] == ["render", "course", "demo"]
    assert set(page.names("leases")[-2:]) == {"nightly", "genome"}
    page.one(head.format(6)).click()
    assert page.names("leases")[0] == "mesh"
    assert set(page.names("leases")[-2:]) == {"nightly", "genome"}
    assert page.one("#view-leases thead th:nth-child(1)").get_attribute("aria-sort") is None


def test_table_pages(page: Page, service: Service) -> None:
    """A page has a hundred leases; sorting goes back to the first page."""
    service.put(*(lease(f"job-{number}", "best-effort", "queued", queue_position=number) for number in range(1, 251)))
    page.open("#view=queue")
    assert page.names("queue")[0] == "job-1"
    assert len(page.names("queue")) == 100
    assert page.text("#view-queue .pager span") == "1 to 100 of 250"
    back, forth = page.all("#view-queue .pager button")
    assert not back.is_enabled()
    forth.click()
    forth.click()
    assert page.names("queue")[-1] == "job-250"
    assert not forth.is_enabled()
    page.one("#view-queue thead button").click()
    assert page.text("#view-queue .pager span") == "1 to 100 of 250"


def test_row_keeps_the_focus_while_the_table_changes(page: Page, sight: Service) -> None:
    """A lease that moves to another row keeps the focus, and the rows stay sorted."""
    page.open("#view=queue")
    page.script("document.querySelector('[data-lease=id-genome]').focus()")
    sight.change("mesh", queue_position=5)
    page.until(lambda: page.names("queue") == ["genome", "mesh"])
    sight.change("genome", queue_position=9)
    page.until(lambda: page.names("queue") == ["mesh", "genome"])
    assert page.focus() == "id-genome"


def test_filters_are_shared_and_kept_in_the_address(page: Page, sight: Service) -> None:
    """Filters apply to all views, are stored in the address, and are restored from it."""
    page.open()
    page.one("input[value=best-effort]").click()
    page.one("input[name=state][value=planned]").click()
    assert page.text("#matches") == "2 of 8 leases shown"
    page.one("#tab-leases").click()
    assert sorted(page.names("leases")) == ["course", "demo"]
    page.until(
        lambda: page.driver.current_url.endswith(
            "#view=leases&kind=reservation,immediate,deadline&state=active,queued,suspended,past"
        )
    )
    page.open(page.driver.current_url.removeprefix(page.url))
    assert sorted(page.names("leases")) == ["course", "demo"]
    assert not page.one("input[value=best-effort]").is_selected()
    page.one("[name=clear]").click()
    assert len(page.names("leases")) == 8
    assert page.focus() == "name"
    assert not page.shown("[name=clear]")
    page.until(lambda: page.driver.current_url.endswith("#view=leases"))


def test_filter_by_name_id_and_project(page: Page, sight: Service) -> None:
    """Any part of the name, the whole id, or one of the projects."""
    page.open("#view=leases")
    field = page.one("#filter-form [name=name]")
    field.send_keys("ES")
    assert page.names("leases") == ["mesh"]
    field.clear()
    field.send_keys("id-paper")
    assert page.names("leases") == ["paper"]
    field.clear()
    page.one("#filter-form [name=project] option[value=biology]").click()
    assert sorted(page.names("leases")) == ["demo", "nightly"]
    page.until(lambda: "project=biology" in page.driver.current_url)


def test_filtered_leases_are_shadows(page: Page, sight: Service) -> None:
    """A host is not free because its lease is filtered out: a grey shadow stays, which cannot be opened."""
    page.open("#rows=24&kind=immediate")
    x, y, width, height = page.boxes("course")[0]
    assert page.pixel(x + width * 0.85, y + height / 2) == (0xE1, 0xE5, 0xEC)
    page.click("course", 0.85)
    assert not page.shown("#details")


def test_no_match(page: Page, sight: Service) -> None:
    """If filters leave nothing, the page says so, and they can be cleared there."""
    page.open("#name=nothing")
    assert page.text("#message h2") == "No lease matches the filters"
    page.one("#message button").click()
    assert not page.shown("#message")
    assert page.text("#matches") == "8 leases"


def test_filter_of_nothing_stays(page: Page, sight: Service) -> None:
    """No kind ticked differs from all kinds ticked."""
    page.open("#kind=")
    assert page.text("#matches") == "0 of 8 leases shown"


def test_address_changed_by_hand(page: Page, sight: Service) -> None:
    """A new hash takes effect without a reload; invalid parts of it are ignored."""
    page.open()
    page.script("location.hash = '#view=leases&name=mesh&span=-5&rows=x&state=planned,nonsense,suspended'")
    page.until(lambda: page.names("leases") == ["mesh"])
    assert page.one("#filter-form [name=name]").get_attribute("value") == "mesh"
    assert page.script("return calendar.timeline.span") == 86_400


def test_details_by_mouse(page: Page, sight: Service) -> None:
    """A click on a bar opens terms, holdings and history; a click on the cross closes them."""
    sight.history["id-course"] = [
        {"time": "2026-03-02T10:00:00+00:00", "from": None, "to": "new", "reason": ""},
        {"time": "2026-03-02T10:00:05+00:00", "from": "ready", "to": "active", "reason": "the start has come"},
        {
            "time": "2026-03-02T11:00:00+00:00",
            "from": "active",
            "to": "active",
            "reason": "changed: name course",
            "user_id": "ada",
            "by_operator": False,
        },
        {"time": "2026-03-02T12:00:00+00:00", "from": "active", "to": "active", "reason": "", "by_operator": True},
    ]
    sight.reservations["id-course"] = [
        {"id": "r1", "resource_type": "virtual:instance", "status": "active", "vcpus": 4, "affinity": None, "amount": 2}
    ]
    page.open("#rows=24")
    page.click("course")
    page.until(lambda: "the start has come" in page.text(".history"))
    assert page.text("#details-title") == "course"
    text = page.text("#details")
    for expected in (
        "reservation",
        "active",
        "physics",
        "Mon, 2 Mar 2026, 10:00:00",
        "runs for 6 h",
        "node-1",
        "id-course",
    ):
        assert expected in text
    steps = [item.text.split("\n")[0] for item in page.all(".history li span")]
    assert steps == ["active", "active", "ready to start → active", "just requested"]
    assert "changed: name course (by user ada)" in page.text(".history")
    assert "(by an operator)" in page.text(".history")
    terms = page.text(".terms")
    assert "virtual:instance" in terms
    assert "VCPUs\n4" in terms
    assert "affinity" not in terms
    page.until(lambda: "lease=id-course" in page.driver.current_url)
    page.one("#details .close").click()
    assert not page.shown("#details")
    page.until(lambda: "lease" not in page.driver.current_url)


def test_devices_and_idleness_are_among_the_details(page: Page, sight: Service) -> None:
    """Groups of nested resource providers are in words; what a reservation does not ask for is left out."""
    groups = [{"resources": {"VGPU": 1}, "traits": ["CUSTOM_A100"]}, {"resources": {"PCI": 2, "NET": 1000}}]
    terms = {"resources": {"VCPU": 4, "MEMORY_MB": 8192}, "traits": [], "groups": groups, "per_host": None}
    sight.reservations["id-course"] = [{"id": "r1", "resource_type": "virtual:instance", "status": "active", **terms}]
    sight.terms["id-course"] = {"idle_since": "2026-03-02T11:00:00Z"}
    page.open("#lease=id-course")
    page.until(lambda: "Idle since\nMon, 2 Mar 2026, 11:00:00 UTC" in page.text(".terms"))
    text = page.text(".terms")
    assert "Resources\n4 VCPU, 8,192 MEMORY_MB\n" in text
    assert "Groups\n1 VGPU with CUSTOM_A100; 2 PCI, 1,000 NET" in text
    assert "Traits" not in text
    assert "Per host" not in text


@pytest.mark.parametrize(
    ("terms", "told", "untold"),
    [
        pytest.param({"min": 30, "max": 30, "before_end": "default"}, "Hosts\n30\n", "efore end", id="one number"),
        pytest.param(
            {"min": 2, "max": 30, "before_end": "snapshot"}, "Hosts\n2 to 30\nBefore end\nsnapshot\n", "min", id="two"
        ),
        pytest.param({"since": "2026-03-02T11:00:00Z"}, "Since\nMon, 2 Mar 2026, 11:00:00 UTC\n", "T11", id="date"),
        pytest.param({"missing_resources": True}, "Missing resources\nyes\n", "true", id="yes"),
    ],
)
def test_terms_are_in_words(page: Page, sight: Service, terms: Document, told: str, untold: str) -> None:
    """Also the state, and dates in what the service says."""
    reservation = {"id": "r1", "resource_type": "physical:host", "status": "pending", **terms}
    sight.reservations["id-mesh"] = [reservation]
    sight.terms["id-mesh"] = {"expectation": "has started by 2026-03-03T10:00:00Z with 95 %"}
    sight.change("mesh", reason="its hosts fail until 2026-03-02T14:00:00Z")
    page.open("#lease=id-mesh")
    page.until(lambda: "Reservation" in page.text(".terms"))
    text = f"{page.text('.terms')}\n"
    assert "Status\nnot begun\n" in text
    assert told in text
    assert untold not in text
    assert "has started by Tue, 3 Mar 2026, 10:00:00 UTC with 95 %" in text
    assert page.text("#details .state") == "suspended, return planned"
    assert "its hosts fail until Mon, 2 Mar 2026, 14:00:00 UTC" in page.text("#details .lease")


def test_details_say_out_of_which_range_a_lease_has_its_nodes(page: Page, sight: Service) -> None:
    """Only the range while it waits for its turn."""
    sight.change("course", nodes=2, state="queued", node_range=[2, 1_400])
    sight.change("mesh", nodes=119, state="active", node_range=[2, 1_400])
    page.open("#lease=id-course")
    assert "Nodes\n2 to 1,400" in page.text("#details .lease")
    page.open("#lease=id-mesh")
    assert "Nodes\n119, of 2 to 1,400" in page.text("#details .lease")


def test_details_by_keys(page: Page, sight: Service) -> None:
    """n and p choose leases in the order of their starts and announce them, Enter opens, Esc closes and goes back."""
    page.open("#rows=24")
    page.go_to_chart()
    page.press("n")
    assert page.script("return calendar.timeline.selected") == "id-nightly"
    assert page.text("#announcements").startswith("nightly, best-effort, done")
    page.press("n", "n", "p")
    assert page.script("return calendar.timeline.selected") == "id-mesh"
    page.press(Keys.ENTER)
    assert page.text("#details-title") == "mesh"
    assert page.focus() == "details-title"
    page.press(Keys.ESCAPE)
    assert not page.shown("#details")
    assert page.focus() == "chart"


def test_details_from_a_table(page: Page, sight: Service) -> None:
    """A row opens the details by a key, and closing returns to it; the lease can be shown on the timeline."""
    page.open("#view=leases&span=3600")
    page.script("document.querySelector('#view-leases [data-lease=id-nightly]').focus()")
    page.press(Keys.ENTER)
    assert page.text("#details-title") == "nightly"
    page.press(Keys.ESCAPE)
    assert page.focus() == "id-nightly"
    page.press(Keys.ENTER)
    page.one("#details .show").click()
    assert page.shown("#chart")
    assert page.boxes("nightly")


@pytest.mark.parametrize("view", ["queue", "leases"])
def test_row_opens_the_details(page: Page, sight: Service, view: str) -> None:
    """A click anywhere in a row opens the details of its lease."""
    page.open(f"#view={view}")
    row = page.one(f"#view-{view} [data-lease=id-genome]").find_element("xpath", "ancestor::tr")
    row.find_elements("css selector", "td")[3].click()
    assert page.text("#details-title") == "genome"


def test_details_of_an_address(page: Page, sight: Service) -> None:
    """An address with a lease opens its details."""
    page.open("#view=queue&lease=id-genome")
    assert page.text("#details-title") == "genome"
    assert "None, now or planned." in page.text("#details")
    assert not page.shown("#details .show")


def test_details_follow_the_lease(page: Page, sight: Service) -> None:
    """A change appears in the open panel without taking the focus away; if a lease disappears, the panel says so."""
    page.open("#rows=24&lease=id-sweep")
    page.script("document.querySelector('#details .close').focus()")
    sight.change("sweep", state="active", reason="there is room again")
    page.until(lambda: "there is room again" in page.text("#details"))
    assert page.text("#details .state") == "active"
    assert page.script("return document.activeElement.className") == "close"
    sight.remove("sweep")
    page.until(lambda: "no longer on the calendar" in page.text("#details"))


def test_history_that_cannot_be_loaded(page: Page, sight: Service) -> None:
    """The panel shows the server's message and loads again at the press of a button; the rest stays."""
    page.open("#rows=24")
    sight.broken = 503
    page.click("course")
    page.until(lambda: "The terms and the history could not be loaded: The engine rests." in page.text(".history"))
    assert "runs for 6 h" in page.text("#details")
    sight.broken = None
    sight.reservations["id-course"] = [{"id": "r1", "resource_type": "virtual:instance", "vcpus": 4}]
    page.one(".history button").click()
    page.until(lambda: "VCPUs\n4" in page.text(".terms"))
    assert page.text(".history") == "Nothing has happened yet."
    assert page.focus() == "details-title"


def test_requests_carry_version_and_token(page: Page, sight: Service) -> None:
    """All requests ask for the latest microversion and have a token."""
    page.open("#lease=id-course")
    page.until(lambda: any(path.endswith("/history") for path in sight.paths()))
    for _, headers in sight.requests:
        assert headers["OpenStack-API-Version"] == "reservation latest"
        assert headers["X-Auth-Token"] == "noauth"
