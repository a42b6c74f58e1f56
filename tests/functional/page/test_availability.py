"""What is free: what a reservation would get with preemption, and what is free without it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.functional.page.browser import Page
from tests.functional.page.service import Service

_NOW, _LATER, _END = "2026-03-02T12:00:00Z", "2026-03-02T22:00:00Z", "2026-03-09T12:00:00Z"


def _answers(page: Page) -> list[tuple[str, str, list[list[str]]]]:
    """Return title, first instant and rows of each answer."""
    found = []
    for section in page.all("#view-free .answer section"):
        rows = section.find_elements("css selector", "tbody tr")
        cells = [[cell.text for cell in row.find_elements("css selector", "td")] for row in rows]
        title, first = (section.find_element("css selector", name).text for name in ("h3", "p"))
        found.append((title, first, cells))
    return found


def _ask(page: Page, **values: str) -> None:
    for name, value in values.items():
        field = page.one(f"#view-free input[name={name}]")
        field.clear()
        field.send_keys(value)
    page.one("#view-free button[type=submit]").click()


def test_both_answers(page: Page, sight: Service) -> None:
    """If best-effort leases fill the cloud, the two differ."""
    window = {"start": _NOW, "end": _END, "count": 6, "preempted_kinds": {"best-effort": 2, "deadline": 1}}
    sight.availability = {
        "windows": [window],
        "earliest": _NOW,
        "free": {"windows": [{"start": _LATER, "end": _END, "count": 4}], "earliest": _LATER},
    }
    page.open()
    page.one("#tab-free").click()
    _ask(page, count="4", vcpus="8", memory_mb="2048", duration="1.5")
    page.until(lambda: len(_answers(page)) == 2)
    assert _answers(page) == [
        (
            "As a reservation, which may preempt others",
            "From 2 Mar 2026, 12:00 UTC on.",
            [["2 Mar 2026, 12:00", "9 Mar 2026, 12:00", "6", "2 best-effort leases, 1 deadline lease", "Book this"]],
        ),
        (
            "Without preempting other leases",
            "From 2 Mar 2026, 22:00 UTC on.",
            [["2 Mar 2026, 22:00", "9 Mar 2026, 12:00", "4", "Book this"]],
        ),
    ]
    (asked,) = [path for path in sight.paths() if path.startswith("/v1/availability")]
    assert parse_qs(urlsplit(asked).query) == {
        "count": ["4"],
        "vcpus": ["8"],
        "memory_mb": ["2048"],
        "duration": ["5400"],
    }


def _windows(service: Service) -> None:
    """Have something free now with preemption, and later without it."""
    window = {"start": _NOW, "end": _END, "count": 6, "preempted_kinds": {"best-effort": 2, "deadline": 1}}
    free = {"windows": [{"start": _LATER, "end": _END, "count": 4}], "earliest": _LATER}
    service.availability = {"windows": [window], "earliest": _NOW, "free": free}


@pytest.mark.parametrize(
    ("number", "start", "end"), [(1, "2026-03-02T22:00", "2026-03-02T23:30"), (0, "", "2026-03-02T13:30")]
)
def test_a_window_is_booked(page: Page, sight: Service, number: int, start: str, end: str) -> None:
    """The form has what was asked for, from the start of the window on."""
    _windows(sight)
    page.open("#view=free")
    page.enter("#booking-form [name=traits]", "HW_CPU_X86_AVX2")
    _ask(page, count="4", vcpus="8", memory_mb="2048", duration="1.5")
    page.until(lambda: len(_answers(page)) == 2)
    page.all("#view-free .answer button")[number].click()
    page.until(lambda: page.shown("#booking"))
    names = ("count", "VCPU", "MEMORY_MB", "traits", "start_date", "end_date")
    values = [page.one(f"#booking-form [name={name}]").get_attribute("value") or "" for name in names]
    # The clock goes on while the page is open.
    assert [value[:16] for value in values] == ["4", "8", "2048", "", start, end]
    assert not page.one("#booking-form [name=exclusive]").is_selected()
    assert page.one("#booking-form [value=reservation]").is_selected()


def test_readers_have_nothing_to_book(page: Page, sight: Service) -> None:
    sight.may_book = False
    _windows(sight)
    page.open("#view=free")
    _ask(page)
    page.until(lambda: len(_answers(page)) == 2)
    assert page.all("#view-free .answer button") == []


@pytest.mark.parametrize("width", [1280, 1000, 920])
def test_windows_beside_the_details(page: Page, sight: Service, width: int) -> None:
    """The viewer's time stands below UTC, and nothing is beneath the details."""
    _windows(sight)
    page.live_in("Asia/Kolkata")
    page.resize(width, 900)
    page.open("#view=free&lease=id-course")
    _ask(page)
    page.until(lambda: len(_answers(page)) == 2)
    (_, first, (row,)), _ = _answers(page)
    assert first == "From 2 Mar 2026, 12:00 UTC, Mon 17:30 GMT+5:30 on."
    assert row[:2] == ["2 Mar 2026, 12:00\nMon 17:30 GMT+5:30", "9 Mar 2026, 12:00\nMon 17:30 GMT+5:30"]
    assert page.script("return document.getElementById('details').matches(':modal')") is False
    beneath = """
    const {left} = document.getElementById("details").getBoundingClientRect();
    return [...document.querySelectorAll("#view-free .answer :is(p, h3, td, th, button)")]
      .filter((one) => one.getBoundingClientRect().right > left).map((one) => one.outerHTML);
    """
    assert page.script(beneath) == []


def test_nothing_is_free(page: Page, sight: Service) -> None:
    sight.availability = {"windows": [], "earliest": None, "free": {"windows": [], "earliest": None}}
    page.open("#view=free")
    _ask(page, count="400")
    page.until(lambda: len(_answers(page)) == 2)
    assert [(first, rows) for _, first, rows in _answers(page)] == [("Not within the next week.", [])] * 2


def test_a_refusal_is_told(page: Page, sight: Service) -> None:
    page.open("#view=free")
    _ask(page)
    page.says("#view-free .refused", "Not found")


def test_availability_of_a_pool(page: Page, sight: Service) -> None:
    """The form has a choice where there are several pools."""
    sight.pools = ["general", "gpu"]
    sight.availability = {"windows": [], "earliest": None, "free": {"windows": [], "earliest": None}}
    page.open()
    page.one("#tab-free").click()
    page.one("#view-free [name=pool] [value=gpu]").click()
    _ask(page)
    page.until(lambda: len(_answers(page)) == 2)
    (asked,) = [path for path in sight.paths() if path.startswith("/v1/availability")]
    assert parse_qs(urlsplit(asked).query)["pool"] == ["gpu"]
