"""The panel of the calendar page in a real Horizon, as operators run it, with a real Keystone and a browser.

Horizon is opened under the name ``localhost``, so it is of another site than the service, and the browser treats the
page as one of a third party. Under the name ``127.0.0.1``, the same Horizon is a site that the service does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import requests
from selenium.common.exceptions import JavascriptException, NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.servers.base import MissingServerError
from tests.servers.fixtures import missing, running
from tests.servers.keystone import PASSWORD, Keystone, User
from tests.servers.openstack import horizon
from tests.servers.openstack.horizon import HorizonOfOperators
from tests.servers.reservation import ReservationService

pytestmark = pytest.mark.slow

LIMIT = 60
_PANEL = "project/lease_calendar/"
_LINK = "a[href='/project/lease_calendar/']"

Value = TypeVar("Value")


class Cloud:
    """The service in Keystone's catalogue, with four hosts in its pool, and a member of two projects."""

    def __init__(self, folder: Path, keystone: Keystone, dashboard: str) -> None:
        self.keystone = keystone
        service = keystone.user("reservation", keystone.project("service"), "service")
        admin = keystone.user("operator", keystone.project("operators"), "admin")
        self.other = keystone.project("beta")
        self.member = keystone.user("student", keystone.project("alpha"), "member")
        keystone.give_role(self.member.id, self.other, "member")
        lines = f"[api]\nauth_strategy = keystone\n[simulated_cloud]\nhosts = 4\n{keystone.middleware(service)}"
        self.service = ReservationService(folder, configuration=f"{lines}[page]\nframe_ancestors = {dashboard}\n")
        self.service.start()
        self.in_catalogue = keystone.service("reservation", f"{self.service.url}/v1")
        for number in range(1, 5):
            self.ask(admin, "POST", "os-hosts", {"name": f"compute-{number}"})

    def ask(self, user: User, method: str, path: str, body: Any = None) -> Any:
        """Send a request below ``/v1/``, and return the body of the answer."""
        headers = {"X-Auth-Token": self.keystone.token(user), "OpenStack-API-Version": "reservation latest"}
        answer = requests.request(method, f"{self.service.url}/v1/{path}", json=body, headers=headers, timeout=LIMIT)
        assert answer.ok, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def dashboard(request: pytest.FixtureRequest, keystone: Keystone) -> Iterator[HorizonOfOperators]:
    try:
        python = horizon.install(request.config.cache.mkdir("openstack"))
    except MissingServerError as error:
        missing(str(error))
    with running(lambda folder: HorizonOfOperators(folder, python, keystone.url)) as started:
        yield started


@pytest.fixture(scope="module")
def cloud(
    tmp_path_factory: pytest.TempPathFactory, keystone: Keystone, dashboard: HorizonOfOperators
) -> Iterator[Cloud]:
    made = Cloud(tmp_path_factory.mktemp("service"), keystone, f"http://localhost:{dashboard.port}")
    yield made
    keystone.remove_service(made.in_catalogue)
    made.service.kill()


