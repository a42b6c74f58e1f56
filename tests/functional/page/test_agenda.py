"""The agenda: what narrow windows show in place of the chart."""

from __future__ import annotations

from collections.abc import Callable

from tests.functional.page.browser import Page
from tests.functional.page.live import Make, date
from tests.functional.page.service import NOW, Service, holding, lease


def _days(page: Page) -> list[list[str]]:
    """Return the days, each with its heading and the names of its leases."""
    source = """
    return [...document.querySelectorAll("#agenda .days section")].map((day) =>
      [...day.querySelectorAll("h2, strong")].map(({ textContent }) => textContent));
    """
    found: list[list[str]] = page.script(source)
    return found


def test_leases_by_day(page: Page, sight: Service) -> None:
    """What runs comes first, then what is next; what is not planned is last, and what is over is left out."""
    sight.put(lease("monday", "reservation", "scheduled", holdings=[holding(24, 26, [8])]))
    page.resize(390, 844)
    page.open()
    page.until(lambda: _days(page))
    assert not page.shown("#chart")
    assert not page.shown("#tools")
    today, tomorrow, unplanned = _days(page)
    assert today == ["Mon, 2 Mar 2026", "render", "course", "demo", "sweep", "paper", "mesh"]
    assert tomorrow == ["Tue, 3 Mar 2026", "monday"]
    assert unplanned == ["Not planned yet", "genome"]
    text = page.text("#agenda [data-lease=id-paper]")
    assert "14:00 to 18:00" in text
    assert "planned, 1 node" in text
    assert "deadline" in text
    assert page.script("return document.documentElement.scrollWidth <= innerWidth") is True


def test_filters_and_holds(page: Page, sight: Service) -> None:
    """The filters hold for the agenda too, and an offer says until when it is held."""
    sight.change("paper", offered_until=NOW + 300)
    page.resize(390, 844)
    page.open("#kind=deadline")
    page.until(lambda: _days(page))
    assert _days(page) == [["Mon, 2 Mar 2026", "paper"]]
    assert "held until 2 Mar 2026, 12:05" in page.text("#agenda [data-lease=id-paper]")


def test_the_chosen_chart_is_remembered(page: Page, sight: Service) -> None:
    """A button shows the chart instead, also after the page is loaded again; wide windows have only the chart."""
    page.resize(390, 844)
    page.open()
    page.one("#agenda-toggle").click()
    assert page.shown("#chart")
    assert page.shown("#tools")
    assert page.boxes("course")
    page.open()
    assert page.shown("#chart")
    page.one("#agenda-toggle").click()
    assert page.shown("#agenda")
    assert not page.shown("#chart")
    page.resize(1280, 900)
    page.until(lambda: page.shown("#chart"))
    assert not page.shown("#agenda")
    assert not page.shown("#agenda-toggle")


def test_agenda_of_the_real_service(make: Make, look: Callable[..., Page]) -> None:
    """A lease beyond the loaded time comes with "Later leases", opens by a click, and appears when it is booked."""
    live = make(2, 1)
    far = live.lease("exam", "reservation", 1, start_date=date(live.now() + 4 * 86_400), duration=3600)
    page = look(live)
    page.resize(390, 844)
    page.until(lambda: page.shown("#agenda"))
    near = live.lease("course", "reservation", 1, start_date=date(live.now() + 3600), duration=3600)
    page.until(lambda: page.all(f"#agenda [data-lease='{near}']"))
    assert not page.all(f"#agenda [data-lease='{far}']")
    page.script("document.querySelector('#agenda .later').focus()")
    page.one("#agenda .later").click()
    # The list is made anew when the other lease changes.
    page.push(f"#agenda [data-lease='{far}']")
    page.until(lambda: page.text("#details-title") == "exam")
