"""The page of a gateway: its sites on the timeline, in the filters, and in the form of a new lease."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

from tests.functional.gateway.test_commands import Served
from tests.functional.gateway.test_requests import Front
from tests.functional.gateway.world import World
from tests.functional.page.browser import Page
from tests.functional.page.service import HOUR, NOW, Document, Service, holding, lease

_QUOTES, _LEASES = "/v1/quotes", "/v1/leases"
_NAMES = ["north", "south", "west"]
_FORM, _FILTER = "#booking-form [name=site]", "#filter-form [name=site]"
_START, _END = "2026-03-02T18:00:00Z", "2026-03-02T20:00:00Z"
_GRANTED: Document = {
    "granted": True,
    "reason": "",
    "start": _START,
    "end": _END,
    "preempted": 0,
    "preempted_kinds": {},
    "alternatives": [],
    "queue_position": None,
    "price": None,
    "site": "south",
    "unanswered": [],
}
_REFUSED = _GRANTED | {
    "granted": False,
    "reason": "north: only 1 of 2 nodes is free then",
    "site": None,
    "alternatives": [{"change": "at north", "start": _END, "end": _END, "count": 2, "preempted_kinds": {}}],
}


def _at(site: str, name: str, kind: str, state: str, start: int, end: int) -> Document:
    """Return a lease at a site, which shows no hosts."""
    return lease(name, kind, state, holdings=[holding(start, end, [])], site=site, unreachable=False, nodes=1)


@pytest.fixture
def sites(service: Service) -> Service:
    """Three sites with a lease each, and a second one at north; west does not answer."""
    service.set_hosts([])
    service.sites = [{"name": name, "unreachable_since": NOW - 60 if name == "west" else None} for name in _NAMES]
    service.put(
        _at("north", "course", "reservation", "active", -2, 4),
        _at("north", "demo", "immediate", "active", -1, 3),
        _at("south", "paper", "deadline", "scheduled", 2, 6),
        _at("west", "render", "reservation", "active", -3, 1) | {"unreachable": True},
    )
    return service


def _options(page: Page, selector: str) -> list[str]:
    return [option.text for option in Select(page.one(selector)).options]


def test_each_site_is_a_row_with_its_leases_in_lanes(page: Page, sites: Service) -> None:
    page.open()
    tops = {name: page.boxes(name)[0][1] for name in ("course", "demo", "paper", "render")}
    heights = {name: page.boxes(name)[0][3] for name in tops}
    assert tops["course"] + heights["course"] <= tops["demo"]
    assert tops["demo"] + heights["demo"] < tops["paper"]
    assert tops["paper"] + heights["paper"] < tops["render"]
    # Two leases share the row of north.
    assert heights["paper"] == pytest.approx(2 * heights["course"], abs=3)
    assert page.one("#chart").accessible_name == "Sites over time"
    assert page.text("#rows-fit") == "All sites"


def test_each_site_has_a_colour_of_its_own(page: Page, sites: Service) -> None:
    page.open("#view=leases")
    source = "return getComputedStyle(arguments[0], '::before').backgroundColor"
    colours = {}
    for name in ("course", "demo", "paper", "render"):
        cell = page.one(f"#view-leases [data-lease=id-{name}]").find_element(By.XPATH, "ancestor::tr")
        colours[name] = page.script(source, cell.find_element(By.CSS_SELECTOR, "td.band"))
    assert colours["course"] == colours["demo"]
    assert len(set(colours.values())) == 3
    page.open()
    bands = [page.pixel(3, page.boxes(name)[0][1] + 4) for name in ("course", "paper", "render")]
    assert [f"rgb({red}, {green}, {blue})" for red, green, blue in bands] == [
        colours[name] for name in ("course", "paper", "render")
    ]


def test_a_site_that_does_not_answer_is_shown_as_such(page: Page, sites: Service) -> None:
    page.open()
    _, top, _, height = page.boxes("render")[0]
    page.move_to(40, top + height / 2).perform()
    page.says("#tip", "west, does not answer")
    assert "west (does not answer)" in _options(page, _FILTER)
    page.open("#view=leases")
    assert "west (does not answer)" in page.cells("leases", "render")
    page.open("#lease=id-render")
    assert "Site\nwest, which does not answer; this is what was last known" in page.text("#details .lease")
    # It answers again.
    sites.sites[2]["unreachable_since"] = None
    sites.change("render", unreachable=False)
    page.script("calendar.connection.poll()")
    page.until(lambda: "Site\nwest\n" in page.text("#details .lease"))
    assert _options(page, _FILTER) == ["all", *_NAMES]


def test_a_lease_that_is_over_stays_on_the_row_of_its_site(page: Page, sites: Service) -> None:
    over = lease("over", "reservation", "done", start=NOW - 6 * HOUR, end=NOW - 4 * HOUR, site="south")
    started = lease("started", "best-effort", "active", start=NOW - HOUR, duration=2 * HOUR, site="north")
    sites.put(over, started, lease("waits", "best-effort", "queued", site="south", duration=HOUR))
    page.open()
    ((_, top, _, _),) = page.boxes("over")
    assert top == page.boxes("paper")[0][1]
    assert page.boxes("waits") == []
    assert len(page.boxes("started")) == 1


def test_leases_are_filtered_by_site(page: Page, sites: Service) -> None:
    page.open("#view=leases")
    assert page.one(_FILTER).accessible_name == "Site"
    Select(page.one(_FILTER)).select_by_visible_text("south")
    page.until(lambda: page.names("leases") == ["paper"])
    page.until(lambda: "site=south" in page.driver.current_url)
    page.open("#view=leases&site=north")
    assert Select(page.one(_FILTER)).first_selected_option.text == "north"
    assert sorted(page.names("leases")) == ["course", "demo"]
    page.one("#filter-form [name=clear]").click()
    page.until(lambda: len(page.names("leases")) == 4)
    assert Select(page.one(_FILTER)).first_selected_option.text == "all"


@pytest.mark.parametrize("site", ["", "south"])
def test_a_lease_is_booked_anywhere_or_at_a_site(page: Page, sites: Service, site: str) -> None:
    sites.replies[_QUOTES] = [(200, {"quote": _GRANTED | {"unanswered": ["west"]}})]
    made = {"id": "id-new", "name": "new", "start_date": None, "site": "south"}
    sites.replies[_LEASES] = [(201, {"lease": made})]
    page.open()
    page.one("#book").click()
    assert page.one(_FORM).accessible_name == "Site"
    assert _options(page, _FORM) == ["anywhere", "north", "south", "west (does not answer)"]
    Select(page.one(_FORM)).select_by_value(site)
    page.one("#booking-form [name=name]").send_keys("new")
    # The form asks for a quote when it opens, too.
    page.until(lambda: [body.get("site", "") for body in sites.bodies(_QUOTES)][-1:] == [site])
    page.until(lambda: [part.text for part in page.all("#booking .quote p")][:1] == ["Possible at south."])
    assert "No answer from west." in page.text("#booking .quote")
    page.one("#booking-form [type=submit]").click()
    page.says("#announcements", "new is booked at south")
    assert sites.bodies(_LEASES)[-1].get("site", "") == site


def test_other_sites_are_offered_when_the_wished_one_refuses(page: Page, sites: Service) -> None:
    sites.replies[_QUOTES] = [(200, {"quote": _GRANTED})]
    page.open()
    page.one("#book").click()
    page.until(lambda: page.text("#booking .quote").startswith("Possible"))
    sites.replies[_QUOTES] = [(200, {"quote": _REFUSED}), (200, {"quote": _GRANTED})]
    page.one(_FORM).send_keys("north")
    page.until(lambda: page.all("#booking .alternatives button"))
    texts = [button.text for button in page.all("#booking .alternatives button")]
    assert texts[-1] == "At south: 1 node, 2 Mar 2026, 18:00 to 2 Mar 2026, 20:00 UTC"
    assert "site" not in sites.bodies(_QUOTES)[-1]
    page.all("#booking .alternatives button")[-1].click()
    page.until(lambda: sites.bodies(_QUOTES)[-1].get("site") == "south")
    assert Select(page.one(_FORM)).first_selected_option.text == "south"


def test_a_drag_on_the_row_of_a_site_asks_that_site(page: Page, sites: Service) -> None:
    sites.replies[_QUOTES] = [(200, {"quote": _GRANTED})]
    page.open()
    x, y, width, height = page.boxes("paper")[0]
    page.move_to(x + width + 30, y + height / 2).click_and_hold().move_by_offset(60, 0).release().perform()
    page.until(lambda: page.shown("#booking"))
    assert Select(page.one(_FORM)).first_selected_option.text == "south"
    assert page.one("#booking-form [name=count]").get_attribute("value") == "1"


def test_what_a_gateway_does_not_have_is_not_offered(page: Page, sites: Service) -> None:
    page.open()
    assert [tab.text for tab in page.all("[role=tab]") if tab.is_displayed()] == ["Timeline", "Queue", "Leases"]
    assert not page.shown("#counts .use")
    page.one("#book").click()
    shown = [each.text for each in page.all("#booking summary") if each.is_displayed()]
    assert shown == ["More about the nodes", "Description"]
    assert not page.shown("#booking .hold")
    assert not page.shown("#booking-form [name=flavor]")
    page.one("#tab-leases").click()
    page.press("\ue014")
    assert page.focus() == "tab-timeline"


def test_changes_are_made_without_a_quote(page: Page, sites: Service) -> None:
    page.open("#lease=id-course")
    page.push("#details [data-action=end_date]")
    page.enter("#change-form [name=value]", "2026-03-02T18:00")
    page.until(lambda: page.one("#change-form [type=submit]").is_enabled())
    sites.replies["/v1/leases/id-course/action"] = [(200, {"lease": {"id": "id-course"}})]
    page.one("#change-form [type=submit]").click()
    page.until(lambda: sites.bodies("/v1/leases/id-course/action"))
    assert not [path for path, _ in sites.posted if path.endswith("/quote")]


def test_the_page_of_a_site_has_no_choice_of_sites(page: Page, sight: Service) -> None:
    page.open()
    assert not page.shown(_FILTER)
    page.one("#book").click()
    assert not page.shown(_FORM)
    page.one("#tab-leases").click()
    assert "Site" not in [head.text for head in page.all("#view-leases thead th") if head.is_displayed()]


# -- the real gateway ----------------------------------------------------------------------------------------


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    world = World(tmp_path / "world")
    found = Served(Front(world))
    yield found
    found.stop()
    world.close()


def test_a_lease_is_booked_at_a_site_on_the_page_of_a_gateway(driver: Chrome, served: Served) -> None:
    front = served.front
    front.world.moody["west"].is_away = True
    front.world.pass_time([front.gateway], 60)
    page = Page(driver, f"{served.url}/", Service())
    page.reset()
    driver.get(page.url)
    page.until(lambda: page.text("#status") == "Live")
    page.push("#book")
    assert _options(page, _FORM) == ["anywhere", "north", "south", "west (does not answer)"]
    Select(page.one(_FORM)).select_by_value("south")
    page.one("#booking-form [name=kind][value=immediate]").click()
    page.enter("#booking-form [name=duration]", "2h")
    page.enter("#booking-form [name=VCPU]", "2")
    page.enter("#booking-form [name=MEMORY_MB]", "")
    page.one("#booking-form [name=name]").send_keys("seminar")
    page.until(lambda: page.text("#booking .quote").startswith("Possible at south."))
    page.push("#booking-form [type=submit]")
    page.says("#details-title", "seminar")
    assert "Site\nsouth" in page.text("#details .lease")
    assert front.world.granted() == ["south"]
    assert page.console() == []
    driver.get("about:blank")
