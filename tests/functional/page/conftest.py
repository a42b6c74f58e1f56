"""The calendar page in headless Chromium, fed by a scripted service or by the real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.functional.page.browser import Page
from tests.functional.page.live import Live, Make
from tests.functional.page.service import Document, Server, Service, holding, host, lease, past
from tests.servers.reservation import ReservationService


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Serves the page."""
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def service(server: Server) -> Service:
    """The service behind the page: eight hosts and no lease, until the test adds some."""
    told = Service()
    told.set_hosts([host(number) for number in range(1, 9)])
    server.use(told)
    return told


@pytest.fixture
def page(driver: Chrome, server: Server, service: Service) -> Iterator[Page]:
    """The page, not opened yet. The console must have no errors at the end of the test."""
    opened = Page(driver, server.url, service)
    opened.reset()
    yield opened
    service.open.set()
    errors = opened.console()
    driver.get("about:blank")
    assert errors == []


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Starts the real service with a number of hosts, all in the pool, a clock of some speed, and more options."""
    with ExitStack() as stack:

        def one(hosts: int, speed: float, more: str = "") -> Live:
            configuration = f"[simulated_cloud]\nhosts = {hosts}\nclock_speed = {speed}\n{more}"
            service = ReservationService(tmp_path, configuration=configuration)
            stack.callback(service.kill)
            service.start()
            live = Live(service)
            stack.callback(live.close)
            live.register(hosts)
            return live

        yield one


@pytest.fixture
def look(driver: Chrome) -> Iterator[Callable[[Live, str], Page]]:
    """Opens the page of a real service. The console must have no errors at the end of the test."""
    opened: list[Page] = []

    def one(live: Live, fragment: str = "") -> Page:
        page = Page(driver, f"{live.service.url}/", Service())
        page.reset()
        opened.append(page)
        driver.get("about:blank")
        driver.get(page.url + fragment)
        page.until(lambda: page.text("#status") == "Live")
        # A reload would lose this.
        page.script("window.notReloaded = true")
        return page

    yield one
    errors = [error for page in opened for error in page.console()]
    kept = [page.script("return window.notReloaded === true") for page in opened]
    driver.get("about:blank")
    assert errors == []
    assert all(kept)


@pytest.fixture
def sight(service: Service) -> Service:
    """Return a lease of each kind and state, each on a host of its own."""
    service.put(*_one_of_each())
    return service


def _one_of_each() -> list[Document]:
    return [
        lease("course", "reservation", "active", holdings=[holding(-2, 4, [1])]),
        lease("demo", "immediate", "active", holdings=[holding(-1, 3, [2])], project_id="biology"),
        lease("paper", "deadline", "scheduled", holdings=[holding(2, 6, [3])]),
        lease("sweep", "best-effort", "resuming", holdings=[holding(0, 5, [4], resume=3600)]),
        lease("render", "best-effort", "suspending", holdings=[holding(-3, 1, [5], suspend=7200)]),
        lease(
            "mesh",
            "best-effort",
            "suspended-scheduled",
            past=[past(-4, -2, [6]), past(-2, -1.5, [6], "suspend")],
            holdings=[holding(3, 6, [6], resume=1800)],
            queue_position=1,
        ),
        lease("nightly", "best-effort", "done", past=[past(-6, -2, [7])], project_id="biology"),
        lease("genome", "best-effort", "queued", nodes=64, queue_position=2, duration=7200, accumulated=1800),
    ]
