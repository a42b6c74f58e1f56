"""blazar-dashboard, Blazar's plug-in of Horizon, in front of the service: a real Horizon, Keystone and browser.

``doc/source/admin/from_blazar.rst`` says what of it works.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
import requests
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, TimeoutException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from tests.servers.base import MissingServerError
from tests.servers.fixtures import missing, running
from tests.servers.keystone import PASSWORD, Keystone, User
from tests.servers.openstack import horizon
from tests.servers.openstack.horizon import Horizon
from tests.servers.reservation import ReservationService

pytestmark = pytest.mark.slow

LIMIT = 30
_TOMORROW = (datetime.now(UTC) + timedelta(days=1)).replace(hour=10, minute=0, second=0, microsecond=0)

Value = TypeVar("Value")


class Cloud:
    """The service in Keystone's catalogue, with four hosts in its pool."""

    def __init__(self, folder: Path, keystone: Keystone) -> None:
        self._keystone = keystone
        service = keystone.user("reservation", keystone.project("service"), "service")
        self.admin = keystone.user("operator", keystone.project("operators"), "admin")
        self.member = keystone.user("student", keystone.project("course"), "member")
        lines = f"[api]\nauth_strategy = keystone\n[simulated_cloud]\nhosts = 4\n{keystone.middleware(service)}"
        self._service = ReservationService(folder, configuration=lines)
        self._service.start()
        self._in_catalogue = keystone.service("reservation", f"{self._service.url}/v1")
        for number in range(1, 5):
            self.ask(self.admin, "POST", "os-hosts", {"name": f"compute-{number}"})

    def ask(self, user: User, method: str, path: str, body: Any = None) -> Any:
        """Send a request below ``/v1/`` with microversion 1.0, and return the body of the answer."""
        headers = {"X-Auth-Token": self._keystone.token(user)}
        answer = requests.request(method, f"{self._service.url}/v1/{path}", json=body, headers=headers, timeout=LIMIT)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def leases(self) -> dict[str, Any]:
        """Return the leases of the member by name."""
        return {each["name"]: each for each in self.ask(self.member, "GET", "leases")["leases"]}

    def close(self) -> None:
        """End the service."""
        self._keystone.remove_service(self._in_catalogue)
        self._service.kill()


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory, keystone: Keystone) -> Iterator[Cloud]:
    made = Cloud(tmp_path_factory.mktemp("service"), keystone)
    yield made
    made.close()


@pytest.fixture(scope="module")
def dashboard(request: pytest.FixtureRequest, keystone: Keystone) -> Iterator[Horizon]:
    try:
        python = horizon.install(request.config.cache.mkdir("openstack"))
    except MissingServerError as error:
        missing(str(error))
    with running(lambda folder: Horizon(folder, python, keystone.url)) as started:
        yield started


class Browser:
    """A person in front of Horizon."""

    def __init__(self, driver: Chrome, dashboard: Horizon, user: User) -> None:
        self._driver = driver
        self._url = dashboard.url
        driver.delete_all_cookies()
        self.go("auth/login/")
        driver.delete_all_cookies()
        self.go("auth/login/")
        self.fill(username=user.name, password=PASSWORD)
        self.one("#loginBtn").click()
        self.until(lambda: "/auth/login" not in driver.current_url)

    def go(self, path: str) -> None:
        """Open a page."""
        self._driver.get(f"{self._url}/{path}")

    def one(self, selector: str) -> WebElement:
        """Wait for an element, and return it."""
        return self.until(lambda: self._driver.find_element(By.CSS_SELECTOR, selector))

    def until(self, condition: Callable[[], Value]) -> Value:
        """Wait until something is true, and return it."""
        errors = (NoSuchElementException, StaleElementReferenceException)
        wait = WebDriverWait(self._driver, LIMIT, ignored_exceptions=errors)
        try:
            return wait.until(lambda _: condition())
        except TimeoutException:
            pytest.fail(f"{self._driver.current_url} still says: {self._driver.find_element(By.TAG_NAME, 'body').text}")

    def fill(self, **values: Any) -> None:
        """Fill in fields of a form; those that the form hides for now too."""
        for name, value in values.items():
            source = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))"
            self._driver.execute_script(source, self.one(f"[name={name}]"), str(value))

    def send(self) -> str:
        """Send the form of the page, and return what Horizon says about it."""
        form = self.one("form[method=post][id] [type=submit], form[method=POST][id] [type=submit]")
        self._driver.execute_script("arguments[0].form.submit()", form)
        return self.message()

    def message(self) -> str:
        """Return the message on the page."""
        return self.until(lambda: self.one(".messages .alert, .alert-success, .alert-danger").text.strip())

    def rows(self) -> dict[str, list[str]]:
        """Return the cells of the table on the page by the text of the first link in the row."""
        found = self._driver.find_elements(By.CSS_SELECTOR, "table.datatable tbody tr[data-object-id]")
        cells = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "td")] for row in found]
        return {row[1]: row[2:] for row in cells}

    def facts(self) -> dict[str, str]:
        """Return what a page of details lists."""
        names = self._driver.find_elements(By.CSS_SELECTOR, ".detail dt")
        values = self._driver.find_elements(By.CSS_SELECTOR, ".detail dd")
        return {name.text: value.text for name, value in zip(names, values, strict=False)}

    def script(self, source: str) -> Any:
        """Run JavaScript and return the value of its expression."""
        return self._driver.execute_script(source)

    def says(self) -> str:
        """Return the text of the page."""
        return self.one("body").text


