"""The page in a frame: which session it takes from the page around it, and from whom it takes none."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import requests
from selenium.webdriver import Chrome

from tests.functional.page.browser import Page
from tests.functional.page.cloud import Cloud, Sites
from tests.functional.page.service import Service
from tests.servers.keystone import Keystone, User

#: A page that hands over what the test has put into ``given``, as often as it is asked.
_DASHBOARD = """<!doctype html><title></title><link rel="icon" href="data:,">
<script>
  window.given = null;
  window.asked = 0;
  const give = () => frames[0].postMessage({{type: "lease-scheduler.session", ...given}}, "{origin}");
  addEventListener("message", (event) => {{
    if (event.data?.type !== "lease-scheduler.ask") return;
    asked += 1;
    if (given) give();
  }});
</script>
<iframe src="{page}" width="1200" height="800"></iframe>{more}"""

#: What browsers do that keep nothing for sites in frames.
_NO_STORES = """
if (window.parent !== window) {
  const get = () => { throw new DOMException("denied", "SecurityError"); };
  for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, { get });
}
"""


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    running = Sites()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory, keystone: Keystone, sites: Sites) -> Iterator[Cloud]:
    keystone.ensure_running()
    made = Cloud(tmp_path_factory.mktemp("cloud"), keystone, sites, f"frame_ancestors = {sites.url()}\n")
    yield made
    made.close()


class Dashboard:
    """A site that shows the page in a frame."""

    def __init__(self, page: Page, cloud: Cloud, sites: Sites) -> None:
        self.page = page
        self._cloud = cloud
        self._sites = sites

    def open(self, given: dict[str, str] | None, more: str = "", name: str = "127.0.0.1") -> None:
        """Show the page, and hand it this session whenever it asks."""
        text = _DASHBOARD.format(origin=self._cloud.service.url, page=self._cloud.url, more=more)
        script = f"<script>given = {json.dumps(given)}</script>"
        self._sites.pages["/dashboard"] = lambda _: text.replace("<iframe", f"{script}<iframe")
        self.page.driver.get(f"{self._sites.url(name)}/dashboard")
        self.page.driver.switch_to.frame(0)

    def outside(self, source: str) -> object:
        """Run JavaScript in the page of the dashboard."""
        driver = self.page.driver
        driver.switch_to.default_content()
        found: object = driver.execute_script(source)
        driver.switch_to.frame(0)
        return found

    def session(self, user: User) -> dict[str, str]:
        """Return a session of a user for their project."""
        return {"token": self._cloud.keystone.token(user), "owner": f"{user.id} {user.project_id}"}


@pytest.fixture
def dashboard(driver: Chrome, cloud: Cloud, keystone: Keystone, sites: Sites) -> Iterator[Dashboard]:
    keystone.ensure_running()
    page = Page(driver, cloud.url, Service())
    page.reset()
    yield Dashboard(page, cloud, sites)
    driver.switch_to.default_content()
    driver.get("about:blank")
    page.console()


def _works_for(page: Page, user: User) -> None:
    page.until(
        lambda: page.text("#status") == "Live" and page.script("return calendar.model.own.id") == user.project_id
    )


def _token(page: Page) -> str | None:
    source = "const done = arguments[0]; import('./rest.js').then(({ token }) => done(token()));"
    found: str | None = page.driver.execute_async_script(source)
    return found


def test_the_page_works_with_the_session_that_it_is_given(dashboard: Dashboard, cloud: Cloud) -> None:
    """The dashboard decides about project and end of the session, and nothing of it is kept in the browser."""
    page, session = dashboard.page, dashboard.session(cloud.person)
    dashboard.open(session)
    _works_for(page, cloud.person)
    assert _token(page) == session["token"]
    assert [page.shown(each) for each in ("#login", "#account", "#forget")] == [False, False, False]
    assert page.script("return [sessionStorage.length, localStorage.length]") == [0, 0]
    assert session["token"] not in page.script("return location.href")
    assert session["token"] not in cloud.log()


def test_browsers_may_refuse_to_keep_anything(dashboard: Dashboard, cloud: Cloud) -> None:
    page = dashboard.page
    added = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _NO_STORES})
    try:
        dashboard.open(dashboard.session(cloud.person))
        _works_for(page, cloud.person)
        look = "try { return sessionStorage.length } catch (error) { return error.name }"
        assert page.script(look) == "SecurityError"
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_a_session_of_somebody_else_begins_anew(dashboard: Dashboard, cloud: Cloud) -> None:
    page = dashboard.page
    dashboard.open(dashboard.session(cloud.person))
    _works_for(page, cloud.person)
    page.one("#book").click()
    page.one("#booking-form [name=name]").send_keys("private")
    dashboard.outside(f"given = {json.dumps(dashboard.session(cloud.stranger))}; give()")
    _works_for(page, cloud.stranger)
    assert not page.shown("#booking")
    assert page.one("#booking-form [name=name]").get_attribute("value") == ""


def test_a_session_that_has_ended_is_asked_for_again(dashboard: Dashboard, cloud: Cloud) -> None:
    page, first = dashboard.page, dashboard.session(cloud.person)
    dashboard.open(first)
    _works_for(page, cloud.person)
    page.one("#book").click()
    page.one("#booking-form [name=name]").send_keys("half typed")
    second = dashboard.session(cloud.person)
    dashboard.outside(f"given = {json.dumps(second)}")
    headers = {"X-Auth-Token": second["token"], "X-Subject-Token": first["token"]}
    requests.delete(f"{cloud.keystone.url}/auth/tokens", headers=headers, timeout=30).raise_for_status()
    page.script("calendar.connection.poll()")
    page.until(lambda: _token(page) == second["token"])
    _works_for(page, cloud.person)
    assert page.one("#booking-form [name=name]").get_attribute("value") == "half typed"


def test_a_dashboard_that_gives_no_session(dashboard: Dashboard) -> None:
    """People can log in as without a frame."""
    dashboard.open(None)
    dashboard.page.until(lambda: dashboard.page.shown("#password-form"))
    assert dashboard.outside("return asked") == 2


def test_a_session_of_another_site_is_not_taken(dashboard: Dashboard, cloud: Cloud, sites: Sites) -> None:
    """Not even of one that the dashboard shows in a frame beside the page."""
    attack = json.dumps({"type": "lease-scheduler.session", **dashboard.session(cloud.stranger)})
    script = f"<!doctype html><script>setInterval(() => parent.frames[0].postMessage({attack}, '*'), 50)</script>"
    sites.pages["/attack"] = lambda _: script
    for name in ("127.0.0.1", "localhost"):
        dashboard.open(None, f'<iframe src="{sites.url(name)}/attack"></iframe>')
        dashboard.page.until(lambda: dashboard.page.shown("#password-form"))
        assert _token(dashboard.page) is None


@pytest.mark.parametrize("wrong", [{"token": "not a token"}, {"token": 7}, {"owner": None}])
def test_a_message_that_is_no_session(dashboard: Dashboard, cloud: Cloud, wrong: dict[str, str]) -> None:
    dashboard.open({**dashboard.session(cloud.person), **wrong})
    dashboard.page.until(lambda: dashboard.page.shown("#password-form"))
    assert _token(dashboard.page) is None


def test_a_site_that_is_not_listed(dashboard: Dashboard, cloud: Cloud) -> None:
    """It cannot show the page, so the page cannot ask it."""
    dashboard.open(dashboard.session(cloud.person), name="localhost")
    assert not dashboard.page.all("#chart")
    assert dashboard.outside("return asked") == 0
    assert any("frame-ancestors" in entry for entry in dashboard.page.console())


def test_a_page_without_a_frame_takes_no_session(dashboard: Dashboard, cloud: Cloud, sites: Sites) -> None:
    """Not even from a listed site that has opened it."""
    driver = dashboard.page.driver
    attack = json.dumps({"type": "lease-scheduler.session", **dashboard.session(cloud.stranger)})
    opened = f"const other = open('{cloud.url}'); setInterval(() => other.postMessage({attack}, '*'), 50)"
    sites.pages["/opener"] = lambda _: "<!doctype html><title></title>"
    driver.get(f"{sites.url()}/opener")
    first = driver.current_window_handle
    driver.execute_script(opened)
    (second,) = set(driver.window_handles) - {first}
    driver.switch_to.window(second)
    try:
        dashboard.page.until(lambda: dashboard.page.shown("#password-form"))
        assert _token(dashboard.page) is None
    finally:
        driver.close()
        driver.switch_to.window(first)
