"""Headless Chromium."""

from __future__ import annotations

from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service as Driver

from tests.servers.base import MissingServerError

_CHROMIUM = Path("/usr/bin/chromium")
_DRIVER = Path("/usr/bin/chromedriver")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


def start_browser(profile: Path) -> webdriver.Chrome:
    """Start a browser, which ends with its method ``quit``.

    :param profile: folder for its data
    :raises MissingServerError: Chromium or its driver is not installed
    """
    missing = [str(path) for path in (_CHROMIUM, _DRIVER) if not path.exists()]
    if missing:
        raise MissingServerError(f"{' and '.join(missing)}: install the packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(_CHROMIUM)
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Driver(str(_DRIVER)))
