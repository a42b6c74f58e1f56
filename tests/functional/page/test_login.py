"""Logging in on the page, at a real Keystone.

Keystone's end of WebSSO needs Apache with a module for federation, and an identity provider. In its place stands a
small page on this machine that posts the form which Keystone would answer at the end (``cloud.form``), with real tokens
of the real Keystone, from an origin that the service is told is Keystone's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import requests
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.support.select import Select

from tests.functional.page.browser import Page
from tests.functional.page.cloud import Cloud, Sites, form
from tests.functional.page.service import Service
from tests.servers.keystone import PASSWORD, Keystone, User

_WEBSSO = "/identity/v3/auth/OS-FEDERATION/websso/openid"
#: Reports violations of the policy from the first line of a page on.
_WATCH = """
window.violations = [];
const report = ({ violatedDirective: directive, blockedURI: uri }) => violations.push(`${directive} ${uri}`);
addEventListener("securitypolicyviolation", report);
"""


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    running = Sites()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory, keystone: Keystone, sites: Sites) -> Iterator[Cloud]:
    keystone.ensure_running()
    made = Cloud(tmp_path_factory.mktemp("cloud"), keystone, sites)
    yield made
    made.close()


@pytest.fixture
def page(driver: Chrome, cloud: Cloud, keystone: Keystone) -> Iterator[Page]:
    """The page of the service, of which the browser knows nothing yet."""
    keystone.ensure_running()
    page = Page(driver, cloud.url, Service())
    page.reset()
    driver.get(f"{cloud.url}icon.svg")
    driver.execute_script("sessionStorage.clear(); localStorage.clear()")
    watch = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
    driver.get("about:blank")
    driver.get(cloud.url)
    yield page
    violations = page.script("return window.violations ?? []")
    violations += [entry for entry in page.console() if "Content Security Policy" in entry]
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", watch)
    driver.get("about:blank")
    assert violations == []


def _log_in(page: Page, user: User, password: str = PASSWORD) -> None:
    page.until(lambda: page.shown("#password-form"))
    _type(page, "#password-form [name=user]", user.name)
    _type(page, "#password-form [name=password]", password)
    page.press(Keys.ENTER)


def _type(page: Page, selector: str, text: str) -> None:
    field = page.one(selector)
    field.clear()
    field.send_keys(text)


def _live(page: Page) -> None:
    page.until(lambda: page.text("#status") == "Live" and not page.shown("#login"))


def _token(page: Page) -> str:
    return str(page.script("return sessionStorage.getItem('lease-scheduler.token')"))


def _revoke(page: Page, cloud: Cloud) -> None:
    """End the login of the page from outside."""
    token = _token(page)
    headers = {"X-Auth-Token": token, "X-Subject-Token": token}
    requests.delete(f"{cloud.keystone.url}/auth/tokens", headers=headers, timeout=30).raise_for_status()


def _leave_something_typed(page: Page, cloud: Cloud) -> None:
    """Type a name that is nobody else's business, and have the login end."""
    _log_in(page, cloud.person)
    _live(page)
    page.one("#book").click()
    _type(page, "#booking-form [name=name]", "private")
    _revoke(page, cloud)


def _session(page: Page) -> dict[str, object]:
    found: dict[str, object] = page.script("return JSON.parse(sessionStorage.getItem('lease-scheduler.session'))")
    return found


def _project(page: Page) -> str:
    return str(Select(page.one("#account select")).first_selected_option.get_attribute("value"))


