"""Navigation in the timeline with buttons, mouse, touch and keys, and its cost with many hosts."""

from __future__ import annotations

import pytest
from selenium.webdriver import ActionChains, Keys

from tests.functional.page.browser import Page
from tests.functional.page.service import HOUR, NOW, Service, holding, host, lease, past


@pytest.mark.parametrize(("label", "span"), [("Hour", 3600), ("Day", 86_400), ("Week", 604_800), ("Month", 2_592_000)])
def test_zoom_by_button(page: Page, sight: Service, label: str, span: int) -> None:
    """A button shows its period of time, keeps the position of the present, and is stored in the address."""
    page.open("#span=50000")
    page.one(f"[data-span={label.lower()}]").click()
    assert page.script("return calendar.timeline.span") == span
    place = page.script("return (calendar.clock.now() - calendar.timeline.start) / calendar.timeline.span")
    assert place == pytest.approx(0.35, abs=0.01)
    assert page.one(f"[data-span={label.lower()}]").get_attribute("aria-pressed") == "true"
    wanted = "" if span == 86_400 else f"span={span}"
    page.until(lambda: page.driver.current_url.endswith(wanted) and "50000" not in page.driver.current_url)


def test_fit_shows_everything(page: Page, service: Service) -> None:
    """Fit shows the first and the last lease; a lease without an end does not extend it."""
    service.put(
        lease("first", "reservation", "done", past=[past(-200, -190, [1])]),
        lease("last", "reservation", "scheduled", holdings=[holding(300, 310, [2])]),
        lease("endless", "best-effort", "active", holdings=[holding(-1, 876_000, [3])]),
    )
    page.open()
    assert page.boxes("last") == []
    page.one("[data-span=fit]").click()
    (x, *_), (last, _, width, _) = page.boxes("first")[0], page.boxes("last")[0]
    chart = page.script("return document.getElementById('chart').clientWidth")
    assert x > 60
    assert last + width <= chart


def test_wheel_zooms_and_pans(page: Page, sight: Service) -> None:
    """The wheel zooms with Ctrl, pans with Shift, and otherwise moves the rows."""
    page.open("#span=86400&start=1772400000")
    before = page.script("return [calendar.timeline.start, calendar.timeline.span]")
    wheel = (
        "document.getElementById('chart').dispatchEvent(new WheelEvent('wheel', "
        "{deltaY: -60, clientX: 700, clientY: 600, cancelable: true, ...arguments[0]}))"
    )
    page.script(wheel, {"ctrlKey": True})
    start, span = page.script("return [calendar.timeline.start, calendar.timeline.span]")
    assert span == pytest.approx(before[1] / 1.5)
    assert start > before[0]
    page.script(wheel, {"shiftKey": True})
    moved = page.script("return calendar.timeline.start")
    assert moved < start
    # Without either the browser scrolls: the page does not take the event.
    assert page.script(f"return {wheel}", {}) is True


def test_drag_pans_and_opens_nothing(page: Page, sight: Service) -> None:
    """Dragging moves the time by the distance of the mouse, turns following off, and is not a click."""
    page.open("#rows=24")
    x, y, width, height = page.boxes("course")[0]
    assert page.one("#follow").is_selected()
    page.move_to(x + width / 2, y + height / 2).click_and_hold().move_by_offset(60, 0).move_by_offset(
        60, 0
    ).release().perform()
    assert page.boxes("course")[0][0] == pytest.approx(x + 120, abs=8)
    assert not page.one("#follow").is_selected()
    assert not page.shown("#details")


def test_keys_move_and_zoom(page: Page, sight: Service) -> None:
    """Arrows pan by a tenth, plus and minus zoom, letters choose the period, brackets resize rows, t follows."""
    page.open("#rows=10")
    page.go_to_chart()
    state = "const t = calendar.timeline; return [t.start, t.span, t.rowHeight, t.follow]"
    start, span, *_ = page.script(state)
    page.press(Keys.ARROW_RIGHT)
    assert page.script(state)[0] == pytest.approx(start + span / 10, abs=60)
    assert page.script(state)[3] is False
    page.press("+")
    assert page.script(state)[1] == pytest.approx(span / 1.5)
    page.press("-", "-")
    assert page.script(state)[1] == pytest.approx(span * 1.5)
    page.press("w")
    assert page.script(state)[1] == 7 * 86_400
    page.press("]")
    assert page.script(state)[2] == 11
    page.press("[", "[")
    assert page.script(state)[2] == 9
    page.press("a")
    assert page.script(state)[2] == 24
    page.press("t")
    assert page.script(state)[3] is True
    assert page.one("#follow").is_selected()
    assert page.script("return (calendar.clock.now() - calendar.timeline.start) / calendar.timeline.span") == (
        pytest.approx(0.35, abs=0.3)
    )


