"""The timeline: what it shows where, and how it is navigated."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.functional.page.browser import Page
from tests.functional.page.service import HOUR, NOW, Service, holding, host, lease, past

RESERVATION = (0xE6, 0x9F, 0x00)
IMMEDIATE = (0xCC, 0x79, 0xA7)
DEADLINE = (0x2F, 0xB5, 0x8C)
BEST_EFFORT = (0x56, 0xB4, 0xE9)
WHITE = (255, 255, 255)
GHOST = (0xE1, 0xE5, 0xEC)


def _distance(one: tuple[int, int, int], other: tuple[int, int, int]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def _fill(page: Page, name: str, share: float = 0.85) -> tuple[int, int, int]:
    """Return the colour of a lease, left of its name."""
    x, y, width, height = page.boxes(name)[0]
    return page.pixel(x + width * share, y + height / 2)


@pytest.mark.parametrize(
    ("kind", "colour"),
    [("reservation", RESERVATION), ("immediate", IMMEDIATE), ("deadline", DEADLINE), ("best-effort", BEST_EFFORT)],
)
def test_kind_is_the_colour(page: Page, service: Service, kind: str, colour: tuple[int, int, int]) -> None:
    """An active lease has the colour of its kind, apart from slight variations between neighbours."""
    service.put(lease("one", kind, "active", holdings=[holding(-2, 6, [2])]))
    page.open("#rows=24")
    others = {RESERVATION, IMMEDIATE, DEADLINE, BEST_EFFORT} - {colour}
    fill = _fill(page, "one")
    assert _distance(fill, colour) < min(_distance(fill, other) for other in others)
    assert _distance(fill, colour) < 120


def test_state_is_the_filling(page: Page, sight: Service) -> None:
    """Active is solid, past is pale, planned is nearly empty; resuming and suspending are hatched."""
    page.open("#rows=24")
    active, done, planned = _fill(page, "course"), _fill(page, "nightly"), _fill(page, "paper")
    assert _distance(active, RESERVATION) < 120
    assert _distance(done, BEST_EFFORT) > 100
    assert _distance(planned, WHITE) < 150
    assert planned != WHITE
    # A hatching has lines on the background colour of the lease.
    assert len(page.colours("sweep", 0.1)) >= 2
    assert len(page.colours("render", 0.8)) >= 2
    assert len(page.colours("course", 0.8)) == 1


def test_an_offer_is_hatched_until_it_is_accepted(page: Page, service: Service) -> None:
    """haizea F8: an offer holds its hosts, but does not look like a lease."""
    offered = lease("offer", "reservation", "ready", holdings=[holding(1, 6, [2])], offered_until=NOW + HOUR // 2)
    service.put(offered, lease("sure", "reservation", "ready", holdings=[holding(1, 6, [1])]))
    page.open("#rows=24")
    assert len(page.colours("offer", 0.85)) >= 2
    assert len(page.colours("sure", 0.85)) == 1
    service.put({**offered, "offered_until": None})
    page.until(lambda: len(page.colours("offer", 0.85)) == 1)


def test_suspended_lease_shows_where_its_state_is(page: Page, sight: Service) -> None:
    """A dotted line connects the suspension and the resumption, which has a dashed edge."""
    page.open("#rows=24")
    (_, y, _, height), (x, *_) = page.boxes("mesh")
    foot = {page.pixel(x - 40 + step, y + height - 1) for step in range(14)}
    middle = {page.pixel(x - 40 + step, y + height / 2) for step in range(14)}
    assert len(foot) >= 2
    assert len(middle) == 1
    edge = {page.pixel(x + 10 + step, y) for step in range(12)}
    assert len(edge) >= 2
    planned = page.boxes("paper")[0]
    assert len({page.pixel(planned[0] + 10 + step, planned[1]) for step in range(12)}) == 1


def test_bars_stand_at_their_hosts_and_times(page: Page, service: Service) -> None:
    """Rows are in the order of the hosts' names, node-2 before node-10; the time scale is linear."""
    service.set_hosts([host(10), host(2), host(1)])
    service.put(
        lease("a", "reservation", "scheduled", holdings=[holding(1, 2, [10])]),
        lease("b", "reservation", "scheduled", holdings=[holding(2, 4, [2])]),
    )
    page.open("#rows=20")
    (ax, ay, awidth, _), (bx, by, bwidth, _) = page.boxes("a")[0], page.boxes("b")[0]
    assert ay - by == pytest.approx(20, abs=1)
    assert bx - ax == pytest.approx(awidth, abs=2)
    assert bwidth == pytest.approx(2 * awidth, abs=2)


