"""Changing a lease in its details, and by dragging on the timeline."""

from __future__ import annotations

import json
from typing import Any

import pytest
from selenium.webdriver import Keys

from tests.functional.page.browser import Colour, Page
from tests.functional.page.service import HOUR, NOW, Document, Service, holding, lease, past

_GRANTED: Document = {
    "granted": True,
    "reason": "",
    "start": "2026-03-02T10:00:00Z",
    "end": "2026-03-02T18:00:00Z",
    "preempted": 0,
    "preempted_kinds": {},
    "alternatives": [],
    "price": 20.0,
    "present_price": 15.0,
}
_SHORTER = {
    "change": "duration",
    "start": "2026-03-02T10:00:00Z",
    "end": "2026-03-02T17:00:00Z",
    "count": 1,
    "preempted_kinds": {},
}
_REFUSED = _GRANTED | {
    "granted": False,
    "reason": "its hosts are taken from 17:00 on",
    "price": None,
    "alternatives": [_SHORTER, _SHORTER | {"change": "nodes"}],
}


def _quotes(service: Service, name: str, *quotes: Document) -> None:
    service.replies[f"/v1/leases/id-{name}/quote"] = [(200, {"quote": quote}) for quote in quotes]


def _allow(service: Service, name: str) -> None:
    service.replies[f"/v1/leases/id-{name}/action"] = [(200, {"lease": {}})]


def _sent(service: Service, name: str, what: str = "action") -> list[Document]:
    return service.bodies(f"/v1/leases/id-{name}/{what}")


def _actions(page: Page) -> list[str]:
    return [one.text for one in page.all("#details .changes > .buttons button") if one.is_displayed()]


def _choose(page: Page, label: str) -> None:
    next(one for one in page.all("#details .changes > .buttons button") if one.text == label).click()


def _quote(page: Page) -> list[str]:
    return [part.text for part in page.all("#change-form .quote p")]


def _send(page: Page, verdict: str = "") -> None:
    """Send the form; with a verdict, once its quote is there, which moves the button."""
    if verdict:
        page.until(lambda: page.all(f"#change-form .quote[data-verdict={verdict}]:not([aria-busy])"))
    page.one("#change-form [type=submit]").click()


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("course", ["Change the end", "End now", "Cancel the lease"]),
        ("demo", ["Change the end", "End now", "Cancel the lease"]),
        ("paper", ["Change the duration", "Move", "Cancel the lease"]),
        ("mesh", ["Change the duration", "End now", "Cancel the lease"]),
        ("genome", ["Change the duration", "Cancel the lease"]),
        ("exam", ["Change the end", "Move", "Cancel the lease"]),
        ("nightly", []),
        ("offer", ["Accept", "Reject"]),
    ],
)
def test_what_is_offered(page: Page, sight: Service, name: str, labels: list[str]) -> None:
    """Only what the kind and the state of a lease allow."""
    sight.put(
        lease("exam", "reservation", "scheduled", holdings=[holding(3, 5, [8])]),
        lease("offer", "reservation", "ready", holdings=[holding(6, 7, [8])], offered_until=NOW + 300),
    )
    for each in ("paper", "mesh", "genome"):
        sight.change(each, duration=4 * HOUR)
    page.open(f"#lease=id-{name}")
    assert _actions(page) == labels


def test_leases_of_others_are_not_offered(page: Page, sight: Service) -> None:
    """Nothing is offered for a lease that the caller may not change; the bar cannot be dragged either."""
    sight.change("course", may_change=False)
    sight.change("paper", may_change=False, duration=4 * HOUR)
    sight.may_book = False
    page.open("#lease=id-course&rows=24")
    assert _actions(page) == []
    assert not page.shown("#details .changes")
    x, y, width, height = page.boxes("course")[0]
    page.move_to(x + width - 3, y + height / 2).click_and_hold().move_by_offset(40, 0).release().perform()
    assert not page.shown("#change-form")
    # Whoever may book nothing moves the chart wherever they drag.
    assert page.boxes("course")[0][0] > x + 20