def test_keys_only_work_in_the_chart(page: Page, sight: Service) -> None:
    """A letter in the search field is only text."""
    page.open()
    page.one("#filter-form [name=name]").click()
    page.press("w")
    assert page.script("return calendar.timeline.span") == 86_400


def test_rows_from_overview_to_names(page: Page, service: Service) -> None:
    """The slider sets the height of the rows; "All hosts" makes all rows fit."""
    service.set_hosts([host(number) for number in range(100)])
    service.put(lease("one", "reservation", "active", holdings=[holding(-1, 5, [99])]))
    page.open()
    chart = page.script("const e = document.getElementById('chart'); return [e.clientHeight, e.scrollHeight]")
    assert chart[0] == chart[1]
    assert len(page.boxes("one")) == 1
    page.script("const e = arguments[0]; e.value = 24; e.dispatchEvent(new Event('input'))", page.one("#rows"))
    assert page.text("#rows-value") == "24 px"
    assert page.script("return document.getElementById('chart').scrollHeight") > 2400
    page.until(lambda: "rows=24" in page.driver.current_url)
    page.one("#rows-fit").click()
    assert page.one("#rows-fit").get_attribute("aria-pressed") == "true"
    page.until(lambda: "rows" not in page.driver.current_url)


def test_pointer_shows_what_is_there(page: Page, sight: Service) -> None:
    """A tooltip names the lease, its state, and the host under the pointer, and disappears."""
    page.open("#rows=24")
    x, y, width, height = page.boxes("course")[0]
    page.move_to(x + width / 2, y + height / 2).perform()
    page.until(lambda: page.shown("#tip"))
    tip = page.text("#tip")
    assert "course" in tip
    assert "reservation, active" in tip
    assert "node-1" in tip
    page.move_to(x + width / 2, y + 400).perform()
    page.until(lambda: not page.shown("#tip"))


def test_thousand_hosts_paint_only_what_is_in_sight(page: Page, service: Service) -> None:
    """With 1,000 hosts and 10,000 bars the last row can be reached, and rows out of sight are not painted."""
    service.set_hosts([host(number) for number in range(1000)])
    service.put(
        *(
            lease(
                f"job-{number}-{turn}",
                ("reservation", "immediate", "deadline", "best-effort")[number % 4],
                "active" if turn == 5 else "scheduled" if turn > 5 else "done",
                holdings=[holding(3 * (turn - 5) - number % 3, 3 * (turn - 5) - number % 3 + 2, [number])]
                if turn >= 5
                else [],
                past=[past(3 * (turn - 5), 3 * (turn - 5) + 2, [number])] if turn < 5 else [],
            )
            for number in range(1000)
            for turn in range(10)
        )
    )
    page.open("#rows=20&span=200000")
    page.until(lambda: page.script("return calendar.model.leases.size") == 10_000)
    page.until(lambda: 200 <= page.script("return calendar.timeline.painted") <= 500)
    assert page.boxes("job-999-6") == []
    page.go_to_chart()
    page.press(Keys.END)
    page.until(lambda: page.boxes("job-999-6"))
    page.press("a")
    page.until(lambda: page.script("return calendar.timeline.painted") >= 4_000)
    assert page.script("return calendar.timeline.rowHeight") == 1


def test_times_are_asked_for_as_they_come_into_sight(page: Page, sight: Service) -> None:
    """Moving outside the loaded period requests another one, completely; staying within it does not."""
    page.open()
    page.until(lambda: "start=" in sight.paths()[-1])
    asked = {path for path in sight.paths() if "since" not in path}
    page.script("calendar.timeline.pan(3600)")
    page.script("calendar.timeline.pan(40 * 86400)")
    page.until(lambda: len({path for path in sight.paths() if "since" not in path}) == len(asked) + 1)
    path = next(path for path in reversed(sight.paths()) if "since" not in path)
    start, end = (int(part.split("=")[1]) for part in path.split("?")[1].split("&"))
    assert start < NOW + 39 * 24 * HOUR < end


def test_wheel_over_the_page_keeps_browser_zoom(page: Page, sight: Service) -> None:
    """Ctrl and wheel outside the chart are left to the browser."""
    page.open()
    source = "return document.body.dispatchEvent(new WheelEvent('wheel', {ctrlKey: true, deltaY: 5, cancelable: true}))"
    assert page.script(source) is True


def test_home_key_of_the_browser_is_left_alone_with_modifiers(page: Page, sight: Service) -> None:
    """Keys with Ctrl or Alt are left to the browser."""
    page.open()
    page.go_to_chart()
    ActionChains(page.driver).key_down(Keys.ALT).send_keys("w").key_up(Keys.ALT).perform()
    assert page.script("return calendar.timeline.span") == 86_400
