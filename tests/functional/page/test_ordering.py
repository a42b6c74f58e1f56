"""What a tenant orders with the form besides a plain lease, on the real service: series, holds, flavors, servers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.functional.page.browser import Page
from tests.functional.page.live import Document, Live, Make, date

_FORM = "#booking-form [name={}]"
_DAY = 86_400


def _unfold(page: Page, part: str) -> None:
    """Open a part of the form by its heading."""
    (summary,) = [each for each in page.all("#booking summary") if each.text == part]
    _press(page, summary, Keys.ENTER)


def _press(page: Page, element: WebElement, key: str) -> None:
    """Press a key at an element, which the browser brings into sight above the foot of the form."""
    page.script("arguments[0].focus()", element)
    page.press(key)


def _fill(page: Page, **values: str) -> None:
    page.one("#book").click()
    for name, value in values.items():
        page.enter(_FORM.format(name), value)


def _terms(start: int) -> dict[str, str]:
    return {"start_date": date(start)[:16], "end_date": date(start + 3600)[:16]}


def _opened(page: Page, live: Live, name: str) -> Document:
    """Return the lease whose details the page opens."""
    page.until(lambda: page.shown("#details") and page.text("#details-title") == name)
    lease = page.until(lambda: page.script("return new URLSearchParams(location.hash.slice(1)).get('lease')"))
    found: Document = live.ask("GET", f"leases/{lease}")["lease"]
    return found


def _repeat(page: Page, every: str, **values: str) -> None:
    _unfold(page, "Repeat")
    page.enter(_FORM.format("repeat"), every)
    for name, value in values.items():
        page.enter(_FORM.format(name), value)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_series_is_booked(make: Make, look: Callable[..., Page], width: int) -> None:
    """The leases are those of the rule, and the first one opens."""
    live = make(2, 1)
    page = look(live)
    page.resize(width, 844)
    start = live.now() + 3600
    _fill(page, name="course", **_terms(start))
    assert page.shown("#booking .hold")
    _repeat(page, "daily", repeat_count="3")
    assert not page.shown("#booking .hold")
    assert not page.one(_FORM.format("repeat_until")).is_enabled()
    page.one("#booking-form [type=submit]").click()
    first = _opened(page, live, "course")
    (series,) = live.ask("GET", "series")["series"]
    assert (series["name"], series["rule"], series["time_zone"]) == ("course", "FREQ=DAILY;COUNT=3", None)
    leases = live.ask("GET", f"leases?series_id={series['id']}&sort_key=start&sort_dir=asc")["leases"]
    assert [each["start_date"][:16] for each in leases] == [date(start + day * _DAY)[:16] for day in range(3)]
    assert first["id"] == leases[0]["id"]


def test_a_series_until_a_day_by_local_clocks(make: Make, look: Callable[..., Page]) -> None:
    """Weekdays only, in the time zone of the viewer; the day is included."""
    live = make(2, 1)
    page = look(live)
    page.live_in("Europe/Berlin")
    _fill(page, name="course", **_terms(live.now() + 3600))
    until = date(live.now() + 20 * _DAY)[:10]
    _repeat(page, "weekdays", repeat_until=until)
    tick = page.one(_FORM.format("repeat_local"))
    assert "By the clocks of Europe/Berlin" in [label.text for label in page.all("#booking .tick")]
    _press(page, tick, Keys.SPACE)
    page.one("#booking-form [type=submit]").click()
    _opened(page, live, "course")
    (series,) = live.ask("GET", "series")["series"]
    assert series["rule"] == f"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL={until.replace('-', '')}"
    assert series["time_zone"] == "Europe/Berlin"
    assert len(live.ask("GET", f"leases?series_id={series['id']}")["leases"]) >= 14


def test_refused_leases_of_a_series_are_named(make: Make, look: Callable[..., Page]) -> None:
    """What cannot be had is said with its reason, and the rest is booked."""
    live = make(2, 1)
    start = live.now() // 60 * 60 + 7200
    live.lease("exam", "reservation", 2, start_date=date(start + _DAY), duration=3600)
    page = look(live)
    _fill(page, name="course", VCPU="8", count="2", **_terms(start))
    _repeat(page, "daily", repeat_count="3")
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: "2 leases of the series course booked." in page.text("#booking .quote"))
    day = datetime.fromisoformat(date(start + _DAY)).strftime("%-d %b %Y, %H:%M UTC")
    assert "1 refused:" in page.text("#booking .quote")
    assert day in page.text("#booking .quote")
    assert len(live.ask("GET", "leases?name=course")["leases"]) == 2


def test_a_series_needs_an_end(make: Make, look: Callable[..., Page]) -> None:
    live = make(1, 1)
    page = look(live)
    _fill(page, name="course", **_terms(live.now() + 3600))
    _repeat(page, "weekly")
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: "Give how often the lease repeats" in page.text("#booking"))
    assert page.focus() == "repeat_count"
    assert live.ask("GET", "series")["series"] == []


def test_a_hold_is_accepted(make: Make, look: Callable[..., Page]) -> None:
    """The details say until when the lease is held; accepting makes it a lease."""
    live = make(2, 1)
    page = look(live)
    _fill(page, name="course", **_terms(live.now() + 3600))
    page.one("#booking .hold").click()
    held = _opened(page, live, "course")
    assert held["expires_at"] is not None
    instant = datetime.fromisoformat(held["expires_at"])
    assert f"{instant:%H:%M:%S} UTC" in page.text("#details .lease")
    assert "Held until" in page.text("#details .lease")
    page.until(lambda: page.one("#details [data-action=accept]")).click()
    page.one("#change-form [type=submit]").click()
    page.until(lambda: "Accept, done" in page.text("#announcements"))
    assert live.ask("GET", f"leases/{held['id']}")["lease"]["expires_at"] is None


@pytest.mark.parametrize("width", [1280, 390])
def test_a_hold_is_rejected(make: Make, look: Callable[..., Page], width: int) -> None:
    """The lease is over then, and others can have its place; "Back" rejects nothing."""
    live = make(1, 1)
    page = look(live)
    page.resize(width, 844)
    terms = _terms(live.now() + 3600)
    _fill(page, name="course", VCPU="8", **terms)
    page.one("#booking .hold").click()
    held = _opened(page, live, "course")
    body = {"name": "exam", "nodes": [{"count": 1, "resources": {"VCPU": 8}}], **terms}
    assert live.ask("POST", "quotes", body)["quote"]["granted"] is False
    page.push("#details [data-action=reject]")
    page.one("#change-form .back").click()
    assert live.ask("GET", f"leases/{held['id']}")["lease"]["state"] == "ready"
    page.push("#details [data-action=reject]")
    page.one("#change-form [type=submit]").click()
    page.until(lambda: "Reject, done" in page.text("#announcements"))
    rejected = live.ask("GET", f"leases/{held['id']}?deleted=1")["lease"]
    assert rejected["state"] == "rejected-by-user"
    page.until(lambda: not page.shown("#details .changes"))
    assert "turned down" in page.text("#details")
    assert live.ask("POST", "quotes", body)["quote"]["granted"] is True


def test_a_hold_that_is_impossible(make: Make, look: Callable[..., Page]) -> None:
    """The form stays open with the reason, and nothing is held. Kinds that start now or wait cannot be held."""
    live = make(1, 1)
    page = look(live)
    _fill(page, name="course", count="5", VCPU="8", **_terms(live.now() + 3600))
    page.one("#booking .hold").click()
    page.until(lambda: "Not possible" in page.text("#booking .quote"))
    assert live.ask("GET", "leases")["leases"] == []
    for kind, can in (("immediate", False), ("best-effort", False), ("deadline", True)):
        page.one(f"{_FORM.format('kind')}[value={kind}]").click()
        assert page.shown("#booking .hold") is can


def test_a_flavor_gives_the_size(make: Make, look: Callable[..., Page]) -> None:
    """The fields of the size are of no use then, and the lease has nodes of the flavor."""
    live = make(2, 1)
    page = look(live)
    _fill(page, name="course", count="2", **_terms(live.now() + 3600))
    _unfold(page, "More about the nodes")
    page.enter(_FORM.format("flavor"), "2")
    assert not page.one(_FORM.format("VCPU")).is_enabled()
    page.until(lambda: "Possible." in page.text("#booking .quote"))
    page.one("#booking-form [type=submit]").click()
    (reservation,) = _opened(page, live, "course")["reservations"]
    assert (reservation["resource_type"], reservation["amount"]) == ("flavor:instance", 2)
    assert reservation["vcpus"] == 1
    assert reservation["memory_mb"] == 2048


def test_an_unknown_flavor_is_said_at_its_field(make: Make, look: Callable[..., Page]) -> None:
    live = make(1, 1)
    page = look(live)
    _fill(page, name="course", **_terms(live.now() + 3600))
    _unfold(page, "More about the nodes")
    page.enter(_FORM.format("flavor"), "no-such-flavor")
    page.until(lambda: "no-such-flavor" in page.text("#booking"))
    assert "Possible." not in page.text("#booking .quote")


def test_servers_and_description(make: Make, look: Callable[..., Page]) -> None:
    """The lease has what the service is to boot, and the details show it."""
    live = make(2, 1)
    page = look(live)
    _fill(page, name="course", count="2", DISK_GB="10", **_terms(live.now() + 3600))
    _unfold(page, "Servers")
    page.enter(_FORM.format("server_name"), "web")
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: "Give an image for the servers." in page.text("#booking"))
    assert page.focus() == "server_image"
    page.enter(_FORM.format("server_image"), "0c6b6d5a")
    page.enter(_FORM.format("server_network"), "net-1")
    page.enter(_FORM.format("server_key"), "mine")
    _unfold(page, "Description")
    page.enter(_FORM.format("description"), "Practical course")
    page.one("#booking-form [type=submit]").click()
    lease = _opened(page, live, "course")
    assert lease["description"] == "Practical course"
    (server,) = lease["servers"]
    assert (server["name"], server["image_id"]) == ("web", "0c6b6d5a")
    assert (server["networks"], server["key_name"]) == ([{"network_id": "net-1"}], "mine")
    page.until(lambda: "Practical course" in page.text("#details .terms"))
    assert "web, from image 0c6b6d5a" in page.text("#details .terms")