@pytest.fixture
def student(driver: Chrome, dashboard: Horizon, cloud: Cloud) -> Iterator[Browser]:
    yield Browser(driver, dashboard, cloud.member)
    for lease in cloud.leases().values():
        cloud.ask(cloud.member, "DELETE", f"leases/{lease['id']}")


@pytest.fixture
def operator(driver: Chrome, dashboard: Horizon, cloud: Cloud) -> Browser:
    return Browser(driver, dashboard, cloud.admin)


def _create(browser: Browser, name: str, **more: Any) -> str:
    browser.go("project/leases/create/")
    dates = {
        "start_date": f"{_TOMORROW:%Y-%m-%d %H:%M}",
        "end_date": f"{_TOMORROW + timedelta(hours=4):%Y-%m-%d %H:%M}",
    }
    browser.fill(name=name, **dates, **more)
    return browser.send()


def _reservation(lease: Mapping[str, Any]) -> Mapping[str, Any]:
    (found,) = lease["reservations"]
    return dict(found)


def test_a_lease_of_hosts_from_beginning_to_end(student: Browser, cloud: Cloud) -> None:
    said = _create(student, "hosts", resource_type="host", min_hosts=1, max_hosts=2)
    assert "Lease hosts was successfully created" in said
    lease = cloud.leases()["hosts"]
    assert (lease["start_date"], lease["status"]) == (f"{_TOMORROW:%Y-%m-%dT%H:%M:%S}.000000", "PENDING")
    assert (_reservation(lease)["min"], _reservation(lease)["max"]) == (1, 2)
    student.go("project/leases/")
    day = f"{_TOMORROW:%Y-%m-%d}"
    assert student.rows()["hosts"][:4] == [f"{day} 10:00 UTC", f"{day} 14:00 UTC", "PENDING", "No"]
    student.go(f"project/leases/{lease['id']}/")
    facts = student.facts()
    assert (facts["Name"], facts["Status"], facts["resource type"]) == ("hosts", "PENDING", "physical:host")
    assert "start_lease" in facts
    student.go(f"project/leases/{lease['id']}/update")
    student.fill(lease_name="longer", end_time="+2h")
    assert "Lease update started" in student.send()
    changed = cloud.leases()["longer"]
    assert changed["end_date"] == f"{_TOMORROW + timedelta(hours=6):%Y-%m-%dT%H:%M:%S}.000000"
    student.go(f"project/leases/{lease['id']}/update")
    student.fill(reservations=json.dumps([{"id": _reservation(lease)["id"], "min": 2, "max": 3}]))
    assert "Lease update started" in student.send()
    assert _reservation(cloud.leases()["longer"])["max"] == 3
    student.go("project/leases/")
    student.one("button[name=action][value^='leases__delete__']").click()
    student.one(".modal .btn-danger, .modal .btn-primary").click()
    assert "Deleted Lease" in student.message()
    assert cloud.leases() == {}


@pytest.mark.parametrize("affinity", ["", "False", "True"])
def test_a_lease_of_instances(student: Browser, cloud: Cloud, affinity: str) -> None:
    sizes = {"amount": 2, "vcpus": 1, "memory_mb": 512, "disk_gb": 1}
    said = _create(student, "instances", resource_type="instance", affinity=affinity, **sizes)
    assert "Lease instances was successfully created" in said
    found = _reservation(cloud.leases()["instances"])
    assert {key: found[key] for key in sizes} == sizes
    assert str(found["affinity"]) == (affinity or "None")


def test_a_refusal_is_shown_with_its_reason(student: Browser, cloud: Cloud) -> None:
    said = _create(student, "many", resource_type="host", min_hosts=9, max_hosts=9)
    assert "Not enough" in said or "hosts" in said, said
    assert cloud.leases() == {}


def test_the_calendar_of_hosts(operator: Browser, cloud: Cloud) -> None:
    """It reads all hosts and their allocations, which only administrators may, with Blazar as well."""
    _create(operator, "hosts", resource_type="host", min_hosts=1, max_hosts=1)
    operator.go("project/leases/calendar/host/")
    operator.until(lambda: operator.script("return document.querySelectorAll('#blazar-calendar-host svg').length"))
    operator.go("project/leases/calendar/host/resources.json")
    data = json.loads(operator.says())
    assert [each["hypervisor_hostname"] for each in data["resources"]] == [f"compute-{n}" for n in range(1, 5)]
    (reserved,) = data["reservations"]
    assert reserved["start_date"].startswith(f"{_TOMORROW:%Y-%m-%dT%H:%M}")
    (lease,) = cloud.ask(cloud.admin, "GET", "leases")["leases"]
    cloud.ask(cloud.admin, "DELETE", f"leases/{lease['id']}")


def test_members_do_not_see_the_calendar_of_hosts(student: Browser) -> None:
    student.go("project/leases/calendar/host/")
    student.until(lambda: "Unable to load reservations" in student.says())


def test_hosts(operator: Browser, cloud: Cloud) -> None:
    operator.go("admin/hosts/")
    assert {f"compute-{n}" for n in range(1, 5)} == set(operator.rows())
    (host,) = [each for each in cloud.ask(cloud.admin, "GET", "os-hosts")["hosts"] if each["id"] == "1"]
    operator.go(f"admin/hosts/{host['id']}/")
    assert host["hypervisor_hostname"] in operator.says()
    operator.go(f"admin/hosts/{host['id']}/update")
    operator.fill(values='{"rack": "7"}')
    assert "Host was successfully updated" in operator.send()
    assert cloud.ask(cloud.admin, "GET", "os-hosts/1")["host"]["rack"] == "7"