def test_line_of_now(page: Page, service: Service) -> None:
    """A red line marks the server's instant, whatever the computer's own clock shows."""
    service.put(lease("one", "reservation", "active", holdings=[holding(0, 2, [1])]))
    page.open("#rows=24")
    x, *_ = page.boxes("one")[0]
    bottom = page.pixel(x, 300)
    assert min(_distance(page.pixel(x + step, 300), (0xC8, 0x1E, 0x3A)) for step in (-1, 0, 1)) < 120
    assert page.pixel(x + 30, 300) != bottom
    assert "Mon, 2 Mar 2026" in page.text("#clock")
    assert "12:00" in page.text("#clock")


def test_leases_share_a_host_in_lanes(page: Page, service: Service) -> None:
    """Two leases on one host at the same time are drawn one above the other within its row."""
    service.put(
        lease("a", "reservation", "scheduled", holdings=[holding(1, 5, [3])]),
        lease("b", "best-effort", "scheduled", holdings=[holding(2, 6, [3])]),
    )
    page.open("#rows=24")
    (_, ay, _, aheight), (_, by, _, bheight) = page.boxes("a")[0], page.boxes("b")[0]
    assert ay + aheight <= by
    assert aheight + bheight <= 24


def test_neighbouring_hosts_of_a_lease_are_one_block(page: Page, service: Service) -> None:
    """A lease on hosts 2, 3, 4 and 6 is two blocks."""
    service.put(lease("wide", "reservation", "active", holdings=[holding(-1, 5, [4, 2, 3, 6])]))
    page.open("#rows=20")
    heights = [height for _, _, _, height in page.boxes("wide")]
    assert heights == [58, 18]


def test_lease_that_repeats_itself_in_past_and_present(page: Page, service: Service) -> None:
    """A run whose resumption is over already is one block, not two in separate lanes."""
    held = holding(-1, 4, [2], resume=1800)
    service.put(
        lease("back", "best-effort", "active", holdings=[held], past=[past(-1, -0.5, [2], "resume")]),
    )
    page.open("#rows=24")
    ((_, _, _, height),) = page.boxes("back")
    assert height == 22


def test_hosts_that_are_down_are_marked(page: Page, service: Service) -> None:
    """The row of a host that is down is hatched."""
    service.set_hosts([host(1), host(2, "down"), host(3, "disabled")])
    service.put(lease("one", "reservation", "active", holdings=[holding(-1, 5, [1])]))
    page.open("#rows=24")
    _, y, _, height = page.boxes("one")[0]
    rows = [{page.pixel(900 + step, y + row * 24 + height / 2) for step in range(14)} for row in range(3)]
    assert [len(colours) > 2 for colours in rows] == [False, True, True]


def test_hosts_that_sleep_are_marked(page: Page, service: Service) -> None:
    """Their rows have short lines; the head counts them, and what all hosts have saved at the server's instant."""

    def slept(number: int, power: str, seconds: int, state: str = "up") -> dict[str, object]:
        known = {"state": power, "since": NOW - 2 * HOUR, "slept": seconds, "saved_watts": 500}
        return host(number, state) | {"power": known}

    service.put(lease("one", "reservation", "active", holdings=[holding(-1, 5, [1])]))
    page.open("#rows=24")
    page.until(lambda: page.text("#use").endswith("%"))
    assert not page.shown("#sleep")
    service.set_hosts([host(1), slept(2, "asleep", HOUR), slept(3, "awake", HOUR), slept(4, "waking", 0)])
    page.open("#rows=24")
    page.until(lambda: page.shown("#sleep"))
    assert page.text("#count-asleep") == "1"
    # Two hours now and one before on the second host, and one hour on the third.
    page.until(lambda: page.text("#saved") == "2 kWh saved")
    _, y, _, height = page.boxes("one")[0]
    rows = [{page.pixel(900, y + row * 24 + 7 + step) for step in range(9)} for row in range(4)]
    assert [len(colours) > 1 for colours in rows] == [False, True, False, True]
    page.move_to(900, y + 24 + height / 2).perform()
    page.until(lambda: page.shown("#tip"))
    assert page.text("#tip").splitlines() == ["host node-2, asleep", "1.5 kWh saved by sleeping"]
    service.set_hosts([host(1), slept(2, "asleep", 0, state="down")])
    page.open("#rows=24")
    page.until(lambda: page.shown("#sleep"))
    page.move_to(900, y + 24 + height / 2).perform()
    page.until(lambda: page.text("#tip").startswith("host node-2, down"))


