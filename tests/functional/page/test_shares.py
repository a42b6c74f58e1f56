"""Shares of projects over the last day: the own one for a tenant, all of them for an administrator."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.functional.page.browser import Page
from tests.functional.page.service import HOUR, NOW, Document, Service


def _date(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _flow(name: str, weight: float | None, shares: dict[int, float], **values: object) -> Document:
    """Return a flow with shares of some of the last 24 hours, by their number; nothing was used in the others."""
    hours = [{"start": _date(NOW + (n - 24) * HOUR), "share": shares.get(n)} for n in range(24)]
    return {
        "name": name,
        "policy": "winks",
        "weight": weight,
        "weight_source": "set",
        "share": None if weight is None else weight / 100,
        "share_of_last_day": sum(shares.values()) / 2,
        "owed_host_hours": 0.0,
        "queued": 0,
        "leases": [],
        "hours": hours,
    } | values


def _titles(page: Page) -> list[str]:
    """Return what is told about each piece of the chart."""
    found = page.script("return [...document.querySelectorAll('#view-shares title')].map((each) => each.textContent)")
    return [str(each) for each in found]


def _heights(page: Page, name: str) -> list[float]:
    """Return the height of each piece with a colour, in the order of time."""
    pieces = page.all(f"#view-shares .answer > svg .{name}")
    return [round(float(each.get_attribute("height") or 0), 3) for each in pieces]


def test_an_administrator_sees_all_projects(page: Page, sight: Service) -> None:
    sight.flows = [
        _flow("biology", 30, {22: 0.25, 23: 0.4}, queued=2, leases=[{"expected_start": _date(NOW + HOUR)}]),
        _flow("idle", None, {}),
        _flow("physics", 70, {22: 0.75, 23: 0.6}, owed_host_hours=1.5),
    ]
    page.open("#view=shares")
    page.until(lambda: len(_titles(page)) == 4)
    assert _titles(page) == [
        "physics: 75 % from 2 Mar 2026, 10:00",
        "biology: 25 % from 2 Mar 2026, 10:00",
        "physics: 60 % from 2 Mar 2026, 11:00",
        "biology: 40 % from 2 Mar 2026, 11:00",
    ]
    assert (_heights(page, "share-0"), _heights(page, "share-1")) == ([120, 96], [40, 64])
    assert [each.text for each in page.all("#view-shares ul li")] == ["physics", "biology"]
    rows = [
        [cell.text for cell in row.find_elements("css selector", "td")] for row in page.all("#view-shares tbody tr")
    ]
    none = "\N{EN DASH}"
    assert rows == [
        ["biology", "30", "30 %", "32.5 %", "0", "2", "2 Mar 2026, 13:00"],
        ["idle", none, none, "0 %", "0", "0", none],
        ["physics", "70", "70 %", "67.5 %", "1.5", "0", none],
    ]
    assert "/v1/flows?visible=true" in sight.paths()


def test_a_tenant_sees_the_own_project(page: Page, sight: Service) -> None:
    """The rest of each hour is not shown as that of anybody."""
    sight.flows = [_flow("physics", 30, {20: 0.5, 21: 0.41}, owed_host_hours=2.25, queued=3)]
    page.open()
    page.one("#tab-shares").click()
    page.until(lambda: len(_titles(page)) == 2)
    assert _heights(page, "share-0") == [80, 65.6]
    told = page.text("#view-shares dl")
    assert "Share\n30 %" in told
    assert "Share of the last day\n45.5 %" in told
    assert "Behind by\n2.25 host-hours" in told
    assert page.all("#view-shares table") == []


def test_without_shares_the_policy_is_told(page: Page, sight: Service) -> None:
    sight.flows = [_flow("physics", None, {}, policy="fifo")]
    page.open("#view=shares")
    page.until(lambda: "fifo" in page.text("#view-shares"))
    assert "Nothing was used in the last day." in page.text("#view-shares")


def test_many_projects_share_the_last_colour(page: Page, sight: Service) -> None:
    sight.flows = [_flow(f"p{number:02}", 10, {23: 0.1}) for number in range(10)]
    page.open("#view=shares")
    page.until(lambda: len(_titles(page)) == 8)
    assert page.all("#view-shares ul li")[-1].text == "other projects"
    assert _heights(page, "share-7") == [48]