class Browser:
    """A person in front of Horizon, under one of its names."""

    def __init__(self, driver: Chrome, dashboard: HorizonOfOperators, user: User, name: str = "localhost") -> None:
        self.driver = driver
        self.url = f"http://{name}:{dashboard.port}"
        # A page with scripts could still get its cookie back.
        self.go("static/lease_calendar/panel.css")
        driver.delete_all_cookies()
        self.log_in(user)

    def log_in(self, user: User) -> None:
        """Fill in Horizon's form."""
        self.go("auth/login/")
        for field, text in (("username", user.name), ("password", PASSWORD)):
            self.driver.find_element(By.NAME, field).send_keys(text)
        self.driver.find_element(By.ID, "loginBtn").click()
        self.until(lambda: "/auth/login" not in self.driver.current_url)

    def go(self, path: str) -> None:
        """Open a page of Horizon."""
        self.driver.get(f"{self.url}/{path}")

    def until(self, condition: Callable[[], Value]) -> Value:
        """Wait until something is true, and return it."""
        errors = (NoSuchElementException, StaleElementReferenceException, JavascriptException)
        wait = WebDriverWait(self.driver, LIMIT, poll_frequency=0.2, ignored_exceptions=errors)
        return wait.until(lambda _: condition(), f"{self.driver.current_url}: {self.driver.page_source[-3000:]}")

    def has(self, selector: str) -> bool:
        """Return whether the page has an element."""
        return bool(self.driver.find_elements(By.CSS_SELECTOR, selector))

    def says(self, text: str) -> None:
        """Wait until the panel shows a message in place of the calendar."""
        self.until(lambda: text in self.driver.find_element(By.ID, "lease-calendar").text)

    def open_panel(self, project_id: str) -> None:
        """Open the panel, wait until the page in it works for a project, and stay in its frame."""
        self.go(_PANEL)
        self.driver.switch_to.frame(self.driver.find_element(By.CSS_SELECTOR, "#lease-calendar iframe"))
        self.until(lambda: self.script("return calendar.model.own?.id") == project_id)
        self.until(lambda: self.driver.find_element(By.ID, "status").text == "Live")

    def script(self, source: str) -> Any:
        """Run JavaScript."""
        return self.driver.execute_script(source)

    def leave_frame(self) -> None:
        """Go back from the page in the panel to Horizon's."""
        self.driver.switch_to.default_content()

    def in_another_tab(self, path: str) -> None:
        """Open a page of Horizon in another tab, close it, and come back to the panel."""
        first = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        self.go(path)
        self.driver.close()
        self.driver.switch_to.window(first)
        # Headless, no tab is ever hidden.
        self.script("document.dispatchEvent(new Event('visibilitychange'))")


@pytest.fixture
def student(driver: Chrome, dashboard: HorizonOfOperators, cloud: Cloud) -> Iterator[Browser]:
    yield Browser(driver, dashboard, cloud.member)
    driver.switch_to.default_content()
    driver.get("about:blank")
    driver.get_log("browser")  # type: ignore[no-untyped-call]


def test_a_lease_is_booked_in_the_panel(student: Browser, cloud: Cloud, dashboard: HorizonOfOperators) -> None:
    """It is one of Horizon's user and project, and the token is in no address, page or log."""
    student.go(f"auth/switch/{cloud.member.project_id}/?next=/project/lease_calendar/")
    assert student.has(_LINK)
    student.open_panel(cloud.member.project_id)
    assert not student.driver.find_element(By.ID, "login").is_displayed()
    assert student.script("return [sessionStorage.length, localStorage.length]") == [0, 0]
    student.driver.find_element(By.ID, "book").click()
    student.driver.find_element(By.CSS_SELECTOR, "#booking-form [name=name]").send_keys("from-horizon")
    student.driver.find_element(By.CSS_SELECTOR, "#booking-form [type=submit]").click()
    student.until(lambda: student.driver.find_element(By.ID, "details-title").text == "from-horizon")
    (lease,) = cloud.ask(cloud.member, "GET", "leases")["leases"]
    assert (lease["name"], lease["project_id"]) == ("from-horizon", cloud.member.project_id)
    token = student.driver.execute_async_script(
        "const done = arguments[0]; import('./rest.js').then(({ token }) => done(token()));"
    )
    assert isinstance(token, str)
    assert len(token) > 20
    addresses = student.script("return [location.href, document.referrer]")
    student.leave_frame()
    seen = [*addresses, student.driver.current_url, student.driver.page_source, dashboard.log.read_text()]
    assert all(token not in text for text in (*seen, cloud.service.log.read_text()))


def test_another_project_in_another_tab(student: Browser, cloud: Cloud) -> None:
    student.go(f"auth/switch/{cloud.member.project_id}/?next=/project/lease_calendar/")
    student.open_panel(cloud.member.project_id)
    student.leave_frame()
    student.in_another_tab(f"auth/switch/{cloud.other}/?next=/project/lease_calendar/")
    student.says("You now work for another project")
    assert not student.has("iframe")
    student.open_panel(cloud.other)


