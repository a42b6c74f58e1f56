"""Accessibility of the page: keyboard, screen readers, contrast, small screens."""

from __future__ import annotations

from typing import Any

import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.select import Select

from tests.functional.page.browser import Page
from tests.functional.page.service import Service, holding, host, lease

VIEWS = ("timeline", "queue", "leases", "free", "project")

#: Visible elements with text of their own and too little contrast to the background.
_LOW_CONTRAST = """
const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
const channels = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const luminance = ([r, g, b]) => {
  const linear = [r, g, b].map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const ground = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const colour = channels(getComputedStyle(one).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255];
};
const bad = [];
let seen = 0;
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !element.checkVisibility() || element.matches(".hidden, .skip, noscript, option, :disabled")) continue;
  seen += 1;
  const [one, other] = [luminance(channels(getComputedStyle(element).color)), luminance(ground(element))];
  const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (contrast < 4.5) bad.push(`${element.tagName} ${element.textContent.trim()} ${contrast.toFixed(2)}`);
}
return [seen, bad];
"""

#: Faults that a script can detect: names, roles, references, headings.
_FAULTS = """
const faults = [];
const start = (element) => element.outerHTML.slice(0, 80);
const usable = "button, input, select, a[href], summary, [tabindex], [role=tabpanel], dialog";
const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
if (new Set(ids).size < ids.length) faults.push("an id is there twice");
for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "for"])
  for (const element of document.querySelectorAll(`[${name}]`))
    if (!document.getElementById(element.getAttribute(name))) faults.push(`${name} of ${start(element)}`);
for (const element of document.querySelectorAll(usable)) {
  if (!element.checkVisibility()) continue;
  const label = element.getAttribute("aria-label") || element.textContent.trim() ||
    document.getElementById(element.getAttribute("aria-labelledby"))?.textContent.trim() ||
    [...(element.labels ?? [])].map((one) => one.textContent.trim()).join("");
  if (!label) faults.push(`no name: ${start(element)}`);
}
for (const cell of document.querySelectorAll("table th")) if (!cell.scope) faults.push("a head without scope");
for (const table of document.querySelectorAll("table")) if (!table.caption) faults.push("a table without caption");
for (const element of document.querySelectorAll("[tabindex]"))
  if (element.tabIndex > 0) faults.push("a tab index of its own");
for (const element of document.querySelectorAll("[style]"))
  if (!element.closest("#chart, #tip")) faults.push(`inline style: ${start(element)}`);
if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
if (document.querySelectorAll("main").length !== 1) faults.push("not one main");
if (!document.documentElement.lang || !document.title) faults.push("no language or title");
for (const element of document.querySelectorAll("[aria-hidden=true] :is(button, a, input, [tabindex])"))
  faults.push(`hidden, yet in the tab order: ${start(element)}`);
return faults;
"""


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_texts(page: Page, sight: Service, view: str, scheme: str) -> None:
    """All texts have a contrast of at least 4.5 to the background, with the details open."""
    page.prefer(scheme)
    page.open(f"#view={view}&lease=id-course")
    seen, bad = page.script(_LOW_CONTRAST)
    assert seen > 50
    assert bad == []


def test_selected_tab_is_readable_under_the_pointer(page: Page, sight: Service) -> None:
    page.open()
    ActionChains(page.driver).move_to_element(page.one("#tab-timeline")).perform()
    assert page.script("return document.getElementById('tab-timeline').matches(':hover')") is True
    assert page.script(_LOW_CONTRAST)[1] == []


def test_contrast_of_messages(page: Page, sight: Service) -> None:
    """Errors and the token form as well."""
    sight.broken = 500
    page.load()
    page.until(lambda: page.shown("#message.error"))
    assert page.script(_LOW_CONTRAST)[1] == []
    sight.broken = None
    # The page asks again by itself.
    sight.token = "secret"
    page.until(lambda: page.shown("#token-form"))
    assert page.script(_LOW_CONTRAST)[1] == []


