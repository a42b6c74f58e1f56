"""The page on the real service: what is requested over REST appears without a reload and is updated."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from selenium.webdriver import Keys

from tests.functional.page.browser import Page
from tests.functional.page.live import Make, date, until

_SUSPENDED = {"suspended-queued", "suspended-scheduled", "suspended-pending"}


def _state(page: Page, lease_id: str) -> str | None:
    """Return the state of a lease as the page knows it."""
    found = page.script("return calendar.model.leases.get(arguments[0])?.state ?? null", lease_id)
    return None if found is None else str(found)


def _row(page: Page, lease_id: str) -> str:
    """Return the row of a lease in the table of leases."""
    source = (
        "return document.querySelector(`#view-leases [data-lease='${arguments[0]}']`)?.closest('tr').textContent ?? ''"
    )
    return str(page.script(source, lease_id))


def _painted(page: Page, lease_id: str) -> bool:
    return bool(page.script("return calendar.timeline.boxes(arguments[0]).length > 0", lease_id))


def test_new_lease_appears_and_ends(make: Make, look: Callable[..., Page]) -> None:
    """A lease is painted soon after its request, and its end is shown, whether it is ended over REST or by its time."""
    live = make(4, 150)
    page = look(live)
    assert page.text("#matches") == "0 leases"
    lease = live.lease("course", "immediate", 2, duration=86_400)
    short = live.lease("short", "immediate", 1, duration=600)
    page.until(lambda: _state(page, lease) == "active" and _painted(page, lease))
    page.until(lambda: page.text("#matches") == "2 leases")
    page.until(lambda: _state(page, short) == "done")
    live.ask("POST", f"leases/{lease}/action", {"end": {}})
    page.until(lambda: _state(page, lease) == "done")
    page.one("#tab-leases").click()
    page.until(lambda: "done" in _row(page, lease) and "done" in _row(page, short))
    page.one(f"#view-leases [data-lease='{lease}']").click()
    page.until(lambda: "done" in page.text(".history"))
    assert page.text("#details-title") == "course"


def test_a_host_that_sleeps_saves_energy(make: Make, look: Callable[..., Page]) -> None:
    live = make(2, 150, "[power]\nwatts_awake = 36000\npoll_interval = 0.1\n")
    page = look(live)
    assert not page.shown("#sleep")
    number = live.ask("GET", "os-hosts")["hosts"][1]["id"]
    live.ask("POST", f"os-hosts/{number}/action", {"sleep": {}})
    page.until(lambda: page.shown("#sleep") and page.text("#count-asleep") == "1")
    page.until(lambda: page.text("#saved").endswith("kWh saved"))
    live.ask("POST", f"os-hosts/{number}/action", {"wake": {}})
    page.until(lambda: page.text("#count-asleep") == "0")
    saved = live.ask("GET", f"os-hosts/{number}")["host"]["energy_saved_wh"]
    assert page.script("return calendar.model.sleep(0).saved") == pytest.approx(saved, abs=0.001)


def test_preempted_lease_shows_it(make: Make, look: Callable[..., Page]) -> None:
    """A best-effort lease that makes room for a reservation is shown as suspended, and later as active again."""
    live = make(4, 150)
    page = look(live)
    sweep = live.lease("sweep", "best-effort", 4, duration=14_400, preemptible=True)
    page.until(lambda: _state(page, sweep) == "active")
    course = live.lease("course", "reservation", 3, start_date=date(live.now() + 900), duration=900)
    page.until(lambda: _state(page, sweep) in _SUSPENDED)
    page.one("#tab-leases").click()
    page.until(lambda: "suspended" in _row(page, sweep))
    page.until(lambda: _state(page, course) == "active")
    assert live.state(sweep) in _SUSPENDED
    page.until(lambda: "active" in _row(page, course))
    page.one("#tab-timeline").click()
    until(lambda: _state(page, course) == "done")
    until(lambda: _state(page, sweep) == "active")
    phases = page.script("return calendar.model.leases.get(arguments[0]).past.map(({phase}) => phase)", sweep)
    assert "suspend" in phases


def test_outage_of_the_service(make: Make, look: Callable[..., Page]) -> None:
    """While the service is away, the page says so and shows what it knows; then it continues by itself."""
    live = make(4, 150)
    lease = live.lease("course", "immediate", 2, duration=86_400)
    page = look(live)
    page.until(lambda: _state(page, lease) == "active")
    live.service.kill()
    page.until(lambda: page.text("#status") != "Live")
    assert _painted(page, lease)
    live.service.start()
    page.until(lambda: page.text("#status") == "Live")
    assert _state(page, lease) == "active"


def test_thousand_hosts(make: Make, look: Callable[..., Page], capsys: pytest.CaptureFixture[str]) -> None:
    """A thousand hosts with 3,000 bars: all are there, the last host can be reached, and leases can be opened."""
    live = make(1000, 1)
    now = live.now()
    for number in range(60):
        start = date(now + 3600 + number // 20 * 7200)
        live.lease(f"lease-{number}", "reservation", 50, start_date=start, duration=7000)
    page = look(live)
    page.until(lambda: page.text("#matches") == "60 leases")
    assert page.script("return calendar.model.rows.length") == 1000
    page.one("[data-span=fit]").click()
    page.until(lambda: page.script("return calendar.timeline.painted") > 0)
    page.script("calendar.timeline.frames.length = 0")
    page.go_to_chart()
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_LEFT, "+", "-", "]", "]", Keys.PAGE_DOWN, "a", Keys.END):
        page.press(key)
        page.drawn()
    frames = sorted(page.script("return calendar.timeline.frames"))
    middle, most = frames[len(frames) // 2], frames[-1]
    with capsys.disabled():
        print(f"\n1,000 hosts, 60 leases of 50: {len(frames)} frames, median {middle:.1f} ms, most {most:.1f} ms")
    assert len(frames) >= 5
    # There are leases at the bottom of the chart too, because every host has three.
    assert page.script("return calendar.timeline.painted") > 0
    page.press("n")
    page.press(Keys.ENTER)
    page.until(lambda: page.shown("#details"))
    assert page.text("#details-title").startswith("lease-")


def test_without_a_mouse(make: Make, look: Callable[..., Page]) -> None:
    """From the address bar to the details of a lease and back with keys only; names and roles are there."""
    live = make(4, 1)
    live.lease("course", "immediate", 2, duration=86_400)
    page = look(live)
    page.until(lambda: page.text("#matches") == "1 lease")
    assert page.tab() == "skip"
    page.press(Keys.ENTER)
    assert page.focus() == "chart"
    page.press("n")
    page.until(lambda: "course" in page.text("#announcements"))
    page.press(Keys.ENTER)
    page.until(lambda: page.text("#details-title") == "course")
    page.press(Keys.ESCAPE)
    assert not page.shown("#details")
    assert page.focus() == "chart"
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    found = {(one["role"]["value"], one.get("name", {}).get("value", "")) for one in nodes if not one.get("ignored")}
    wanted = {
        ("heading", "Lease calendar"),
        ("main", ""),
        ("search", "Filter the leases"),
        ("tab", "Timeline"),
        ("tabpanel", "Timeline"),
        ("application", "Hosts over time"),
        ("switch", "Follow now"),
    }
    assert wanted - found == set()


@pytest.mark.parametrize("width", [1280, 390])
def test_alternative_is_booked(make: Make, look: Callable[..., Page], width: int) -> None:
    """What the page offers instead of a refused request is granted by the real service, and then shown."""
    live = make(4, 1)
    live.lease("course", "immediate", 4, duration=7200)
    page = look(live)
    page.resize(width, 844)
    page.one("#book").click()
    form = "#booking-form [name={}]"
    page.one(form.format("name")).send_keys("exam")
    page.enter(form.format("count"), "3")
    page.enter(form.format("VCPU"), "8")
    page.enter(form.format("start_date"), "")
    page.enter(form.format("end_date"), date(live.now() + 3600)[:16])
    page.until(lambda: "Not possible" in page.text("#booking .quote"))
    page.push("#booking .alternatives button:enabled")
    page.until(lambda: "Possible." in page.text("#booking .quote"))
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: page.text("#details-title") == "exam")
    lease = page.until(lambda: page.script("return new URLSearchParams(location.hash.slice(1)).get('lease')"))
    found = live.ask("GET", f"leases/{lease}")["lease"]
    assert (found["name"], found["kind"], found["state"]) == ("exam", "reservation", "ready")
    assert len(found["holdings"][0]["hosts"]) == 3


def _choose(page: Page, label: str) -> None:
    page.until(lambda: [one for one in page.all("#details .changes > .buttons button") if one.text == label])[0].click()


def test_lease_is_extended_as_far_as_possible(make: Make, look: Callable[..., Page]) -> None:
    """An extension that is refused has an alternative, which the real service grants."""
    live = make(4, 1)
    now = live.now()
    course = live.lease("course", "reservation", 4, start_date=date(now + 3600), duration=3600)
    live.lease("exam", "reservation", 4, start_date=date(now + 3 * 3600), duration=3600)
    page = look(live, f"#lease={course}")
    _choose(page, "Change the end")
    page.enter("#change-form [name=value]", date(now + 5 * 3600)[:16])
    page.until(lambda: "Not possible" in page.text("#change-form .quote"))
    page.until(lambda: [one for one in page.all("#change-form .alternatives button") if "End " in one.text])[0].click()
    page.until(lambda: "Possible." in page.text("#change-form .quote"))
    page.one("#change-form [type=submit]").click()
    page.until(lambda: "Extend, done" in page.text("#announcements"))
    end = live.ask("GET", f"leases/{course}")["lease"]["end_date"][:19]
    assert date(now + 2 * 3600)[:19] < end <= date(now + 3 * 3600)[:19]


def test_offers_are_accepted_and_rejected(make: Make, look: Callable[..., Page]) -> None:
    live = make(4, 1)
    now = live.now()
    nodes = [{"count": 2, "resources": {"VCPU": 8}}]
    offers = []
    for name in ("good", "bad"):
        body = {"name": name, "nodes": nodes, "start_date": date(now + 7200), "duration": 3600, "hold": True}
        offers.append(live.ask("POST", "quotes", body)["quote"]["lease_id"])
    page = look(live)
    page.one("#tab-leases").click()
    good, bad = offers
    _decide(page, good, "Accept")
    _decide(page, bad, "Reject")
    accepted, rejected = (live.ask("GET", f"leases/{offer}?deleted=1")["lease"] for offer in offers)
    assert (accepted["state"], accepted["expires_at"]) == ("ready", None)
    assert rejected["state"] == "rejected-by-user"


def _decide(page: Page, offer: str, label: str) -> None:
    page.until(lambda: page.all(f"#view-leases [data-lease='{offer}']"))[0].click()
    _choose(page, label)
    page.one("#change-form [type=submit]").click()
    page.until(lambda: f"{label}, done" in page.text("#announcements"))