def test_the_end_of_the_session_in_another_tab(student: Browser, cloud: Cloud) -> None:
    """Horizon does not revoke the token, so the panel has to notice."""
    student.go(_PANEL)
    student.until(lambda: student.has("#lease-calendar[data-state=shown]"))
    student.driver.delete_all_cookies()
    student.script("document.dispatchEvent(new Event('visibilitychange'))")
    student.says("Your session in Horizon has ended")
    assert not student.has("iframe")


def test_work_in_the_frame_asks_whether_the_session_is_still_there(student: Browser, cloud: Cloud) -> None:
    student.go(f"auth/switch/{cloud.member.project_id}/?next=/project/lease_calendar/")
    student.open_panel(cloud.member.project_id)
    student.leave_frame()
    student.driver.delete_all_cookies()
    student.driver.switch_to.frame(0)
    # The page asks at most every 30 seconds.
    student.script("const now = performance.now.bind(performance); performance.now = () => now() + 60000")
    student.script("dispatchEvent(new Event('pointerdown'))")
    student.leave_frame()
    student.says("Your session in Horizon has ended")
    assert not student.has("iframe")


def test_a_dashboard_that_is_not_listed_shows_nothing(
    driver: Chrome, student: Browser, dashboard: HorizonOfOperators, cloud: Cloud
) -> None:
    """The browser refuses to show the page, so nothing asks for the token."""
    before = dashboard.log.read_text().count("/project/lease_calendar/session/")
    stranger = Browser(driver, dashboard, cloud.member, "127.0.0.1")
    driver.get_log("browser")  # type: ignore[no-untyped-call]
    stranger.go(_PANEL)
    stranger.says("does not allow this dashboard")
    entries: list[dict[str, str]] = driver.get_log("browser")  # type: ignore[no-untyped-call]
    assert any("frame-ancestors" in entry["message"] for entry in entries)
    assert dashboard.log.read_text().count("/project/lease_calendar/session/") == before


def test_other_sites_get_no_token(student: Browser) -> None:
    """Only a request with the CSRF token of Horizon's own page gets it."""
    cookies = {each["name"]: each["value"] for each in student.driver.get_cookies()}
    url = f"{student.url}/{_PANEL}session/"
    assert requests.get(url, cookies=cookies, timeout=LIMIT).status_code == 405
    assert requests.post(url, cookies=cookies, timeout=LIMIT).status_code == 403
    ours = {"X-CSRFToken": cookies["csrftoken"]}
    found = requests.post(url, cookies=cookies, headers=ours, timeout=LIMIT)
    assert (found.status_code, "no-store" in found.headers["Cache-Control"]) == (200, True)
    assert found.json()["token"]
    assert "Access-Control-Allow-Origin" not in found.headers


def test_the_panel_of_blazar_is_beside_it(student: Browser) -> None:
    for path, text in (("project/leases/", "Leases"), (_PANEL, "Lease Calendar")):
        student.go(path)
        assert student.driver.find_element(By.CSS_SELECTOR, "h1").text == text
        assert student.has(_LINK)
        assert student.has("a[href='/project/leases/']")


def test_a_service_that_does_not_answer(student: Browser, cloud: Cloud) -> None:
    cloud.service.kill()
    student.go(_PANEL)
    student.says("does not answer")
    cloud.service.start()
    student.until(lambda: cloud.service.is_healthy())


def test_no_panel_without_the_service(
    driver: Chrome, student: Browser, dashboard: HorizonOfOperators, cloud: Cloud
) -> None:
    student.go("project/api_access/")
    assert student.has(_LINK)
    cloud.keystone.remove_service(cloud.in_catalogue)
    try:
        again = Browser(driver, dashboard, cloud.member)
        again.go("project/api_access/")
        assert again.has("a[href='/project/api_access/']")
        assert not again.has(_LINK)
        again.go(_PANEL)
        assert not again.has("#lease-calendar")
    finally:
        cloud.in_catalogue = cloud.keystone.service("reservation", f"{cloud.service.url}/v1")