@pytest.mark.parametrize("method", ["password", "credential", "websso 0", "token"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_login_is_readable_and_named(page: Page, sight: Service, method: str, scheme: str) -> None:
    """All ways of logging in, with an error, also on a narrow screen."""
    choices = [{"label": "Example", "url": "https://keystone.example/"}]
    sight.login = {"login": True, "default_domain": "Default", "websso": choices}
    sight.token = "secret"
    page.prefer(scheme)
    page.resize(360, 740)
    page.load()
    page.until(lambda: page.shown("#login"))
    Select(page.one("#login select")).select_by_value(method)
    source = "for (const each of document.querySelectorAll('#login details')) each.open = true;"
    page.script(f"{source} document.getElementById('login-message').textContent = 'It does not accept this'")
    assert page.shown(f"#{method.split()[0]}-form")
    assert page.script(_LOW_CONTRAST)[1] == []
    assert page.script(_FAULTS) == []
    assert page.script("const d = document.getElementById('login'); return d.scrollWidth <= d.clientWidth") is True
    assert page.script("return document.documentElement.scrollWidth <= innerWidth") is True


def test_account_is_readable_and_named(page: Page, sight: Service) -> None:
    """The head of the page with a login, whose names are long, on a narrow screen."""
    sight.project = {"id": "physics", "name": "p" * 64}
    page.resize(360, 740)
    page.load()
    kept = {
        "user": "u" * 64,
        "domain": "Default",
        "unscoped": "x",
        "project": sight.project,
        "projects": [sight.project, {"id": "biology", "name": "biology"}],
    }
    page.script("sessionStorage.setItem('lease-scheduler.session', JSON.stringify(arguments[0]))", kept)
    page.driver.refresh()
    page.until(lambda: page.shown("#account"))
    assert page.script(_LOW_CONTRAST)[1] == []
    assert page.script(_FAULTS) == []
    assert page.script("return document.documentElement.scrollWidth <= innerWidth") is True


@pytest.mark.parametrize("view", VIEWS)
def test_names_and_roles(page: Page, sight: Service, view: str) -> None:
    """Every control has a name, references have targets, and headings and landmarks are there."""
    page.open(f"#view={view}&lease=id-course&name=e")
    page.until(lambda: page.all(".history p"))
    assert page.script(_FAULTS) == []


def _open_form(page: Page, service: Service, form: str, width: int = 1280) -> None:
    """Open the panel for a new lease, or a change in the details, with a refusal and its alternatives in it."""
    quote = {
        "granted": False,
        "reason": "too few hosts are free",
        "alternatives": [
            {"change": change, "start": "2026-03-02T18:00:00Z", "end": "2026-03-02T20:00:00Z", "count": 2}
            for change in ("start", "duration")
        ],
    }
    service.replies["/v1/quotes"] = [(200, {"quote": quote})]
    service.replies["/v1/leases/id-course/quote"] = [(200, {"quote": quote})]
    page.resize(width, 844)
    page.live_in("Europe/Berlin")
    if form == "booking-form":
        page.open()
        page.one("#book").click()
        page.script("document.querySelector('#booking .more').open = true")
    else:
        page.open("#lease=id-course")
        page.one("#details [data-action=end_date]").click()
        page.enter("#change-form [name=value]", "2026-03-02T18:00")
    page.until(lambda: page.all(f"#{form} .alternatives button"))


@pytest.mark.parametrize("form", ["booking-form", "change-form"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forms_are_readable_and_named(page: Page, sight: Service, form: str, scheme: str) -> None:
    """What the other tests of this module demand, with a form open: contrast, names and references."""
    page.prefer(scheme)
    _open_form(page, sight, form)
    assert page.script(_LOW_CONTRAST)[1] == []
    assert page.script(_FAULTS) == []


def test_focus_is_not_below_the_quote(page: Page, sight: Service) -> None:
    """On a wide screen the quote stays in sight at the foot of the panel, and covers no field that has the focus."""
    _open_form(page, sight, "booking-form")
    page.one("#booking-form [name=name]").click()
    source = """
    const field = document.activeElement;
    const foot = document.querySelector("#booking .foot").getBoundingClientRect();
    const isAbove = field.getBoundingClientRect().bottom <= foot.top;
    return [foot.bottom <= innerHeight, field.closest(".foot") !== null || isAbove];
    """
    for _ in range(12):
        page.tab()
        assert page.script(source) == [True, True]


def test_forms_as_the_browser_sees_them(page: Page, sight: Service) -> None:
    """Fields have their labels as names; local times and errors describe them."""
    _open_form(page, sight, "booking-form")
    sight.replies["/v1/quotes"] = [(400, {"error_message": "are too many", "field": "nodes[0].count"})]
    page.enter("#booking-form [name=count]", "5")
    page.until(lambda: page.text("#booking .quote") == "A field is not right yet.")
    nodes: list[dict[str, Any]] = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    found = {
        (node["role"]["value"], node.get("name", {}).get("value", ""), node.get("description", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored")
    }
    wanted = {
        ("dialog", "New lease", ""),
        ("radio", "best-effort", "Waits in the queue for room. May be interrupted, and continues later."),
        ("spinbutton", "Number", "are too many"),
        ("group", "Nodes", ""),
        ("status", "Quote", ""),
        ("button", "Book", ""),
    }
    assert wanted - found == set()
    assert any(
        "End, UTC" in name and description.endswith("where you are")
        for role, name, description in found
        if role not in ("LabelText", "StaticText")
    )


@pytest.mark.parametrize("form", ["booking-form", "change-form"])
def test_forms_on_a_phone_by_keys(page: Page, sight: Service, form: str) -> None:
    """At 390 px the panel keeps the focus, nothing overflows, and Esc leads back."""
    _open_form(page, sight, form, 390)
    panel = page.script("return document.getElementById(arguments[0]).closest('dialog').id", form)
    assert page.script("return document.getElementById(arguments[0]).matches(':modal')", panel) is True
    assert page.script("return document.documentElement.scrollWidth <= innerWidth") is True
    inside = "const e = document.activeElement; return e === document.body || e.closest('dialog').id === arguments[0]"
    for _ in range(5):
        page.tab()
        assert page.script(inside, panel) is True
    page.script("document.querySelector(`#${arguments[0]} .alternatives button`).focus()", form)
    page.press(Keys.ESCAPE)
    if form == "change-form":
        assert page.focus() == "Change the end"
        page.press(Keys.ESCAPE)
    assert not page.shown(f"#{panel}")


def test_roles_as_the_browser_sees_them(page: Page, sight: Service) -> None:
    """The accessibility tree has the parts under their names."""
    page.open()
    nodes: list[dict[str, Any]] = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    found = {
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")
    }
    wanted = {
        ("heading", "Lease calendar"),
        ("main", ""),
        ("search", "Filter the leases"),
        ("tablist", "Views"),
        ("tab", "Timeline"),
        ("tabpanel", "Timeline"),
        ("application", "Hosts over time"),
        ("switch", "Follow now"),
        ("searchbox", "Name or id"),
        ("combobox", "Project"),
        ("group", "Kind"),
        ("checkbox", "best-effort"),
        ("list", "Legend"),
        ("button", "Zoom in"),
    }
    assert wanted - found == set()


def test_tab_order(page: Page, sight: Service) -> None:
    """Tab goes through the page from top to bottom: the skip link, filters, views, tools, the chart; and back."""
    page.open()
    order = [page.tab() for _ in range(27)]
    assert order[:4] == ["skip", "Filters 8 leases", "name", "project"]
    assert order[4:13] == ["kind"] * 4 + ["state"] * 5
    assert order[13:22] == ["tab-timeline", "book", "Hour", "Day", "Week", "Month", "Fit", "zoom-out", "zoom-in"]
    assert order[22:] == ["follow", "rows", "rows-fit", "help-open", "chart"]
    assert page.tab(back=True) == "help-open"


def test_focus_is_to_be_seen(page: Page, sight: Service) -> None:
    """Each element that Tab reaches has an outline of at least 2 px."""
    page.open()
    for _ in range(27):
        page.tab()
        style = page.script(
            "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]"
        )
        assert style[0] != "none"
        assert style[1] >= 2


def test_skip_link(page: Page, sight: Service) -> None:
    """The first Tab stop leads to the chart and does not change the address."""
    page.open("#name=e")
    page.tab()
    page.press(Keys.ENTER)
    assert page.focus() == "chart"
    assert page.driver.current_url.endswith("#name=e")


def test_views_by_keys(page: Page, sight: Service) -> None:
    """Arrow keys choose the view inside the list of tabs; only the chosen tab is in the tab order."""
    page.open()
    page.script("document.getElementById('tab-timeline').focus()")
    page.press(Keys.ARROW_RIGHT)
    assert page.focus() == "tab-queue"
    assert page.shown("#view-queue")
    assert page.one("#tab-queue").get_attribute("aria-selected") == "true"
    page.press(Keys.END)
    assert page.focus() == "tab-project"
    page.press(Keys.ARROW_RIGHT)
    assert page.focus() == "tab-timeline"
    assert [tab.get_attribute("tabindex") for tab in page.all("[role=tab]")] == ["0", "-1", "-1", "-1", "-1", "-1"]


def test_help_is_a_dialog(page: Page, sight: Service) -> None:
    """The list of keys opens by a key, keeps the focus inside, and closes with Esc."""
    page.open()
    page.script("document.getElementById('help-open').focus()")
    page.press(Keys.ENTER)
    assert page.text("#help h2") == "Keys of the timeline"
    assert page.script("return document.activeElement.closest('dialog').id") == "help"
    page.press(Keys.ESCAPE)
    assert not page.shown("#help")
    assert page.focus() == "help-open"


@pytest.mark.parametrize("view", VIEWS)
def test_narrow_screen(page: Page, sight: Service, view: str) -> None:
    """At 360 px nothing overflows to the side, with filters and messages open as well."""
    long = "a-name-without-any-place-to-break-it-that-goes-on-and-on"
    sight.put(lease(long, "reservation", "active", holdings=[holding(-1, 2, [8])], project_id="f" * 64))
    page.resize(360, 740)
    page.open(f"#view={view}")
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.script(overflow) == 0
    page.one("#filters summary").click()
    assert page.shown("#filter-form")
    assert page.script(overflow) == 0
    page.script("location.hash = arguments[0]", f"view={view}&name=nothing-of-that-name-at-all")
    page.until(lambda: page.shown("#message"))
    assert page.script(overflow) == 0


def test_details_on_a_narrow_screen(page: Page, sight: Service) -> None:
    """The details cover a narrow screen, keep the focus inside, and return it to where they were opened."""
    page.resize(360, 740)
    page.open("#view=leases")
    page.script("document.querySelector('#view-leases [data-lease=id-mesh]').focus()")
    page.press(Keys.ENTER)
    assert page.script("return document.getElementById('details').matches(':modal')") is True
    assert page.script("const d = document.getElementById('details'); return d.scrollWidth <= d.clientWidth") is True
    assert page.script("return document.documentElement.scrollWidth <= innerWidth") is True
    inside = "const e = document.activeElement; return e === document.body || e.closest('#details') !== null"
    for _ in range(6):
        page.tab()
        # Between the last and the first element, the focus is in the browser's own controls.
        assert page.script(inside) is True
    page.press(Keys.ESCAPE)
    assert not page.shown("#details")
    assert page.focus() == "id-mesh"


def test_details_beside_the_chart(page: Page, sight: Service) -> None:
    """On a wide screen the chart stays usable beside the panel, and the page does not scroll."""
    page.open("#lease=id-course")
    assert page.script("return document.getElementById('details').matches(':modal')") is False
    assert page.script("return document.documentElement.scrollHeight - innerHeight") <= 0
    page.go_to_chart()
    page.press("w")
    assert page.script("return calendar.timeline.span") == 7 * 86_400
    page.press(Keys.ESCAPE)
    assert not page.shown("#details")


def test_names_are_text(page: Page, service: Service) -> None:
    """Names that tenants choose are shown literally wherever they appear, and never interpreted as markup."""
    evil = "<img src=x onerror=document.title='broken'>"
    service.set_hosts([host(1) | {"name": evil}])
    bad = lease("x", "reservation", "active", holdings=[holding(-1, 3, [1])], project_id=evil, reason=evil)
    service.put(bad | {"name": evil})
    service.history["id-x"] = [{"time": "2026-03-02T10:00:00+00:00", "from": evil, "to": evil, "reason": evil}]
    page.open("#view=leases&lease=id-x")
    page.until(lambda: evil in page.text(".history"))
    assert page.names("leases") == [evil]
    assert page.text("#details-title") == evil
    assert evil in page.text("#details .holding")
    page.one("#tab-timeline").click()
    x, y, width, height = page.boxes("x")[0]
    page.move_to(x + width / 2, y + height / 2).perform()
    page.until(lambda: evil in page.text("#tip"))
    assert page.driver.title == "Lease calendar"
    assert page.all("img") == []


def test_touch_zooms_with_two_fingers(page: Page, sight: Service) -> None:
    """Moving two fingers apart shows a shorter time."""
    page.open("#start=1772400000")
    source = """
    const chart = document.getElementById("chart");
    const send = (type, pointerId, clientX) => chart.dispatchEvent(
      new PointerEvent(type, {pointerId, clientX, clientY: 600, pointerType: "touch", bubbles: true, button: 0}));
    send("pointerdown", 1, 500);
    send("pointerdown", 2, 600);
    send("pointermove", 2, 700);
    send("pointerup", 1, 500);
    send("pointerup", 2, 700);
    return calendar.timeline.span;
    """
    assert page.script(source) == pytest.approx(43_200)
    assert not page.shown("#details")


def test_space_and_enter_press_buttons(page: Page, sight: Service) -> None:
    """Table headers work by keyboard."""
    page.open("#view=leases")
    page.script("document.querySelector('#view-leases thead button').focus()")
    ActionChains(page.driver).send_keys(Keys.SPACE).perform()
    assert page.one("#view-leases th").get_attribute("aria-sort") == "ascending"
