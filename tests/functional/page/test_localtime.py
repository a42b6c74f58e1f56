"""Local time beside UTC, where people choose it: on the axis, in tables, in the agenda and in the details."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.functional.page.browser import Page
from tests.functional.page.service import HOUR, NOW, Service, holding, past

_UTC_ONLY = "2 Mar 2026, 10:00"
_BOTH = f"{_UTC_ONLY}\nMon 15:30 GMT+5:30"


@pytest.mark.parametrize(
    ("zone", "start", "hours", "step", "labels"),
    [
        pytest.param(
            "Europe/Berlin",
            "2026-03-28T22:30",
            4,
            HOUR,
            ["28 23:00 Sun 29", "29 00:00 01:00", "29 01:00 03:00 CEST", "29 02:00 04:00"],
            id="an hour is skipped",
        ),
        pytest.param(
            "Europe/Berlin",
            "2026-10-24T23:00",
            3,
            HOUR // 2,
            [
                *("24 23:00 01:00", "24 23:30 01:30", "25 00:00 02:00", "25 00:30 02:30"),
                *("25 01:00 02:00 CET", "25 01:30 02:30"),
            ],
            id="an hour is repeated",
        ),
        pytest.param(
            "America/Santiago",
            "2026-09-06T03:00",
            3,
            HOUR,
            ["06 03:00 23:00", "06 04:00 Sun 6 GMT-3", "06 05:00 02:00"],
            id="midnight is skipped",
        ),
        pytest.param(
            "Asia/Kolkata",
            "2026-03-02T17:00",
            6,
            2 * HOUR,
            ["02 18:30 Tue 3", "02 20:30 02:00", "02 22:30 04:00"],
            id="half an hour",
        ),
        pytest.param(
            "America/New_York",
            "2026-03-06T12:00",
            96,
            24 * HOUR,
            ["07 05:00 Sat 7", "08 05:00 Sun 8", "09 04:00 Mon 9 GMT-4", "10 04:00 Tue 10"],
            id="days",
        ),
    ],
)
def test_the_axis_has_round_local_times(
    page: Page, service: Service, zone: str, start: str, hours: int, step: int, labels: list[str]
) -> None:
    """Also where the clocks change: the label after that names the zone, and so each instant is clear."""
    page.live_in(zone)
    page.open()
    first = int(datetime.fromisoformat(f"{start}+00:00").timestamp())
    end = first + hours * HOUR
    found = page.call("axis", "localTicks", f"localTicks({first}, {end}, {step / 64})")
    told = [
        f"{datetime.fromtimestamp(tick['at'], UTC):%d %H:%M} {tick['label']}"
        for tick in found
        if first <= tick["at"] < end
    ]
    assert told == labels


def _axis(page: Page) -> list[str]:
    """Return what the canvas shows on the axis below UTC; only the text of the last frame counts."""
    page.script(
        """
        const context = document.querySelector("#chart canvas").getContext("2d");
        const {fillText} = context;
        window.told = [];
        context.fillText = (text, x, y, ...more) => {
          if (y === 49) window.told.push(text);
          fillText.call(context, text, x, y, ...more);
        };
        calendar.timeline.draw();
        """
    )
    page.drawn()
    told: list[str] = page.script(
        "delete document.querySelector('#chart canvas').getContext('2d').fillText; return window.told"
    )
    return told


def test_local_time_is_a_choice_that_stays(page: Page, sight: Service) -> None:
    """All views have it once it is chosen, and nothing is as before once it is given up."""
    sight.change("nightly", past=[past(-6, -2, [7])])
    page.live_in("Asia/Kolkata")
    page.open("#rows=20&start=1772438400&lease=id-nightly")
    before = page.boxes("course")[0]
    box = page.one("#local-time")
    assert not box.is_selected()
    assert box.accessible_name == "Local time in all views"
    assert _axis(page) == []
    assert "GMT+5:30" not in page.text("#details table")
    box.click()
    after = page.boxes("course")[0]
    assert (after[0], after[1], after[3]) == (before[0], before[1] + 18, before[3])
    told = _axis(page)
    # The zone stands before the times.
    assert {"GMT+5:30", "16:00", "18:00", "Tue 3"} <= set(told)
    page.until(lambda: "2 Mar 2026, 06:00\nMon 11:30 GMT+5:30" in page.text("#details table"))
    page.one("#tab-leases").click()
    assert page.cells("leases", "course")[5:8] == [_BOTH, "2 Mar 2026, 16:00\nMon 21:30 GMT+5:30", "–"]  # noqa: RUF001
    assert page.text("#view-leases caption") == "All leases; times are UTC, with local time below"
    page.open("#view=queue")
    assert page.one("#local-time").is_selected()
    assert page.cells("queue", "mesh")[-1] == "2 Mar 2026, 15:00\nMon 20:30 GMT+5:30"
    assert page.text("#view-queue caption").endswith("; times are UTC, with local time below")
    page.one("#local-time").click()
    assert page.cells("queue", "mesh")[-1] == "2 Mar 2026, 15:00"
    assert page.text("#view-queue caption").endswith("; times are UTC")
    page.open("#view=leases")
    assert not page.one("#local-time").is_selected()
    assert page.cells("leases", "course")[5] == _UTC_ONLY
    assert page.all("#view-leases td small") == []


def test_where_utc_is_local_there_is_no_choice(page: Page, sight: Service) -> None:
    """Nor is anything shown twice there, whatever was chosen elsewhere."""
    page.live_in("Asia/Kolkata")
    page.open("#view=leases")
    page.one("#local-time").click()
    assert page.cells("leases", "course")[5] == _BOTH
    page.live_in("UTC")
    page.open("#view=leases")
    assert not page.shown("#local-time")
    assert page.cells("leases", "course")[5] == _UTC_ONLY
    assert page.text("#view-leases caption") == "All leases; times are UTC"


def test_clocks_that_are_at_times_those_of_utc(page: Page, service: Service, sight: Service) -> None:
    """A lease across the change of clocks has both of its ends; what is the same in winter is not repeated."""
    # Two hours before the clocks of London change, on 29 March at 01:00 UTC.
    change = 1_774_746_000
    sight.now = change - 2 * HOUR
    held = holding(0, 1, [1]) | {"start": change - HOUR, "run_start": change - HOUR}
    sight.change(
        "course",
        state="scheduled",
        start=change - HOUR,
        end=change + HOUR,
        holdings=[held | {"run_end": change + HOUR, "end": change + HOUR}],
    )
    page.live_in("Europe/London")
    page.open("#view=leases&lease=id-course")
    page.one("#local-time").click()
    assert page.cells("leases", "course")[5:7] == ["29 Mar 2026, 00:00", "29 Mar 2026, 02:00\nSun 03:00 BST"]
    assert "Sun 00:00 GMT to Sun 03:00 BST" in page.text("#details .holding")


def test_on_a_phone(page: Page, sight: Service) -> None:
    """The agenda has a line with local time, tables and axis stay readable, and nothing overflows."""
    sight.change("paper", offered_until=NOW + 300)
    page.live_in("Asia/Kolkata")
    page.resize(390, 844)
    page.open()
    page.until(lambda: page.all("#agenda [data-lease=id-paper]"))
    assert page.text("#agenda [data-lease=id-paper]").splitlines()[1:3] == [
        "14:00 to 18:00",
        "held until 2 Mar 2026, 12:05, 1 node",
    ]
    page.one("#local-time").click()
    lines = page.text("#agenda [data-lease=id-paper]").splitlines()
    assert lines[1:3] == ["14:00 to 18:00", "Mon 19:30 GMT+5:30 to Mon 23:30 GMT+5:30"]
    assert "held until 2 Mar 2026, 12:05 UTC, Mon 17:35 GMT+5:30, 1 node" in lines
    assert page.one("#agenda").get_attribute("aria-label") == "Agenda, times are UTC, with local time below"
    assert page.script("return document.documentElement.scrollWidth <= innerWidth") is True
    page.one("#agenda-toggle").click()
    told = _axis(page)
    assert "GMT+5:30" in told
    assert len(told) >= 4