def test_refused_extension_and_its_alternative(page: Page, sight: Service) -> None:
    """The quote refuses before anything is sent; an alternative fills the field, is quoted with its price, and sent."""
    _quotes(sight, "course", _REFUSED)
    page.open("#lease=id-course")
    _choose(page, "Change the end")
    assert page.one("#change-form [name=value]").get_attribute("value") == "2026-03-02T16:00"
    assert not page.one("#change-form [type=submit]").is_enabled()
    page.enter("#change-form [name=value]", "2026-03-02T18:00")
    assert page.text("#change-form [type=submit]") == "Extend"
    page.until(lambda: _quote(page) and _quote(page)[0] == "Not possible: its hosts are taken from 17:00 on.")
    # An alternative with fewer nodes cannot be had by another end.
    assert [one.text for one in page.all("#change-form .alternatives li")] == ["End 2 Mar 2026, 17:00 UTC", "1 node"]
    (button,) = page.all("#change-form .alternatives button")
    _quotes(sight, "course", _GRANTED)
    button.click()
    page.until(lambda: "Price: 20, now 15." in _quote(page))
    assert _sent(sight, "course", "quote") == [
        {"extend": {"end_date": "2026-03-02T18:00:00Z"}},
        {"extend": {"end_date": "2026-03-02T17:00:00Z"}},
    ]
    assert _sent(sight, "course") == []
    _allow(sight, "course")
    _send(page)
    page.until(lambda: page.text("#announcements") == "course: Extend, done")
    assert _sent(sight, "course") == [{"extend": {"end_date": "2026-03-02T17:00:00Z"}}]
    assert not page.shown("#change-form")


def test_refusal_of_the_change_itself(page: Page, sight: Service) -> None:
    """A refusal that comes after a quote shows its alternatives too; an error names its field."""
    _quotes(sight, "course", _GRANTED)
    sight.replies["/v1/leases/id-course/action"] = [
        (409, {"error_message": "taken", "alternatives": [_SHORTER]}),
        (400, {"error_message": "End date must be later than current and start date", "field": "end_date"}),
        (403, {"error_message": "Policy doesn't allow reservation:leases:action to be performed."}),
    ]
    page.open("#lease=id-course")
    _choose(page, "Change the end")
    page.enter("#change-form [name=value]", "2026-03-02T18:00")
    _send(page, "granted")
    page.until(lambda: "taken" in _quote(page))
    page.one("#change-form .alternatives button").click()
    assert page.one("#change-form [name=value]").get_attribute("value") == "2026-03-02T17:00"
    _send(page, "granted")
    page.until(lambda: page.one("#change-form [name=value]").get_attribute("aria-invalid") == "true")
    assert page.text("#change-form-value-problem") == "End date must be later than current and start date"
    _send(page)
    page.until(lambda: _quote(page) == ["You may not do this in this project."])


def test_shorten_and_move(page: Page, sight: Service) -> None:
    """An earlier end shortens; a reservation moves with its whole length."""
    sight.put(lease("exam", "reservation", "scheduled", holdings=[holding(3, 5, [8])]))
    for name in ("course", "exam"):
        _quotes(sight, name, _GRANTED)
        _allow(sight, name)
    page.open("#lease=id-course")
    _choose(page, "Change the end")
    page.enter("#change-form [name=value]", "2026-03-02T14:00")
    assert page.text("#change-form [type=submit]") == "Shorten"
    _send(page, "granted")
    page.until(lambda: _sent(sight, "course") == [{"shrink": {"end_date": "2026-03-02T14:00:00Z"}}])
    page.open("#lease=id-exam")
    _choose(page, "Move")
    page.enter("#change-form [name=value]", "2026-03-02T20:30")
    wanted = {"start_date": "2026-03-02T20:30:00Z", "end_date": "2026-03-02T22:30:00Z"}
    page.until(lambda: _sent(sight, "exam", "quote") == [{"change": wanted}])
    _send(page, "granted")
    page.until(lambda: _sent(sight, "exam") == [{"move": wanted}])


