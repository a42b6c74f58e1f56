"""The view of the project on the real service: series, calendar feeds, and subscriptions to notifications."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from selenium.webdriver import ActionChains, Keys

from tests.functional.embedded.receivers import MailReceiver
from tests.functional.page.browser import Page
from tests.functional.page.live import Make, date
from tests.functional.page.service import Service

_NOTIFY = "[tenant_notifications]\nenabled_drivers = webhook\n"


def _press(page: Page, part: str, label: str) -> None:
    page.until(lambda: [each for each in page.all(f"#view-project .{part} button") if each.text == label])[0].click()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_feed_is_made_copied_and_revoked(make: Make, look: Callable[..., Page], width: int) -> None:
    """The copied address has the leases; once the feed is revoked, it has nothing."""
    live = make(1, 1)
    live.lease("course", "reservation", 1, start_date=date(live.now() + 3600), duration=3600)
    page = look(live, "#view=project")
    page.resize(width, 844)
    page.until(lambda: "There are no feeds." in page.text(".feeds .list"))
    name = page.one(".feeds [name=name]")
    name.send_keys("phone", Keys.ENTER)
    page.until(lambda: page.all(".feeds .made input"))
    address = str(page.one(".feeds .made input").get_attribute("value"))
    _press(page, "feeds", "Copy")
    page.until(lambda: "Copied." in page.text(".feeds .made"))
    name.click()
    ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("v").key_up(Keys.CONTROL).perform()
    assert name.get_attribute("value") == address
    assert "SUMMARY:course" in requests.get(address, timeout=60).text
    assert [feed["name"] for feed in live.ask("GET", "feeds")["feeds"]] == ["phone"]
    page.until(lambda: "phone" in page.text(".feeds .list"))
    assert page.script("return document.documentElement.scrollWidth <= innerWidth") is True
    _press(page, "feeds", "Revoke")
    assert page.focus() == "Keep"
    _press(page, "feeds", "Revoke")
    page.until(lambda: "There are no feeds." in page.text(".feeds .list"))
    assert live.ask("GET", "feeds")["feeds"] == []
    assert requests.get(address, timeout=60).status_code == 404


def test_a_series_is_ended(make: Make, look: Callable[..., Page]) -> None:
    """The view says in words when it repeats; nothing happens before the second click."""
    live = make(1, 1)
    nodes = [{"count": 1, "resources": {"VCPU": 1}}]
    lease = {"name": "course", "nodes": nodes, "start_date": date(live.now() + 3600), "duration": 3600}
    body = {"name": "course", "rule": "FREQ=WEEKLY;COUNT=3", "time_zone": "Europe/Berlin", "lease": lease}
    live.ask("POST", "series", body)
    page = look(live, "#view=project")
    page.until(lambda: "every week, 3 times, by the clocks of Europe/Berlin" in page.text(".series .list"))
    _press(page, "series", "End")
    _press(page, "series", "Keep")
    assert len(live.ask("GET", "leases")["leases"]) == 3
    _press(page, "series", "End")
    _press(page, "series", "End")
    page.until(lambda: "There are no series." in page.text(".series .list"))
    assert live.ask("GET", "leases")["leases"] == []
    assert page.focus() == "series-title"


def test_subscriptions(make: Make, look: Callable[..., Page]) -> None:
    """A webhook is subscribed to what was chosen, its secret is shown once, and it is deleted again."""
    live = make(1, 1, _NOTIFY)
    page = look(live, "#view=project")
    page.until(lambda: "There are no subscriptions." in page.text(".subscriptions .list"))
    page.one(".subscriptions [name=target]").send_keys("nowhere", Keys.ENTER)
    page.until(lambda: page.text(".subscriptions .problem") != "")
    target = page.one(".subscriptions [name=target]")
    target.clear()
    page.enter(".subscriptions [name=events]", "times")
    target.send_keys("https://hooks.example.org/leases", Keys.ENTER)
    page.until(lambda: page.all(".subscriptions .made input"))
    assert page.one(".subscriptions .made input").get_attribute("value")
    page.until(lambda: page.text(".subscriptions .problem") == "")
    (found,) = live.ask("GET", "subscriptions")["subscriptions"]
    assert (found["driver"], found["target"]) == ("webhook", "https://hooks.example.org/leases")
    assert "lease.event.start_lease" in found["event_types"]
    assert "lease.update" not in found["event_types"]
    page.until(lambda: "https://hooks.example.org/leases" in page.text(".subscriptions .list"))
    _press(page, "subscriptions", "Delete")
    _press(page, "subscriptions", "Delete")
    page.until(lambda: "There are no subscriptions." in page.text(".subscriptions .list"))
    assert live.ask("GET", "subscriptions")["subscriptions"] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_subscriptions_by_mail(make: Make, look: Callable[..., Page], tmp_path: Path, width: int) -> None:
    """Only addresses of the allowed domains are taken; what was chosen comes there by mail, and no secret is shown."""
    mails = MailReceiver(tmp_path)
    group = "[tenant_notifications]\nenabled_drivers = webhook,mail\nmail_allowed_domains = example.org\n"
    live = make(1, 1, group + mails.settings)
    page = look(live, "#view=project")
    page.resize(width, 844)
    page.until(lambda: "There are no subscriptions." in page.text(".subscriptions .list"))
    target = page.one(".subscriptions [name=target]")
    page.enter(".subscriptions [name=driver]", "mail")
    page.enter(".subscriptions [name=events]", "times")
    target.send_keys("ada@elsewhere.example", Keys.ENTER)
    page.until(lambda: "example.org" in page.text(".subscriptions .problem"))
    assert live.ask("GET", "subscriptions")["subscriptions"] == []
    target.clear()
    target.send_keys("ada@example.org", Keys.ENTER)
    page.until(lambda: "ada@example.org" in page.text(".subscriptions .list"))
    page.until(lambda: page.text(".subscriptions .problem") == "")
    assert page.text(".subscriptions .made") == ""
    assert page.script("return document.documentElement.scrollWidth <= innerWidth") is True
    (found,) = live.ask("GET", "subscriptions")["subscriptions"]
    assert (found["driver"], found["target"]) == ("mail", "ada@example.org")
    mails.start()
    try:
        live.lease("course", "immediate", 1, duration=3600)
        page.until(lambda: mails.got)
    finally:
        mails.stop()
    assert mails.got[0]["X-Recipients"] == "ada@example.org"
    assert "course" in str(mails.got[0]["Subject"])
    _press(page, "subscriptions", "Delete")
    _press(page, "subscriptions", "Delete")
    page.until(lambda: "There are no subscriptions." in page.text(".subscriptions .list"))
    assert live.ask("GET", "subscriptions")["subscriptions"] == []


def test_a_site_without_notifications(make: Make, look: Callable[..., Page]) -> None:
    """The reason stands in place of the form, without options, which only operators know."""
    live = make(1, 1)
    page = look(live, "#view=project")
    said = "The operator of this site has not switched on notifications to projects"
    page.until(lambda: page.text(".subscriptions .problem") == said)
    assert not page.shown(".subscriptions form")


def test_readers_see_no_forms(page: Page, sight: Service) -> None:
    """Whoever may not book sees the lists without forms and buttons."""
    feed = {"id": "1", "name": "phone", "created_at": None}
    sight.lists = {"feeds": [feed], "series": [], "subscriptions": []}
    sight.may_book = False
    page.open("#view=project")
    page.until(lambda: "phone" in page.text(".feeds .list"))
    assert not [each for each in page.all("#view-project :is(button, form)") if each.is_displayed()]
    sight.may_book = True
    page.open("#view=project")
    page.until(lambda: page.shown(".feeds form"))
    assert [each.text for each in page.all(".feeds .list button")] == ["Revoke"]