def _fits(page: Page) -> bool:
    return bool(page.script("return document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("width", [1280, 390])
def test_by_password(page: Page, cloud: Cloud, width: int) -> None:
    """A wrong password is a plain error; the right one shows the calendar, where one books, changes project, leaves."""
    page.resize(width, 844)
    page.until(lambda: page.shown("#password-form"))
    assert page.one("#password-form [name=domain]").get_attribute("value") == "Default"
    assert page.focus() == "user"
    assert _fits(page)
    _log_in(page, cloud.person, "wrong")
    page.says("#login-message", "Keystone does not accept this user name, domain and password")
    assert page.focus() == "password"
    _type(page, "#password-form [name=password]", PASSWORD)
    page.press(Keys.ENTER)
    _live(page)
    assert _fits(page)
    assert page.text("#account .who") == cloud.person.name
    assert _project(page) == cloud.first
    first, unscoped = _token(page), str(_session(page)["unscoped"])
    # Projects of the filter and of a new lease.
    page.script("document.getElementById('filters').open = true")
    chosen = Select(page.one("#filter-form select"))
    page.until(lambda: chosen.first_selected_option.get_attribute("value") == cloud.first)
    assert chosen.options[0].text.endswith("(my project)")
    assert chosen.options[1].text == "all"
    page.one("#book").click()
    booking = Select(page.one("#booking-form [name=project]"))
    assert booking.first_selected_option.get_attribute("value") == cloud.first
    assert [option.get_attribute("value") for option in booking.options] == [cloud.first, cloud.second]
    name = f"course-{width}"
    _type(page, "#booking-form [name=name]", name)
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: page.text("#details-title") == name)
    page.one("#details .close").click()
    assert cloud.first in [lease["project_id"] for lease in _leases(cloud, first) if lease["name"] == name]
    # Another project has none of the leases.
    Select(page.one("#account select")).select_by_value(cloud.second)
    page.until(lambda: _token(page) != first and page.script("return calendar.model.own.id") == cloud.second)
    page.until(lambda: page.script("return calendar.model.known().length") == 0)
    assert chosen.first_selected_option.get_attribute("value") == cloud.second
    page.until(lambda: not cloud.is_valid(first))
    second = _token(page)
    assert cloud.is_valid(second)
    page.one("#leave").click()
    page.until(lambda: page.shown("#password-form"))
    assert not cloud.is_valid(second)
    assert not cloud.is_valid(unscoped)
    assert page.script("return sessionStorage.length") == 0
    assert page.one("#password-form [name=user]").get_attribute("value") == ""
    assert PASSWORD not in cloud.log()
    assert first not in cloud.log()
    assert f"login of '{cloud.person.name}' of domain 'Default' from 127.0.0.1 failed with 401" in cloud.log()


def _leases(cloud: Cloud, token: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = cloud.ask(token, "GET", "leases")["leases"]
    return found


def test_the_project_used_last_is_chosen(page: Page, cloud: Cloud) -> None:
    _log_in(page, cloud.person)
    _live(page)
    Select(page.one("#account select")).select_by_value(cloud.second)
    page.until(lambda: page.script("return calendar.model.own?.id") == cloud.second)
    page.one("#leave").click()
    _log_in(page, cloud.person)
    _live(page)
    assert _project(page) == cloud.second


def test_the_default_project_comes_before_the_first(page: Page, cloud: Cloud) -> None:
    cloud.keystone.ask("PATCH", f"users/{cloud.person.id}", {"user": {"default_project_id": cloud.second}})
    _log_in(page, cloud.person)
    _live(page)
    assert _project(page) == cloud.second
    cloud.keystone.ask("PATCH", f"users/{cloud.person.id}", {"user": {"default_project_id": None}})


def test_by_keys_only(page: Page, cloud: Cloud) -> None:
    """The dialog keeps the focus, Esc does not close it, and a project is chosen by an arrow key."""
    page.until(lambda: page.shown("#password-form"))
    page.script("document.getElementById('login').addEventListener('close', () => { window.loginClosed = true; })")
    page.press(Keys.ESCAPE, Keys.ESCAPE)
    page.until(lambda: page.shown("#password-form"))
    assert page.script("return window.loginClosed ?? false") is False
    page.script("document.querySelector('#password-form [name=user]').focus()")
    page.press(cloud.person.name)
    assert page.tab() == "password"
    page.press(PASSWORD)
    inside = "const e = document.activeElement; return e === document.body || e.closest('dialog')?.id === 'login'"
    for _ in range(8):
        page.tab()
        assert page.script(inside) is True
    page.script("document.querySelector('#password-form [name=password]').focus()")
    page.press(Keys.ENTER)
    _live(page)
    page.script("document.querySelector('#account select').focus()")
    page.press(Keys.ARROW_DOWN)
    page.until(lambda: page.script("return calendar.model.own?.id") == cloud.second)
    assert page.tab() == "leave"
    page.press(Keys.ENTER)
    page.until(lambda: page.shown("#password-form"))


def test_with_a_passcode(page: Page, cloud: Cloud) -> None:
    """The page asks for a passcode when Keystone does, and keeps the password meanwhile."""
    user = cloud.keystone.user("careful", cloud.first, "member")
    passcode = cloud.needs_passcode(user)
    _log_in(page, user)
    page.says("#login-message", "Keystone also asks for a one-time passcode")
    assert page.focus() == "passcode"
    page.press("000000", Keys.ENTER)
    page.until(lambda: "does not accept" in page.text("#login-message"))
    assert page.focus() == "passcode"
    page.press(passcode(), Keys.ENTER)
    _live(page)
    assert _project(page) == cloud.first
    assert page.one("#account select").is_enabled() is False


@pytest.mark.parametrize("by", ["id", "name"])
def test_by_application_credential(page: Page, cloud: Cloud, by: str) -> None:
    """It is for one project, so there is no other one to choose."""
    user = cloud.person
    credential = cloud.application_credential(user, f"page-{by}")
    page.until(lambda: page.shown("#login select"))
    Select(page.one("#login select")).select_by_value("credential")
    values = {"id": credential} if by == "id" else {"name": f"page-{by}", "user": user.name}
    page.script("document.querySelector('#credential-form details').open = true")
    for name, value in values.items():
        _type(page, f"#credential-form [name={name}]", value)
    _type(page, "#credential-form [name=secret]", "wrong")
    page.press(Keys.ENTER)
    page.says("#login-message", "Keystone does not accept this application credential")
    _type(page, "#credential-form [name=secret]", PASSWORD)
    page.press(Keys.ENTER)
    _live(page)
    assert (_project(page), _session(page)["unscoped"]) == (cloud.first, None)
    assert page.one("#account select").is_enabled() is False
    token = _token(page)
    page.one("#leave").click()
    page.until(lambda: page.shown("#login"))
    assert not cloud.is_valid(token)


def test_a_user_without_a_project(page: Page, cloud: Cloud) -> None:
    made = cloud.keystone.user("lonely", cloud.first, "member")
    cloud.keystone.ask("PATCH", f"projects/{cloud.first}", {"project": {"enabled": True}})
    roles = cloud.keystone.ask("GET", f"projects/{cloud.first}/users/{made.id}/roles")["roles"]
    for role in roles:
        cloud.keystone.ask("DELETE", f"projects/{cloud.first}/users/{made.id}/roles/{role['id']}")
    _log_in(page, made)
    page.until(lambda: page.text("#login-message").startswith("You have no role in any project"))


def test_a_token_by_hand(page: Page, cloud: Cloud) -> None:
    """The page knows its project too; there is nothing to log out of."""
    page.until(lambda: page.shown("#login select"))
    Select(page.one("#login select")).select_by_value("token")
    page.one("#token-form input").send_keys(cloud.keystone.token(cloud.person), Keys.ENTER)
    _live(page)
    assert not page.shown("#account")
    assert page.shown("#forget")
    page.one("#book").click()
    (project,) = Select(page.one("#booking-form [name=project]")).options
    assert project.text == cloud.person.project


@pytest.mark.parametrize("width", [1280, 390])
def test_a_token_that_expires_costs_nothing(page: Page, cloud: Cloud, width: int) -> None:
    """The login opens above what people are filling in, and what they have typed is still there after it."""
    page.resize(width, 844)
    _log_in(page, cloud.person)
    _live(page)
    page.one("#book").click()
    _type(page, "#booking-form [name=name]", "half typed")
    _revoke(page, cloud)
    page.until(lambda: page.shown("#password-form"))
    assert page.text("#login-message") == "Your login has ended. What you have typed is still there."
    assert page.one("#password-form [name=user]").get_attribute("value") == cloud.person.name
    assert page.focus() == "password"
    page.press(PASSWORD, Keys.ENTER)
    _live(page)
    assert page.shown("#booking-form")
    assert page.one("#booking-form [name=name]").get_attribute("value") == "half typed"


def test_somebody_else_finds_nothing(page: Page, cloud: Cloud) -> None:
    """After a login that has ended, another user sees nothing of what the first one typed or chose."""
    _leave_something_typed(page, cloud)
    _log_in(page, cloud.stranger)
    page.until(lambda: page.text("#account .who") == cloud.stranger.name)
    _live(page)
    assert page.one("#booking-form [name=name]").get_attribute("value") == ""
    assert not page.shown("#booking")


def test_a_token_by_hand_after_a_login_finds_nothing(page: Page, cloud: Cloud) -> None:
    """The page cannot know whose token it is."""
    _leave_something_typed(page, cloud)
    page.until(lambda: page.shown("#password-form"))
    Select(page.one("#login select")).select_by_value("token")
    page.one("#token-form input").send_keys(cloud.keystone.token(cloud.stranger), Keys.ENTER)
    page.until(lambda: page.script("return calendar.model.own?.id") == cloud.stranger.project_id)
    _live(page)
    assert page.one("#booking-form [name=name]").get_attribute("value") == ""
    assert not page.shown("#account")


def test_a_keystone_that_is_down(page: Page, cloud: Cloud, keystone: Keystone) -> None:
    """Logging in says so; logging out forgets the tokens all the same, and says later that they are still valid."""
    page.until(lambda: page.shown("#password-form"))
    keystone.kill()
    _log_in(page, cloud.person)
    page.says("#login-message", "The identity service does not answer at present; try again")
    keystone.ensure_running()
    _type(page, "#password-form [name=password]", PASSWORD)
    page.press(Keys.ENTER)
    _live(page)
    token = _token(page)
    keystone.kill()
    page.one("#leave").click()
    page.until(lambda: page.text("#status").startswith("Connection lost"))
    page.until(lambda: page.script("return sessionStorage.getItem('lease-scheduler.token')") is None)
    keystone.ensure_running()
    page.until(lambda: page.shown("#password-form"))
    assert "your token stays valid until 20" in page.text("#login-message")
    assert cloud.is_valid(token)


class TestWebSso:
    def _begin(self, page: Page) -> None:
        page.until(lambda: page.shown("#login select"))
        Select(page.one("#login select")).select_by_visible_text("Example Login")
        page.one("#websso-form button").click()

    def test_there_and_back(self, page: Page, cloud: Cloud, sites: Sites) -> None:
        """The tab comes back with a login, at the same view; the address never has a token."""
        origins: list[str] = []

        def answer(query: dict[str, list[str]]) -> str:
            origins.extend(query["origin"])
            return form(query["origin"][0], cloud.unscoped(cloud.person))

        sites.pages[_WEBSSO] = answer
        page.script("location.hash = '#view=queue'")
        self._begin(page)
        page.until(lambda: page.text("#account .who") == cloud.person.name)
        _live(page)
        assert origins == [f"{cloud.service.url}/login/websso"]
        assert page.driver.current_url == f"{cloud.url}#view=queue"
        assert _project(page) == cloud.first
        assert _token(page) not in page.driver.page_source

    def test_what_was_typed_comes_back(self, page: Page, cloud: Cloud, sites: Sites) -> None:
        sites.pages[_WEBSSO] = lambda query: form(query["origin"][0], cloud.unscoped(cloud.person))
        self._begin(page)
        _live(page)
        page.one("#book").click()
        _type(page, "#booking-form [name=name]", "half typed")
        token = _token(page)
        headers = {"X-Auth-Token": token, "X-Subject-Token": token}
        requests.delete(f"{cloud.keystone.url}/auth/tokens", headers=headers, timeout=30).raise_for_status()
        self._begin(page)
        _live(page)
        page.until(lambda: page.shown("#booking-form"))
        assert page.one("#booking-form [name=name]").get_attribute("value") == "half typed"
        assert page.script("return sessionStorage.getItem('lease-scheduler.draft')") is None

    def test_a_tab_that_has_not_begun_takes_no_token(self, page: Page, cloud: Cloud, sites: Sites) -> None:
        """Even if Keystone itself posts it, as when an attacker has sent somebody there."""
        token = cloud.unscoped(cloud.stranger)
        sites.pages["/attack"] = lambda _: form(f"{cloud.service.url}/login/websso", token)
        page.driver.get(f"{sites.url()}/attack")
        page.until(lambda: "has not begun to log in" in page.text("[role=status]"))
        assert page.script("return sessionStorage.length") == 0

    def test_a_login_that_was_begun_long_ago_takes_no_token(self, page: Page, cloud: Cloud, sites: Sites) -> None:
        token = cloud.unscoped(cloud.person)
        sites.pages["/late"] = lambda _: form(f"{cloud.service.url}/login/websso", token)
        page.script(
            "sessionStorage.setItem('lease-scheduler.websso', JSON.stringify({at: Date.now() - 601e3, hash: ''}))"
        )
        page.driver.get(f"{sites.url()}/late")
        page.until(lambda: "too long ago" in page.text("[role=status]"))
        assert page.script("return sessionStorage.length") == 0

    def test_another_site_cannot_post_a_token(self, page: Page, cloud: Cloud, sites: Sites) -> None:
        """Not even in a tab that has begun a login."""
        token = cloud.unscoped(cloud.stranger)
        sites.pages["/attack"] = lambda _: form(f"{cloud.service.url}/login/websso", token)
        page.script("sessionStorage.setItem('lease-scheduler.websso', JSON.stringify({at: Date.now(), hash: ''}))")
        page.driver.get(f"{sites.url('localhost')}/attack")
        page.until(lambda: page.driver.current_url.startswith(cloud.service.url))
        error = json.loads(page.text("body"))
        assert (error["error_code"], sites.url() in error["error_message"]) == (403, True)
        assert page.script("return sessionStorage.getItem('lease-scheduler.token')") is None
        page.console()

    def test_a_token_that_is_not_valid(self, page: Page, cloud: Cloud, sites: Sites) -> None:
        sites.pages[_WEBSSO] = lambda query: form(query["origin"][0], "gAAAAAB-forged")
        self._begin(page)
        page.until(lambda: "does not accept the token" in page.text("[role=status]"))
        page.one("#message a").click()
        page.until(lambda: page.shown("#password-form"))


def test_views_keep_the_policy(page: Page, cloud: Cloud) -> None:
    """Nothing in any view or dialog violates the policy; what does is blocked, so the test would see it."""
    cloud.lease(cloud.person, "to see")
    _log_in(page, cloud.person)
    _live(page)
    page.until(lambda: page.script("return calendar.model.known().length") > 0)
    for view in ("queue", "leases", "free", "timeline"):
        page.one(f"#tab-{view}").click()
        page.drawn()
    page.one("#book").click()
    page.until(lambda: page.text("#booking .quote") != "")
    page.script("calendar.timeline.show(calendar.clock.now() - 3600, 14400)")
    page.script("document.getElementById('help').showModal()")
    page.drawn()
    page.script("document.getElementById('help').close()")
    page.one("#tab-leases").click()
    page.one("#view-leases tbody th button").click()
    page.until(lambda: page.all("#details .history li"))
    assert page.script("return violations") == []
    page.script(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.bad = 1'}))"
    )
    assert page.script("return [window.bad ?? null, violations]") == [None, ["script-src-elem inline"]]
    page.script("violations.length = 0")
    page.console()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_no_site_may_frame_the_page(page: Page, cloud: Cloud, sites: Sites, name: str) -> None:
    sites.pages["/frame"] = lambda _: f'<!doctype html><title></title><iframe src="{cloud.url}"></iframe>'
    page.driver.get(f"{sites.url(name)}/frame")
    page.driver.switch_to.frame(page.one("iframe"))
    assert not page.all("#chart")
    page.driver.switch_to.default_content()
    assert any("frame-ancestors 'none'" in entry for entry in page.console())


def test_a_site_that_may_frame_the_page(
    driver: Chrome, tmp_path_factory: pytest.TempPathFactory, keystone: Keystone, sites: Sites
) -> None:
    more = f"frame_ancestors = {sites.url('localhost')}\n"
    cloud = Cloud(tmp_path_factory.mktemp("framed"), keystone, sites, more)
    page = Page(driver, cloud.url, Service())
    page.reset()
    try:
        sites.pages["/frame"] = lambda _: f'<!doctype html><title></title><iframe src="{cloud.url}"></iframe>'
        for name, is_shown in (("localhost", True), ("127.0.0.1", False)):
            driver.get(f"{sites.url(name)}/frame")
            driver.switch_to.frame(page.one("iframe"))
            assert bool(page.all("#chart")) is is_shown
            driver.switch_to.default_content()
    finally:
        driver.get("about:blank")
        cloud.close()
    page.console()


def test_another_site_cannot_log_people_in_or_out(page: Page, cloud: Cloud, sites: Sites) -> None:
    """Neither a form nor a script of another site is served."""
    body = json.dumps({"domain": "Default", "user": cloud.person.name, "password": PASSWORD})
    sites.pages["/attack"] = lambda _: "<!doctype html><title></title>"
    page.driver.get(f"{sites.url('localhost')}/attack")
    source = """
    const [url, type, mode, body, done] = arguments;
    fetch(url, {method: "POST", headers: type ? {"Content-Type": type} : {}, mode, body})
      .then((answer) => done(`${answer.type} ${answer.status}`), (error) => done(error.name));
    """
    before = cloud.log().count("login of")
    url = f"{cloud.service.url}/login/password"
    for content_type, mode, wanted in (
        ("application/json", "cors", "TypeError"),
        ("text/plain", "no-cors", "opaque 0"),
        ("text/plain", "cors", "TypeError"),
    ):
        assert page.driver.execute_async_script(source, url, content_type, mode, body) == wanted
    assert cloud.log().count("login of") == before
    page.console()


def test_a_member_has_rows_to_drag_over(page: Page, cloud: Cloud) -> None:
    """One for each host of the site, without its name, and the number of hosts in use."""
    _log_in(page, cloud.stranger)
    _live(page)
    names = page.script(
        "return calendar.model.rows.filter((row) => row.stands_for !== 'projects').map((row) => row.name)"
    )
    assert names == ["Host 1", "Host 2", "Host 3", "Host 4"]
    assert page.text("#use-counts").endswith(" of 4")
    assert "compute-" not in page.script("return JSON.stringify([...calendar.model.rows])")