@pytest.mark.parametrize(
    ("name", "label", "action"),
    [
        ("course", "End now", {"end": {}}),
        ("course", "Cancel the lease", {"cancel": {}}),
        ("offer", "Accept", {"accept": {}}),
        ("offer", "Reject", {"reject": {}}),
    ],
)
def test_actions_without_terms(page: Page, sight: Service, name: str, label: str, action: Document) -> None:
    """They say what they do, and are sent when they are confirmed."""
    sight.put(lease("offer", "reservation", "ready", holdings=[holding(6, 7, [8])], offered_until=NOW + 300))
    _allow(sight, name)
    page.open(f"#lease=id-{name}")
    _choose(page, label)
    assert page.text("#change-form .text").endswith(".")
    assert _sent(sight, name) == []
    page.one("#change-form .back").click()
    assert page.focus() == label
    _choose(page, label)
    _send(page)
    page.until(lambda: _sent(sight, name) == [action])


def test_form_stays_while_the_lease_changes(page: Page, sight: Service) -> None:
    """What was typed stays, and is quoted again; when the lease ends, the form goes."""
    _quotes(sight, "course", _GRANTED)
    page.open("#lease=id-course")
    _choose(page, "Change the end")
    assert page.focus() == "value"
    page.enter("#change-form [name=value]", "2026-03-02T18:00")
    page.until(lambda: len(_sent(sight, "course", "quote")) == 1)
    sight.change("course", reason="something has happened")
    page.until(lambda: len(_sent(sight, "course", "quote")) == 2)
    assert page.one("#change-form [name=value]").get_attribute("value") == "2026-03-02T18:00"
    sight.change("course", state="done", holdings=[], past=[past(-2, 0, [1])])
    page.until(lambda: not page.shown("#details .changes"))
    assert page.focus() == "details-title"


def test_the_same_refusal_again_changes_nothing(page: Page, sight: Service) -> None:
    """A lease that changes meanwhile is quoted anew: its alternatives can be chosen again, and keep the focus."""
    _quotes(sight, "course", _REFUSED)
    page.open("#lease=id-course")
    _choose(page, "Change the end")
    page.enter("#change-form [name=value]", "2026-03-02T18:00")
    page.until(lambda: page.all("#change-form .alternatives button:enabled"))
    button = page.one("#change-form .alternatives button")
    page.script("arguments[0].focus()", button)
    asked = len(_sent(sight, "course", "quote"))
    sight.change("course", reason="something has happened")
    page.until(lambda: len(_sent(sight, "course", "quote")) > asked)
    page.until(lambda: page.all("#change-form .quote:not([aria-busy])"))
    assert button.is_enabled()
    assert page.script("return document.activeElement === arguments[0]", button) is True
    _quotes(sight, "course", _GRANTED)
    button.click()
    page.until(lambda: "Possible." in _quote(page))


def test_who_may_approve_decides(page: Page, sight: Service) -> None:
    """Others may only give up the lease while it waits. A reason is needed to decline it."""
    sight.change("course", state="awaiting-approval", offered_until=NOW + HOUR)
    page.open("#lease=id-course")
    assert [one.text for one in page.all("#details .changes > .buttons button")] == ["Cancel the lease"]
    assert "waiting for approval" in page.text("#details .lease")
    sight.may_approve = True
    sight.change("course", may_change=False)
    names = ["Approve", "Decline"]
    page.until(lambda: [one.text for one in page.all("#details .changes > .buttons button")] == names)
    _choose(page, "Decline")
    assert not page.one("#change-form [type=submit]").is_enabled()
    page.one("#change-form [name=value]").send_keys("too long for one course")
    _allow(sight, "course")
    _send(page)
    page.until(lambda: page.text("#announcements") == "course: Decline, done")
    _choose(page, "Approve")
    _send(page)
    page.until(lambda: page.text("#announcements") == "course: Approve, done")
    assert _sent(sight, "course") == [{"decline": {"reason": "too long for one course"}}, {"approve": {}}]


