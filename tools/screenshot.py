"""Take the pictures of the calendar page for the documentation: the demonstration after some minutes.

The first one shows a busy day of the recorded workload, and differs between runs only in the date. The others show how
a lease is booked, in a wide window and on a phone.
"""

from __future__ import annotations

import argparse
import io
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import requests
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service as Driver
from selenium.webdriver.common.by import By

_CHROMIUM, _CHROMEDRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
_SIZE, _PHONE = (1280, 800), (390, 844)
_HEADERS = {"X-Auth-Token": "screenshot", "OpenStack-API-Version": "reservation latest"}
_KINDS = {"reservation", "immediate", "deadline", "best-effort"}
#: Real seconds before the first picture may be taken, and before the attempt is given up.
_RUN, _LIMIT = 180.0, 900.0
_SHOWN = 0.35, 0.65


def main() -> None:
    """Run the demonstration, wait until all kinds of lease are in sight, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the PNG files go")
    parser.add_argument("--port", type=int, default=1299, help="port of the service meanwhile (default: %(default)s)")
    options = parser.parse_args()
    url = f"http://127.0.0.1:{options.port}"
    program = str(Path(sys.executable).with_name("lease-scheduler-embedded"))
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--demonstration", "--state-path", folder, "--port", str(options.port)]
        service = subprocess.Popen(command)
        try:
            _wait_for_all_kinds(url)
            for name, picture in _pictures(url, Path(folder)).items():
                path = options.folder / f"{name}.png"
                path.write_bytes(_compact(picture))
                print(f"{path}: {path.stat().st_size} bytes")
        finally:
            service.send_signal(signal.SIGINT)
            service.wait(30)


def _wait_for_all_kinds(url: str) -> None:
    """Wait until the day in sight has leases of all kinds, among them future and queued ones.

    :raises SystemExit: that does not happen
    """
    begun = time.monotonic()
    while time.monotonic() - begun < _LIMIT:
        time.sleep(1)
        try:
            calendar = requests.get(f"{url}/v1/calendar", headers=_HEADERS, timeout=30).json()
        except requests.ConnectionError:
            continue
        if time.monotonic() - begun > _RUN and _is_rich(calendar):
            return
    raise SystemExit("no instant with all kinds of lease in sight")


def _is_rich(calendar: dict[str, Any]) -> bool:
    now = calendar["now"]
    first, last = now - _SHOWN[0] * 86_400, now + _SHOWN[1] * 86_400
    # A lease of a few minutes on a few hosts is too small to be seen.
    seen = {
        lease["kind"]
        for lease in calendar["leases"]
        for held in [*lease["holdings"], *lease["past"]]
        if first < held["end"] and held["start"] < last and held["end"] - held["start"] > 1_800 and lease["nodes"] >= 4
    }
    states = {lease["state"] for lease in calendar["leases"]}
    held = {
        host
        for lease in calendar["leases"]
        if lease["state"] == "active"
        for one in lease["holdings"]
        if one["start"] <= now < one["end"]
        for host in one["hosts"]
    }
    busy = len(held) > len(calendar["hosts"]) * 0.6
    return seen >= _KINDS and busy and bool(states & {"suspended-scheduled", "suspended-queued", "queued", "scheduled"})


def _pictures(url: str, folder: Path) -> Mapping[str, bytes]:
    """Return the pictures by name."""
    options = webdriver.ChromeOptions()
    options.binary_location = _CHROMIUM
    for flag in (*_FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=Driver(_CHROMEDRIVER))
    try:
        _open(browser, url, _SIZE)
        found = {"calendar": bytes(browser.get_screenshot_as_png())}
        for name, size in (("booking", _SIZE), ("booking-phone", _PHONE)):
            _open(browser, url, size)
            _fill_in(browser)
            found[name] = bytes(browser.get_screenshot_as_png())
        return found
    finally:
        browser.quit()


def _open(browser: webdriver.Chrome, url: str, size: tuple[int, int]) -> None:
    """Open the page in a window of some size, and wait until it shows the leases."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(f"{url}/")
    drawn = "return document.querySelector('#status').textContent.trim() === 'Live' && calendar.timeline.painted > 0"
    _wait(lambda: bool(browser.execute_script(drawn)), "the page shows nothing")


def _fill_in(browser: webdriver.Chrome) -> None:
    """Fill in the form of a new lease, and wait for its quote."""
    browser.find_element(By.ID, "book").click()
    for name, text in (("name", "course"), ("count", "4")):
        field = browser.find_element(By.CSS_SELECTOR, f"#booking-form [name={name}]")
        field.clear()
        field.send_keys(text)
    quote = "return document.querySelector('#booking-form .quote').dataset.verdict"
    _wait(lambda: bool(browser.execute_script(quote)), "there is no quote")


def _wait(condition: Callable[[], bool], problem: str) -> None:
    """Wait until a condition is met.

    :raises SystemExit: it is not
    """
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(problem)
        time.sleep(0.1)


def _compact(picture: bytes) -> bytes:
    """Return the same pixels in fewer bytes. A palette would change the colours, which have a meaning here."""
    written = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").save(written, "PNG", optimize=True)
    return written.getvalue()


if __name__ == "__main__":
    main()
