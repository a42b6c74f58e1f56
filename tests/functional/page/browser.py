"""The page as a test sees it: elements, the canvas's pixels, the keyboard, the console."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from selenium.common.exceptions import JavascriptException, NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from tests.functional.page.service import Service

#: Longest time that anything may take, in seconds.
LIMIT = 20

Colour = tuple[int, int, int]
Value = TypeVar("Value")

_PIXEL = """
const canvas = document.querySelector("#chart canvas");
const [x, y] = arguments;
const at = (value) => Math.round(value * devicePixelRatio);
return [...canvas.getContext("2d").getImageData(at(x), at(y), 1, 1).data].slice(0, 3);
"""


#: The second answer is for the time range of the view, and complete. Forms that are open then ask for quotes again.
_RANGE_CAME = """
return performance.getEntriesByType("resource")
  .some(({ name, responseEnd }) => name.includes("/v1/calendar?start=") && responseEnd > 0);
"""


class Page:
    """The calendar page in a browser."""

    def __init__(self, driver: Chrome, url: str, service: Service) -> None:
        self.driver = driver
        self.url = url
        self.service = service

    def reset(self) -> None:
        """Forget what another test has left."""
        self.resize(1280, 900)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.live_in("UTC")
        kept = {"origin": self.url.rstrip("/"), "storageTypes": "local_storage"}
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", kept)
        self.console()

    def resize(self, width: int, height: int) -> None:
        """Set the size of the page in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def live_in(self, zone: str) -> None:
        """Set the time zone of the viewer; an empty name means that of the machine."""
        self.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})

    def prefer(self, scheme: str) -> None:
        """Set the preferred colour scheme, light or dark."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def load(self, fragment: str = "") -> None:
        """Load the page afresh, without a token."""
        self.driver.get("about:blank")
        self.driver.get(self.url + "blank")
        self.driver.execute_script("sessionStorage.clear()")
        self.driver.get(self.url + fragment)

    def open(self, fragment: str = "") -> Page:
        """Open the page and wait until it shows the service's data."""
        self.load(fragment)
        self.until(lambda: self.text("#status") == "Live")
        self.until(lambda: self.script(_RANGE_CAME))
        # Tests would wait long for the next poll of a page at which nothing happens.
        self.script(
            "const {connection} = calendar; connection.leastWait = connection.mostWait = 1000; connection.poll()"
        )
        self.drawn()
        return self

    def script(self, source: str, *arguments: Any) -> Any:
        """Run JavaScript and return the value of its expression."""
        return self.driver.execute_script(source, *arguments)

    def until(self, condition: Callable[[], Value]) -> Value:
        """Wait until something is true, and return it."""
        errors = (NoSuchElementException, StaleElementReferenceException, JavascriptException)
        wait = WebDriverWait(self.driver, LIMIT, poll_frequency=0.05, ignored_exceptions=errors)
        return wait.until(lambda _: condition())

    def drawn(self) -> None:
        """Wait until the canvas shows the current data."""
        source = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        self.driver.execute_async_script(source)

    def one(self, selector: str) -> WebElement:
        """Return the element of a CSS selector."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        """Return the elements of a CSS selector."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """Return the text of an element."""
        return self.one(selector).text

    def says(self, selector: str, text: str) -> None:
        """Wait until an element has this text."""
        self.until(lambda: self.text(selector) == text)

    def shown(self, selector: str) -> bool:
        """Return whether an element is visible."""
        return self.one(selector).is_displayed()

    def push(self, selector: str) -> None:
        """Click an element as soon as it is there, even if the page replaces it just then."""

        def pushed() -> bool:
            self.one(selector).click()
            return True

        self.until(pushed)

    def enter(self, selector: str, value: str) -> None:
        """Give a field a value, as typing does; how dates are typed depends on the language of the browser."""
        source = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))"
        self.script(source, self.one(selector), value)

    def call(self, module: str, names: str, expression: str) -> Any:
        """Return the value of an expression that uses names of one of the page's modules."""
        source = f"const done = arguments[0]; import('./{module}.js').then(({{ {names} }}) => done({expression}));"
        return self.driver.execute_async_script(source)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, on the focused element."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def tab(self, back: bool = False) -> str:
        """Move the focus to the next element with the Tab key, and return which it is."""
        if back:
            ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
        else:
            self.press(Keys.TAB)
        return self.focus()

    def focus(self) -> str:
        """Return the id of the focused element; if it has none, its lease or text."""
        source = "const e = document.activeElement; return e.id || e.dataset.lease || e.name || e.textContent.trim()"
        return str(self.script(source))

    def go_to_chart(self) -> None:
        """Move the focus to the chart."""
        self.script("document.getElementById('chart').focus()")

    def boxes(self, name: str) -> list[tuple[float, float, float, float]]:
        """Return the rectangles of a lease on the canvas: x, y, width, height."""
        self.drawn()
        found = self.script("return calendar.timeline.boxes(arguments[0])", f"id-{name}")
        return [(x, y, width, height) for x, y, width, height in found]

    def pixel(self, x: float, y: float) -> Colour:
        """Return the colour of the canvas at a point."""
        self.drawn()
        red, green, blue = self.script(_PIXEL, x, y)
        return red, green, blue

    def colours(self, name: str, share: float = 0.5) -> set[Colour]:
        """Return a lease's colours on 12 pixels, from a share of its width on, along a line that crosses hatching."""
        x, y, width, _ = self.boxes(name)[0]
        points = [(x + width * share + step, y + 4 + step // 2) for step in range(12)]
        return {self.pixel(*point) for point in points}

    def click(self, name: str, share: float = 0.5) -> None:
        """Click on a lease in the chart."""
        x, y, width, height = self.boxes(name)[0]
        self.move_to(x + width * share, y + height / 2).click().perform()

    def move_to(self, x: float, y: float) -> ActionChains:
        """Return a chain of actions that starts by moving to a point of the chart."""
        chart = self.one("#chart")
        size = self.script("const e = arguments[0].getBoundingClientRect(); return [e.width, e.height]", chart)
        return ActionChains(self.driver, duration=20).move_to_element_with_offset(
            chart, round(x - size[0] / 2), round(y - size[1] / 2)
        )

    def names(self, view: str) -> list[str]:
        """Return the names of the leases in a table, from top to bottom."""
        return [button.text for button in self.all(f"#view-{view} tbody th button")]

    def cells(self, view: str, name: str) -> list[str]:
        """Return a table's cells for a lease."""
        row = self.one(f"#view-{view} [data-lease=id-{name}]").find_element(By.XPATH, "ancestor::tr")
        return [cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]

    def console(self) -> list[str]:
        """Return the errors on the console since the last call, without failed requests for data.

        Chromium requests the icon whenever it likes, even when a test has stopped the service. Without a service there
        is no answer at all.
        """
        entries: list[dict[str, str]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        errors = [one for one in entries if one["level"] == "SEVERE"]
        return [json.dumps(one) for one in errors if one.get("source") != "network" or not _may_fail(one["message"])]


def _may_fail(message: str) -> bool:
    without_answer = "net::ERR_CONNECTION_" in message or "net::ERR_EMPTY_RESPONSE" in message
    return "/v1/" in message or ("/icon.svg" in message and without_answer)