def test_by_keys(page: Page, sight: Service) -> None:
    """Extend from the chart with keys only; the first Esc leaves the form, the next one the details."""
    sight.change("mesh", duration=4 * HOUR)
    _quotes(sight, "mesh", _GRANTED)
    _allow(sight, "mesh")
    page.open()
    page.go_to_chart()
    page.press("n", "n", Keys.ENTER)
    assert page.text("#details-title") == "mesh"
    while page.tab() != "Change the duration":
        pass
    page.press(Keys.ENTER)
    assert page.focus() == "value"
    page.press(Keys.ESCAPE)
    assert page.focus() == "Change the duration"
    page.press(Keys.ENTER, Keys.END, Keys.BACKSPACE, Keys.BACKSPACE, *"5h", Keys.ENTER)
    page.until(lambda: _sent(sight, "mesh") == [{"extend": {"duration": "5h"}}])
    page.until(lambda: page.focus() == "Change the duration")
    page.press(Keys.ESCAPE)
    assert page.focus() == "chart"
    page.press("c")
    assert page.shown("#booking")


def test_on_a_phone(page: Page, sight: Service) -> None:
    """At 390 px the form is reached, has targets of at least 44 px, and works."""
    _quotes(sight, "course", _REFUSED)
    _allow(sight, "course")
    page.resize(390, 844)
    page.open("#lease=id-course")
    _choose(page, "Change the end")
    page.enter("#change-form [name=value]", "2026-03-02T18:00")
    page.until(lambda: page.all("#change-form .alternatives button"))
    source = """
    return [...document.querySelectorAll("#details :is(button, input)")].filter((one) => one.checkVisibility())
      .map((one) => one.offsetHeight);
    """
    heights = page.script(source)
    assert len(heights) >= 5
    assert min(heights) >= 44
    assert page.script("const d = document.getElementById('details'); return d.scrollWidth <= d.clientWidth") is True
    page.one("#change-form .alternatives button").click()
    _send(page, "refused")
    page.until(lambda: _sent(sight, "course") == [{"extend": {"end_date": "2026-03-02T17:00:00Z"}}])


def test_dragging_the_end_of_a_bar(page: Page, sight: Service) -> None:
    """A new end is proposed in the details, and nothing is sent until it is confirmed."""
    _quotes(sight, "course", _GRANTED)
    page.open("#rows=24&start=1772438400")
    x, y, width, height = page.boxes("course")[0]
    hour = page.script("return 3600 / calendar.timeline.perPixel")
    page.move_to(x + width - 3, y + height / 2).click_and_hold().move_by_offset(round(hour), 0).move_by_offset(
        round(hour), 0
    ).perform()
    assert "New end: 2 Mar 2026, 18:00 UTC" in page.text("#tip")
    page.move_to(x + width - 3 + 2 * round(hour), y + height / 2).release().perform()
    assert page.text("#details-title") == "course"
    assert page.one("#change-form [name=value]").get_attribute("value") == "2026-03-02T18:00"
    page.until(lambda: _sent(sight, "course", "quote") == [{"extend": {"end_date": "2026-03-02T18:00:00Z"}}])
    assert _sent(sight, "course") == []


