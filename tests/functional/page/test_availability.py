"""What is free: what a reservation would get with preemption, and what is free without it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

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
            "From 2 Mar 2026, 12:00 on.",
            [["2 Mar 2026, 12:00", "9 Mar 2026, 12:00", "6", "2 best-effort leases, 1 deadline lease"]],
        ),
        (
            "Without preempting other leases",
            "From 2 Mar 2026, 22:00 on.",
            [["2 Mar 2026, 22:00", "9 Mar 2026, 12:00", "4"]],
        ),
    ]
    (asked,) = [path for path in sight.paths() if path.startswith("/v1/availability")]
    assert parse_qs(urlsplit(asked).query) == {
        "count": ["4"],
        "vcpus": ["8"],
        "memory_mb": ["2048"],
        "duration": ["5400"],
    }


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