def test_dark_and_light(page: Page, sight: Service) -> None:
    """The canvas follows the preferred colour scheme at once."""
    page.open("#rows=24")
    assert page.pixel(900, 500) == WHITE
    page.prefer("dark")
    page.until(lambda: sum(page.pixel(900, 500)) < 150)
    assert _distance(_fill(page, "course"), RESERVATION) < 120


def test_legend_names_every_kind_and_state(page: Page, sight: Service) -> None:
    """The legend has a sample and a description for everything that the chart shows."""
    page.open()
    labels = [item.text for item in page.all("#legend li")]
    assert {"reservation", "immediate", "deadline", "best-effort"} <= set(labels)
    assert {"past", "active", "planned", "offered", "resuming", "suspending", "shutting down"} <= set(labels)
    source = """return [...document.querySelectorAll("#legend canvas")].map((canvas) => {
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return [...data].join();
    })"""
    samples = page.script(source)
    assert len(samples) == len(labels)
    # Best-effort and active have the same sample under two names.
    assert len(set(samples)) == len(samples) - 1


def test_letters_are_readable_on_all_fills(page: Page, sight: Service) -> None:
    """Text on bars has a contrast of at least 4.5 and edges have at least 3 to the background, in both schemes."""
    source = """
    const done = arguments[0];
    import("./palette.js").then(({ Palette }) => {
      const palette = new Palette(document.body, document.querySelector("#chart canvas").getContext("2d"), 1);
      const fills = [];
      for (const kind of ["reservation", "immediate", "deadline", "best-effort"])
        for (const tone of ["past", "now", "ahead"])
          for (const id of ["a", "b", "c"]) fills.push([palette.letters(tone), palette.fill({ id, kind }, tone)]);
      const edges = Object.values(palette.kinds).map(({ edge }) => [edge, palette.surface]);
      done([fills, edges]);
    });"""
    page.open()
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        fills, edges = page.driver.execute_async_script(source)
        assert len({fill for _, fill in fills}) == 36
        assert min(_contrast(*pair) for pair in fills) >= 4.5
        assert min(_contrast(*pair) for pair in edges) >= 3


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_use_of_the_hosts_over_time(page: Page, service: Service) -> None:
    """The height of the strip above the rows is the share of held hosts, averaged over each column."""
    service.put(
        lease("half", "reservation", "active", holdings=[holding(-4, 8, [1, 2, 3, 4])]),
        lease("shared", "best-effort", "active", holdings=[holding(-4, 8, [4])]),
    )
    page.open()
    source = """
    const done = arguments[0];
    import("./load.js").then(({ Load }) => import("./layout.js").then(({ arrange }) => {
      const { model } = calendar;
      const load = new Load(arrange(model.leases.values(), model.rowOf).rows);
      done(load.averages(arguments[1], 3600, 6));
    }));""".replace("arguments[1]", str(NOW - 6 * HOUR))
    averages = page.driver.execute_async_script(source)
    assert averages[0] == [0, 0, 0, 0]
    # Host 4 has two leases, each of which counts for half of it.
    assert averages[3] == [3.5, 0, 0, 0.5]
    assert page.text("#use") == "50 %"


def test_ticks_of_all_zooms(page: Page, sight: Service) -> None:
    """At each zoom level, lines are at least 60 px apart, at round instants: minutes, hours, days, Mondays, months."""
    page.open()
    source = """
    const done = arguments[0];
    import("./axis.js").then(({ ticks }) => done([60, 3600, 86400, 604800, 2592000, 31536000, 157680000].map((span) =>
      ticks(1772452800, 1772452800 + span, span / 1200))));"""
    spans = [60, 3600, 86_400, 604_800, 2_592_000, 31_536_000, 157_680_000]
    for span, tiers in zip(spans, page.driver.execute_async_script(source), strict=True):
        instants = [tick["at"] for tick in tiers["minor"]]
        assert instants[0] <= NOW
        assert all(after - before >= 60 * span / 1200 for before, after in pairwise(instants))
        assert all(instant % 60 == 0 for instant in instants)
        assert tiers["major"][0]["at"] <= NOW