def test_dragging_a_bar_that_has_not_started(page: Page, sight: Service) -> None:
    """A new start is proposed; the bar of a running lease moves the chart instead."""
    sight.put(lease("exam", "reservation", "scheduled", holdings=[holding(3, 5, [8])]))
    page.open("#rows=24&start=1772438400")
    x, y, width, height = page.boxes("exam")[0]
    hour = page.script("return 3600 / calendar.timeline.perPixel")
    page.move_to(x + width / 2, y + height / 2).click_and_hold().move_by_offset(round(hour), 0).move_by_offset(
        round(hour), 0
    ).release().perform()
    assert page.text("#details-title") == "exam"
    assert page.one("#change-form [name=value]").get_attribute("value") == "2026-03-02T17:00"
    assert page.text("#change-form [type=submit]") == "Move"


def test_dragging_over_free_time(page: Page, sight: Service) -> None:
    """Hosts and time that one drags over are filled in; with Shift, or on the axis, the chart moves."""
    sight.replies["/v1/quotes"] = [(200, {"quote": _GRANTED})]
    page.open("#rows=24&start=1772438400")
    hour = page.script("return 3600 / calendar.timeline.perPixel")
    x, y, width, height = page.boxes("course")[0]
    begin = x + width + 2 * hour
    page.move_to(begin, y + height / 2).click_and_hold().move_by_offset(round(hour), 24).move_by_offset(
        round(hour), 24
    ).release().perform()
    form = "#booking-form [name={}]"
    names = ("count", "start_date", "end_date")
    values = [page.one(form.format(name)).get_attribute("value") for name in names]
    assert values == ["3", "2026-03-02T18:00", "2026-03-02T20:00"]
    assert page.one(form.format("exclusive")).is_selected()
    page.until(lambda: sight.bodies("/v1/quotes"))
    assert sight.bodies("/v1/quotes")[-1]["nodes"] == [{"count": 3, "exclusive": True}]
    page.press(Keys.ESCAPE)
    start = page.script("return calendar.timeline.start")
    page.move_to(begin, 20).click_and_hold().move_by_offset(30, 0).move_by_offset(30, 0).release().perform()
    assert page.script("return calendar.timeline.start") < start
    assert not page.shown("#booking")


def _ghost(page: Page) -> tuple[int, int, list[int]] | None:
    found = page.script("return calendar.timeline.ghost")
    return found and (found["start"], found["end"], found["rows"])


def _pixel(page: Page, instant: int, row: int) -> Colour:
    """Return the colour of a row, 24 px high, at an instant."""
    page.drawn()
    x = page.script("const t = calendar.timeline; return (arguments[0] - t.instantAt(0)) / t.perPixel", instant)
    return page.pixel(x, 40 + 34 + 24 * row + 12)


@pytest.mark.parametrize(
    ("hosts", "rows"),
    [
        pytest.param({"hosts": ["h8", "h2", "h3"]}, [7, 1, 2], id="hosts of the quote"),
        pytest.param({}, [0, 1, 2], id="no hosts for this caller"),
        pytest.param({"hosts": ["h8", "17", "18"]}, [0, 1, 2], id="hosts without rows"),
    ],
)
def test_a_dragged_proposal_stays(page: Page, sight: Service, hosts: Document, rows: list[int]) -> None:
    """It is where the quote says, on as many rows as nodes, until the form is closed."""
    quote = _GRANTED | {"start": "2026-03-02T18:00:00Z", "end": "2026-03-02T20:00:00Z"} | hosts
    sight.replies["/v1/quotes"] = [(200, {"quote": quote})]
    page.open("#rows=24&start=1772438400")
    hour = page.script("return 3600 / calendar.timeline.perPixel")
    x, y, width, height = page.boxes("course")[0]
    begin = round(x + width + 2 * hour)
    free = [_pixel(page, NOW + 7 * HOUR, row) for row in range(8)]
    page.move_to(begin, y + height / 2).click_and_hold().move_by_offset(round(hour), 24).move_by_offset(
        round(hour), 24
    ).release().perform()
    assert page.shown("#booking")
    page.until(lambda: page.all("#booking .quote[data-verdict=granted]"))
    start, end = NOW + 6 * HOUR, NOW + 8 * HOUR
    assert _ghost(page) == (start, end, rows)
    assert all(_pixel(page, NOW + 7 * HOUR, row) != free[row] for row in rows)
    if not hosts:
        page.enter("#booking-form [name=count]", "2")
        page.enter("#booking-form [name=end_date]", "2026-03-02T22:00")
        assert _ghost(page) == (start, NOW + 10 * HOUR, rows[:2])
    page.press(Keys.ESCAPE)
    assert not page.shown("#booking")
    assert _ghost(page) is None
    assert [_pixel(page, NOW + 7 * HOUR, row) for row in range(8)] == free


