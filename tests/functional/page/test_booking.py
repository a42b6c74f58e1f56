"""Booking a lease: quotes while one types, refusals with alternatives, errors at their fields, and retries."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from selenium.webdriver import Keys

from tests.functional.page.browser import Page
from tests.functional.page.service import HOUR, NOW, Document, Service, holding, lease

_QUOTES, _LEASES = "/v1/quotes", "/v1/leases"
_LATER = {"change": "start", "start": "2026-03-02T18:00:00Z", "end": "2026-03-02T20:00:00Z", "count": 4}
_GRANTED: Document = {
    "granted": True,
    "reason": "",
    "start": "2026-03-02T13:00:00Z",
    "end": "2026-03-02T14:00:00Z",
    "preempted": 3,
    "preempted_kinds": {"best-effort": 2, "deadline": 1},
    "alternatives": [],
    "queue_position": None,
    "price": None,
}
_REFUSED = _GRANTED | {
    "granted": False,
    "reason": "only 2 of 4 nodes are free then",
    "alternatives": [
        _LATER | {"preempted_kinds": {"best-effort": 1}},
        {
            "change": "nodes",
            "start": "2026-03-02T13:00:00Z",
            "end": "2026-03-02T14:00:00Z",
            "count": 2,
            "preempted_kinds": {},
        },
    ],
}


def _answer(service: Service, *quotes: Document) -> None:
    service.replies[_QUOTES] = [(200, {"quote": quote}) for quote in quotes]


def _field(name: str) -> str:
    return f"#booking-form [name={name}]"


def _quote(page: Page) -> list[str]:
    return [part.text for part in page.all("#booking .quote p")]


def _book_opens(page: Page, service: Service, name: str) -> None:
    """Have the service book the lease, and show it a little later."""
    service.replies[_LEASES] = [(201, {"lease": {"id": f"id-{name}", "name": name, "start_date": None}})]
    service.put(lease(name, "reservation", "scheduled", holdings=[holding(1, 2, [8])]))


@pytest.mark.parametrize("width", [1280, 390])
def test_booking(page: Page, sight: Service, width: int) -> None:
    """The quote appears while one fills in the form; then the lease is booked, and its details open."""
    _answer(sight, _GRANTED)
    page.resize(width, 844)
    page.open()
    page.one("#book").click()
    assert page.focus() == "name"
    page.until(lambda: _quote(page))
    assert page.script("return document.getElementById('booking').matches(':modal')") is (width == 390)
    page.one(_field("name")).send_keys("course")
    page.enter(_field("count"), "4")
    page.until(
        lambda: sight.bodies(_QUOTES)[-1]["name"] == "course" and sight.bodies(_QUOTES)[-1]["nodes"][0]["count"] == 4
    )
    page.until(lambda: _quote(page))
    assert _quote(page) == [
        "Possible.",
        "Starts 2 Mar 2026, 13:00 UTC.",
        "Ends 2 Mar 2026, 14:00 UTC.",
        "Preempts 2 best-effort leases, 1 deadline lease.",
    ]
    body = {
        "name": "course",
        "kind": "reservation",
        "nodes": [{"count": 4, "resources": {"VCPU": 1, "MEMORY_MB": 1024}}],
        "start_date": "2026-03-02T13:00:00Z",
        "end_date": "2026-03-02T14:00:00Z",
    }
    assert sight.bodies(_QUOTES)[-1] == body
    _book_opens(page, sight, "course")
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: page.shown("#details"))
    assert not page.shown("#booking")
    assert page.text("#details-title") == "course"
    (booked,) = sight.bodies(_LEASES)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", booked.pop("id"))
    assert booked == body


@pytest.mark.parametrize(
    ("latest", "said"),
    [
        (None, "Ends at the earliest 2 Mar 2026, 18:00 UTC."),
        ("2026-03-02T20:00:00Z", "Ends between 2 Mar 2026, 18:00 UTC and 2 Mar 2026, 20:00 UTC."),
        ("2026-03-02T18:00:00Z", "Ends 2 Mar 2026, 18:00 UTC."),
    ],
)
def test_a_quote_tells_of_the_next_suspension(page: Page, sight: Service, latest: str | None, said: str) -> None:
    """It is not the end of the lease. What is left of it is planned, or to be done by a deadline, or waits."""
    cut = {"end": "2026-03-02T18:00:00Z", "preempted_at": "2026-03-02T13:39:00Z", "latest_end": latest}
    _answer(sight, _GRANTED | cut)
    page.open()
    page.one("#book").click()
    page.until(lambda: _quote(page))
    assert _quote(page)[2:4] == ["Runs until 2 Mar 2026, 13:39 UTC, then makes room for other leases.", said]


def test_lease_at_another_time_is_brought_into_sight(page: Page, sight: Service) -> None:
    """A lease for a time that is not loaded is shown too: the timeline goes there."""
    _answer(sight, _GRANTED)
    page.open()
    page.one("#book").click()
    page.one(_field("name")).send_keys("course")
    _book_opens(page, sight, "course")
    start = NOW + 90 * 24 * HOUR
    sight.replies[_LEASES][0][1]["lease"]["start_date"] = "2026-05-31T12:00:00.000000"
    page.press(Keys.ENTER)
    page.until(lambda: page.text("#details-title") == "course")
    first, span = page.script("return [calendar.timeline.start, calendar.timeline.span]")
    assert first < start < first + span


def test_few_quotes_while_one_types(page: Page, sight: Service) -> None:
    """A quote is requested when one pauses, not with every letter."""
    _answer(sight, _GRANTED)
    page.open()
    page.one("#book").click()
    page.until(lambda: _quote(page))
    before = len(sight.bodies(_QUOTES))
    page.script(
        """
        const field = document.querySelector("#booking-form [name=name]");
        for (const letter of "a long name of a lease") {
          field.value += letter;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }
        """
    )
    page.until(lambda: len(sight.bodies(_QUOTES)) > before)
    assert [body["name"] for body in sight.bodies(_QUOTES)[before:]] == ["a long name of a lease"]


def test_alternative_fills_the_form(page: Page, sight: Service) -> None:
    """A refusal gives its reason and alternatives; one of them fills in the form, is quoted and booked."""
    _answer(sight, _REFUSED)
    page.open()
    page.one("#book").click()
    page.one(_field("name")).send_keys("course")
    page.enter(_field("count"), "4")
    page.until(lambda: sight.bodies(_QUOTES) and sight.bodies(_QUOTES)[-1]["nodes"][0]["count"] == 4)
    # A quote that is still to come would replace the buttons.
    page.until(lambda: page.all("#booking .quote[data-verdict=refused]:not([aria-busy]) button"))
    assert _quote(page)[0] == "Not possible: only 2 of 4 nodes are free then."
    first, second = page.all("#booking .alternatives button")
    assert first.text == "Start 2 Mar 2026, 18:00 UTC, preempting 1 best-effort lease"
    assert second.text == "2 nodes"
    _answer(sight, _GRANTED)
    first.click()
    page.until(lambda: "Possible." in _quote(page))
    wanted = {"start_date": "2026-03-02T18:00:00Z", "end_date": "2026-03-02T20:00:00Z"}
    assert sight.bodies(_QUOTES)[-1].items() >= wanted.items()
    _book_opens(page, sight, "course")
    page.press(Keys.ENTER)
    page.until(lambda: page.shown("#details"))
    assert sight.bodies(_LEASES)[0].items() >= wanted.items()
    assert sight.bodies(_LEASES)[0]["nodes"][0]["count"] == 4


def test_refusal_of_the_booking_has_alternatives(page: Page, sight: Service) -> None:
    """What was possible may be taken a moment later: the refusal offers what is possible then."""
    _answer(sight, _GRANTED)
    refusal = {"error_message": "somebody was faster", "alternatives": [_LATER | {"preempted_kinds": {}}]}
    sight.replies[_LEASES] = [(409, refusal)]
    page.open()
    page.one("#book").click()
    page.one(_field("name")).send_keys("course")
    page.until(lambda: "Possible." in _quote(page))
    page.press(Keys.ENTER)
    page.until(lambda: "somebody was faster" in _quote(page))
    (button,) = page.all("#booking .alternatives button")
    button.click()
    assert page.one(_field("start_date")).get_attribute("value") == "2026-03-02T18:00"


_TAKEN = "nodes: no place for 4 nodes for 1 h at that time; taken: "
_SCARCE = "; there is not enough VCPU: at most 3 at once, 4 needed"


@pytest.mark.parametrize(
    ("reason", "alternatives", "told"),
    [
        pytest.param(
            f"{_TAKEN}node-1, node-2, node-3 and others{_SCARCE}; would fit: the same terms 5 h later, 2 nodes",
            [_LATER],
            f"{_TAKEN}node-1, node-2, node-3 and others{_SCARCE}",
            id="alternatives are below",
        ),
        pytest.param("no place; would fit: 2 nodes", [], "no place; would fit: 2 nodes", id="only in the reason"),
    ],
)
def test_refusals_say_everything_once(
    page: Page, sight: Service, reason: str, alternatives: list[Document], told: str
) -> None:
    """What has a button is not in the sentence too."""
    _answer(sight, _REFUSED | {"reason": reason, "alternatives": alternatives})
    page.open()
    page.one("#book").click()
    page.until(lambda: _quote(page) and _quote(page)[0] == f"Not possible: {told}.")
    assert len(page.all("#booking .alternatives button")) == len(alternatives)
    sight.replies[_LEASES] = [(409, {"error_message": reason, "alternatives": alternatives})]
    page.one(_field("name")).send_keys("course")
    page.press(Keys.ENTER)
    page.until(lambda: _quote(page)[0] == told)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("name", "name"),
        ("nodes[0].resources.VCPU", "VCPU"),
        ("nodes[0].traits[1]", "traits"),
        ("nodes[0].groups[0].resources.PCI", "groups"),
        ("end_date", "end_date"),
    ],
)
def test_errors_are_at_their_fields(page: Page, sight: Service, path: str, name: str) -> None:
    """An error is shown below the field that the server names, and goes when the form changes."""
    said = f"{path}: is not right, see (HW_CPU) ([enforcement] max_lead_time)"
    sight.replies[_QUOTES] = [(400, {"error_message": said, "field": path})]
    page.open()
    page.one("#book").click()
    page.until(lambda: page.one(_field(name)).get_attribute("aria-invalid") == "true")
    described = page.one(_field(name)).get_attribute("aria-describedby") or ""
    assert page.text(f"#{described.split()[-1]}") == "Is not right, see (HW_CPU)"
    _answer(sight, _GRANTED)
    page.enter(_field("count"), "2")
    page.until(lambda: "Possible." in _quote(page))
    assert page.all("#booking [aria-invalid]") == []


def test_what_is_missing(page: Page, sight: Service) -> None:
    """A needed field that is empty is named before anything is sent."""
    page.open()
    page.one("#book").click()
    page.one("#booking-form [value=deadline]").click()
    assert _quote(page) == ["Give a duration and a deadline to see what the lease would come to."]
    page.one(_field("duration")).send_keys("2h")
    page.enter(_field("deadline"), "2026-03-03T12:00")
    page.one("#booking-form [type=submit]").click()
    assert page.focus() == "name"
    assert page.text("#booking-form-name-problem") == "Give a name."
    assert sight.bodies(_LEASES) == []


def _press_book(page: Page, service: Service, times: int) -> None:
    """Book, for the given time, where no engine answers."""
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: len(service.bodies(_LEASES)) == times)
    page.until(lambda: "Book again: the same request makes no second lease." in _quote(page))


def test_retry_is_safe(page: Page, sight: Service) -> None:
    """The same request again has the same id; another request has another one."""
    _answer(sight, _GRANTED)
    sight.replies[_LEASES] = [(503, {"error_message": "No engine answers at present; try again"})]
    page.open()
    page.one("#book").click()
    page.one(_field("name")).send_keys("course")
    _press_book(page, sight, 1)
    _press_book(page, sight, 2)
    page.one(_field("name")).send_keys("s")
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: len(sight.bodies(_LEASES)) == 3)
    ids = [body["id"] for body in sight.bodies(_LEASES)]
    assert ids[0] == ids[1] != ids[2]


def test_prices(page: Page, sight: Service) -> None:
    """Where leases have prices, quotes show them, and one can limit the price."""
    _answer(sight, _GRANTED)
    page.open()
    page.one("#book").click()
    page.until(lambda: "Possible." in _quote(page))
    assert not page.shown(_field("max_price"))
    _answer(sight, _GRANTED | {"price": 12.5})
    page.enter(_field("count"), "2")
    page.until(lambda: "Price: 12.5." in _quote(page))
    page.one(_field("max_price")).send_keys("9")
    page.until(lambda: sight.bodies(_QUOTES)[-1].get("max_price") == 9)


def test_readers_cannot_book(page: Page, sight: Service) -> None:
    """Whoever may not book is not offered it; if the server refuses all the same, that is shown."""
    sight.may_book = False
    page.open()
    assert not page.shown("#book")
    sight.may_book = True
    page.until(lambda: page.shown("#book"))
    sight.replies[_QUOTES] = [(403, {"error_message": "Policy doesn't allow reservation:quotes:post to be performed."})]
    page.one("#book").click()
    page.until(lambda: _quote(page) == ["You may not do this in this project."])


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("nodes[0].count", "Number: are too many"),
        ("start_date", "Start, UTC; empty: now: are too many"),
        ("x", "x: are too many"),
    ],
)
def test_refusals_name_fields_as_the_form_does(page: Page, sight: Service, path: str, told: str) -> None:
    """Names of code are shown only where the form has no field of that kind."""
    sight.replies[_QUOTES] = [(409, {"error_message": f"{path}: are too many", "field": path})]
    page.open()
    page.one("#book").click()
    page.until(lambda: _quote(page) == [told])


def test_by_keys(page: Page, sight: Service) -> None:
    """From the button to the lease without a mouse: the order of the fields, Enter books, Esc goes back."""
    _answer(sight, _GRANTED)
    page.open()
    page.script("document.getElementById('book').focus()")
    page.press(Keys.ENTER)
    assert page.focus() == "name"
    page.press(Keys.ESCAPE)
    assert not page.shown("#booking")
    assert page.focus() == "book"
    page.press(Keys.ENTER, *"night")
    assert page.tab() == "kind"
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert [page.tab() for _ in range(6)] == [
        "count",
        "VCPU",
        "MEMORY_MB",
        "DISK_GB",
        "exclusive",
        "More about the nodes",
    ]
    assert page.tab() == "duration"
    page.press(*"2h")
    page.until(lambda: [body for body in sight.bodies(_QUOTES) if body.get("duration") == "2h"])
    sight.replies[_LEASES] = [(201, {"lease": {"id": "id-night", "name": "night", "start_date": None}})]
    sight.put(lease("night", "best-effort", "queued", queue_position=3))
    page.press(Keys.ENTER)
    page.until(lambda: page.text("#details-title") == "night")
    assert sight.bodies(_LEASES)[0]["kind"] == "best-effort"
    page.press(Keys.ESCAPE)
    assert page.focus() == "book"


def test_local_time_is_beside(page: Page, sight: Service) -> None:
    """Fields are UTC; below them is what that is where the viewer lives."""
    _answer(sight, _GRANTED)
    page.live_in("Asia/Kolkata")
    page.open()
    page.one("#book").click()
    page.enter(_field("start_date"), "2026-03-02T20:00")
    assert page.text("#booking-form-start_date-local") == "Tue 01:30 GMT+5:30 where you are"
    page.until(lambda: "Starts 2 Mar 2026, 13:00 UTC, Mon 18:30 GMT+5:30." in _quote(page))
    page.live_in("UTC")


def test_targets_on_a_phone(page: Page, sight: Service) -> None:
    """At 390 px the panel has the full width, nothing overflows, and what one touches is at least 44 px high."""
    _answer(sight, _REFUSED)
    page.resize(390, 844)
    page.open()
    assert page.script("return document.getElementById('book').offsetHeight") >= 44
    page.one("#book").click()
    page.until(lambda: page.all("#booking .alternatives button"))
    page.one("#booking .more summary").click()
    assert page.script("return document.getElementById('booking').offsetWidth") == 390
    assert page.script("const d = document.getElementById('booking'); return d.scrollWidth <= d.clientWidth") is True
    heights = page.script(
        """
        const ticks = "[type=checkbox], [type=radio]";
        const targets = `button, summary, input:not(${ticks}), label:has(${ticks})`;
        return [...document.querySelectorAll(`#booking :is(${targets})`)].filter((one) => one.checkVisibility())
          .map((one) => [one.outerHTML.slice(0, 60), one.offsetHeight]);
        """
    )
    assert len(heights) > 15
    assert [name for name, height in heights if height < 44] == []


def _values(**values: Any) -> Document:
    blank = dict.fromkeys(
        (
            "VCPU",
            "MEMORY_MB",
            "DISK_GB",
            "resources",
            "traits",
            "groups",
            "per_host",
            "start_date",
            "end_date",
            "duration",
            "deadline",
            "flavor",
            "description",
            "repeat",
            "server_name",
            "server_image",
            "server_count",
            "server_network",
            "server_key",
        ),
        "",
    )
    return {"name": "x", "kind": "reservation", "count": "1", "exclusive": False, "max_price": "", **blank, **values}


@pytest.mark.parametrize(
    ("values", "body"),
    [
        (
            {"end_date": "2026-03-02T14:00", "VCPU": "4", "traits": "A_B, C_D", "per_host": "1"},
            {
                "start_date": "now",
                "end_date": "2026-03-02T14:00:00Z",
                "nodes": [{"count": 1, "resources": {"VCPU": 4}, "traits": ["A_B", "C_D"], "per_host": 1}],
            },
        ),
        (
            {
                "kind": "immediate",
                "duration": " 2h 30m",
                "VCPU": "4",
                "exclusive": True,
                "end_date": "2026-03-02T14:00",
            },
            {"kind": "immediate", "duration": "2h30m", "nodes": [{"count": 1, "exclusive": True}]},
        ),
        (
            {"kind": "deadline", "duration": "1h", "deadline": "2026-03-03T00:00:30", "resources": "CUSTOM_GPU=2 X"},
            {
                "kind": "deadline",
                "duration": "1h",
                "deadline": "2026-03-03T00:00:30Z",
                "nodes": [{"count": 1, "resources": {"CUSTOM_GPU": 2, "X": ""}}],
            },
        ),
        (
            {"kind": "best-effort", "VCPU": "1", "groups": "VGPU:1/NET:5@A_B/C_D, VGPU:1; PCI"},
            {
                "kind": "best-effort",
                "nodes": [
                    {
                        "count": 1,
                        "resources": {"VCPU": 1},
                        "groups": [
                            {"resources": {"VGPU": 1, "NET": 5}, "traits": ["A_B", "C_D"]},
                            {"resources": {"VGPU": 1}},
                            {"resources": {"PCI": ""}},
                        ],
                    }
                ],
            },
        ),
        (
            {"kind": "best-effort", "VCPU": "1", "max_price": "2.5"},
            {"kind": "best-effort", "max_price": 2.5, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]},
        ),
    ],
)
def test_body_of_the_request(page: Page, service: Service, values: Document, body: Document) -> None:
    """Only the fields of the kind are sent; what is not a number is sent as it is, for the server to refuse."""
    page.open()
    found = page.call("booking", "leaseBody", f"leaseBody({_json(_values(**values))})")
    assert found == {"name": "x", "kind": "reservation", **body}


@pytest.mark.parametrize(
    ("values", "alternative", "terms"),
    [
        (
            {},
            _LATER,
            {"count": "4", "start_date": "2026-03-02T18:00", "end_date": "2026-03-02T20:00"},
        ),
        (
            {"kind": "immediate", "duration": "2h"},
            _LATER,
            {"kind": "reservation", "count": "4", "start_date": "2026-03-02T18:00", "end_date": "2026-03-02T20:00"},
        ),
        (
            {"kind": "immediate", "duration": "3h"},
            _LATER | {"change": "duration", "end": "2026-03-02T19:30:30Z"},
            {"count": "4", "duration": "1h30m30s"},
        ),
        (
            {"kind": "deadline", "duration": "2h", "deadline": "2026-03-02T19:00"},
            _LATER,
            {"count": "4", "duration": "2h", "deadline": "2026-03-02T20:00"},
        ),
        (
            {"kind": "deadline", "duration": "3h", "deadline": "2026-03-03T19:00"},
            _LATER | {"change": "duration"},
            {"count": "4", "duration": "2h"},
        ),
        ({"kind": "best-effort"}, _LATER | {"change": "nodes", "count": 3}, {"count": "3"}),
    ],
)
def test_terms_of_an_alternative(
    page: Page, service: Service, values: Document, alternative: Document, terms: Document
) -> None:
    """An alternative fills the fields of the kind; what only a reservation can do becomes one."""
    page.open()
    found = page.call("booking", "termsOf", f"termsOf({_json(_values(**values))}, {_json(alternative)})")
    assert found == terms


def _json(value: Document) -> str:
    return json.dumps(value)


def test_times_as_people_and_the_server_write_them(page: Page, service: Service) -> None:
    page.open()
    names = "durationText, fieldOfInstant, instantOfField, instantOf, isoInstant, kindCounts"
    found = page.call(
        "format",
        names,
        f"""[
          durationText(93785), durationText({HOUR}), fieldOfInstant({NOW}), fieldOfInstant({NOW} + 5),
          instantOfField("2026-03-02T12:00"), instantOfField(""), instantOf("2026-03-02T12:00:00.000000"),
          instantOf("2026-03-02T12:00:00Z"), isoInstant({NOW}), kindCounts({{}}),
        ]""",
    )
    assert found[:4] == ["1d2h3m5s", "1h", "2026-03-02T12:00", "2026-03-02T12:00:05"]
    assert found[4:] == [NOW, None, NOW, NOW, "2026-03-02T12:00:00Z", "none"]


def test_a_pool_is_chosen_where_there_are_several(page: Page, sight: Service) -> None:
    """The quote says in which pool the lease would be; a chosen pool is in the request, and stays chosen."""
    sight.pools = ["general", "gpu"]
    _answer(sight, _GRANTED | {"pool": "general"})
    page.open()
    page.one("#book").click()
    page.until(lambda: _quote(page))
    assert _quote(page)[0] == "Possible in pool general."
    assert "pool" not in sight.bodies(_QUOTES)[-1]
    options = page.script(
        "return [...document.querySelector('#booking-form [name=pool]').options].map(({ text }) => text)"
    )
    assert options == ["first with room", "general", "gpu"]
    _answer(sight, _GRANTED | {"pool": "gpu"})
    page.one(_field("name")).send_keys("course")
    page.one(_field("pool")).send_keys("gpu")
    page.until(lambda: sight.bodies(_QUOTES)[-1].get("pool") == "gpu")
    page.until(lambda: _quote(page) and _quote(page)[0] == "Possible in pool gpu.")
    _book_opens(page, sight, "course")
    sight.change("course", pool="gpu")
    page.one("#booking-form [type=submit]").click()
    page.until(lambda: page.shown("#details"))
    assert sight.bodies(_LEASES)[0]["pool"] == "gpu"
    page.until(lambda: "gpu" in page.text("#details .lease"))


def test_a_site_with_one_pool_has_no_choice(page: Page, sight: Service) -> None:
    """Nor has a project that may use only one."""
    for pools in ([], ["general"]):
        sight.pools = pools
        _answer(sight, _GRANTED)
        page.open()
        page.one("#book").click()
        page.until(lambda: _quote(page))
        assert _quote(page)[0] == "Possible."
        assert not page.shown(_field("pool"))
        assert "pool" not in sight.bodies(_QUOTES)[-1]


def test_proposed_start_leaves_time_to_read(page: Page, sight: Service) -> None:
    """Where an hour passes in seconds, as in the demonstration, people still have minutes to fill in the form."""
    _answer(sight, _GRANTED)
    page.open()
    start = page.script(
        """
        const real = performance.now();
        const now = calendar.clock.now();
        calendar.clock.take(now, real - 1000, real - 1000, Date.now() - 1000);
        calendar.clock.take(now + 600, real, real, Date.now());
        document.getElementById("book").click();
        const field = document.querySelector("#booking-form [name=start_date]");
        return (Date.parse(`${field.value}Z`) / 1000 - calendar.clock.now()) / calendar.clock.rate;
        """
    )
    assert 179 <= start <= 190


def test_proposed_start_is_never_over(page: Page, sight: Service) -> None:
    """Who opens the form again some hours later finds times that are still to come, unless they have chosen others."""
    _answer(sight, _GRANTED)
    page.open()
    page.one("#book").click()
    assert page.one(_field("start_date")).get_attribute("value") == "2026-03-02T13:00"
    page.one("#booking .close").click()
    sight.now = NOW + 5 * HOUR
    # After a jump, the clock seems to run fast until the next answer.
    page.until(lambda: page.script("return calendar.clock.rate <= 1 ? calendar.clock.now() : 0") >= sight.now)
    page.one("#book").click()
    assert page.one(_field("start_date")).get_attribute("value") == "2026-03-02T18:00"
    page.enter(_field("start_date"), "2026-03-02T21:00")
    page.enter(_field("end_date"), "2026-03-02T23:00")
    page.one("#booking .close").click()
    page.one("#book").click()
    assert page.one(_field("start_date")).get_attribute("value") == "2026-03-02T21:00"


def test_quote_follows_the_site(page: Page, sight: Service) -> None:
    """A rival who takes the hosts meanwhile changes the answer, though nobody touches the form."""
    _answer(sight, _GRANTED)
    page.open()
    page.one("#book").click()
    page.until(lambda: "Possible." in _quote(page))
    _answer(sight, _REFUSED)
    sight.put(lease("rival", "reservation", "scheduled", holdings=[holding(1, 2, [1, 2])]))
    page.until(lambda: "Not possible: only 2 of 4 nodes are free then." in _quote(page))
    alternative = page.one("#booking .alternatives button")
    page.script("arguments[0].focus()", alternative)
    asked = len(sight.bodies(_QUOTES))
    sight.put(lease("another", "reservation", "scheduled", holdings=[holding(3, 4, [3])]))
    page.until(lambda: len(sight.bodies(_QUOTES)) > asked)
    # The same answer leaves the focus where it is.
    assert page.script("return document.activeElement === arguments[0]", alternative) is True
    assert sight.bodies(_QUOTES)[-1] == sight.bodies(_QUOTES)[0]