def test_escape_gives_up_a_drag(page: Page, sight: Service) -> None:
    page.open("#rows=24&start=1772438400")
    x, y, width, height = page.boxes("course")[0]
    page.move_to(x + width - 3, y + height / 2).click_and_hold().move_by_offset(40, 0).send_keys(
        Keys.ESCAPE
    ).move_by_offset(10, 0).release().perform()
    assert not page.shown("#details")
    assert not page.shown("#tip")


def _lease(**values: Any) -> Document:
    return lease("x", "reservation", "active", holdings=[holding(-1, 2, [1])]) | values


@pytest.mark.parametrize(
    ("given", "name", "text", "action"),
    [
        ({}, "end_date", "2026-03-02T14:00", None),
        ({}, "end_date", "", None),
        ({}, "end_date", "2026-03-02T14:01", {"extend": {"end_date": "2026-03-02T14:01:00Z"}}),
        ({"kind": "deadline", "duration": 7200}, "duration", "90m", {"shrink": {"duration": "90m"}}),
        ({"kind": "deadline", "duration": 7200}, "duration", "2h 1s", {"extend": {"duration": "2h1s"}}),
        # The server says what is wrong with it.
        ({"kind": "deadline", "duration": 7200}, "duration", "long", {"extend": {"duration": "long"}}),
        ({"kind": "deadline"}, "move", "2026-03-02T15:00", {"move": {"start_date": "2026-03-02T15:00:00Z"}}),
        ({}, "end", "", {"end": {}}),
    ],
)
def test_requests_of_an_action(
    page: Page, service: Service, given: Document, name: str, text: str, action: Any
) -> None:
    """Longer is extend, shorter is shrink; nothing new is no request."""
    page.open()
    source = f"requestsOf({json.dumps(_lease(**given))}, {json.dumps(name)}, {json.dumps(text)})?.action ?? null"
    assert page.call("changes", "requestsOf", source) == action


@pytest.mark.parametrize(
    ("seconds", "per_pixel", "wanted"),
    [(NOW + 31, 10, NOW + 60), (NOW + 800, 100, NOW + 900), (NOW + 7000, 800, NOW + 2 * HOUR)],
)
def test_drags_choose_round_instants(page: Page, service: Service, seconds: int, per_pixel: int, wanted: int) -> None:
    """As round as the zoom: an instant is chosen with an exactness of some pixels."""
    page.open()
    assert page.call("drags", "rounded", f"rounded({seconds}, {per_pixel})") == wanted


def test_quote_of_a_change_follows_the_site(page: Page, sight: Service) -> None:
    """A rival who takes the hosts meanwhile changes the answer, though nobody touches the form."""
    _quotes(sight, "course", _GRANTED)
    page.open("#lease=id-course")
    _choose(page, "Change the end")
    page.enter("#change-form [name=value]", "2026-03-02T18:00")
    page.until(lambda: "Possible." in _quote(page))
    _quotes(sight, "course", _GRANTED | {"granted": False, "reason": "a rival was faster"})
    sight.put(lease("rival", "reservation", "scheduled", holdings=[holding(1, 2, [1, 2])]))
    page.until(lambda: _quote(page)[:1] == ["Not possible: a rival was faster."])
