"""Live updates, lost connections, tokens, and the page's messages about them."""

from __future__ import annotations

import time

import pytest
from selenium.webdriver import Keys

from tests.functional.page.browser import Page
from tests.functional.page.service import HOUR, NOW, Service, holding, host, lease, past


def _polls(service: Service) -> int:
    return sum("/calendar" in path for path in service.paths())


def test_changes_come_in(page: Page, sight: Service) -> None:
    """New, changed and removed leases appear without a reload; only changes are requested."""
    page.open("#rows=24")
    page.until(lambda: "since=" in sight.paths()[-1])
    sight.put(lease("new", "deadline", "scheduled", holdings=[holding(1, 3, [8])]))
    page.until(lambda: page.boxes("new"))
    x, y, width, height = page.boxes("new")[0]
    before = page.pixel(x + width * 0.85, y + height / 2)
    sight.change("new", state="done", holdings=[], past=[past(-4, -1, [8])])
    page.until(lambda: page.boxes("new")[0][0] < x)
    x, y, width, height = page.boxes("new")[0]
    assert page.pixel(x + width * 0.85, y + height / 2) != before
    sight.remove("new")
    page.until(lambda: not page.boxes("new"))
    assert page.text("#matches") == "8 leases"
    assert "since=" in sight.paths()[-1]


def test_lease_is_suspended_and_comes_back(page: Page, service: Service) -> None:
    """All states of a preempted lease: active, suspending, suspended, resuming, active, done."""
    service.put(lease("job", "best-effort", "active", holdings=[holding(-1, 4, [1], suspend=600)]))
    page.open("#rows=24")
    for state in ("suspending", "suspended-queued", "suspended-scheduled", "resuming", "active"):
        suspended = int(state.startswith("suspended"))
        service.change("job", state=state, holdings=[] if suspended else [holding(-1, 4, [1])])
        page.says("#count-suspended", str(suspended))
        page.says("#count-active", str(1 - suspended))
    service.change("job", state="done", holdings=[], past=[past(-1, 0, [1])])
    page.says("#count-active", "0")
    assert page.text("#use") == "0 %"


def test_announcements_are_few(page: Page, sight: Service) -> None:
    """Changes of state are announced politely, several in one sentence, with a pause before the next ones."""
    page.open()
    source = """
    window.said = [];
    const region = document.getElementById("announcements");
    new MutationObserver(() => said.push([performance.now(), region.textContent])).observe(region, {childList: true});
    """
    page.script(source)
    assert page.one("#announcements").get_attribute("aria-live") == "polite"
    sight.change("paper", state="active")
    page.until(lambda: page.script("return said.length") == 1)
    for name in ("sweep", "render", "course", "demo"):
        sight.change(name, state="done")
    page.until(lambda: page.script("return said.length") == 2)
    (first, text), (second, more) = page.script("return said")
    assert text == "paper is active"
    named, last = more.split(", and ")
    assert len(named.split(", ")) == 3
    assert all(part.endswith(" is done") for part in named.split(", "))
    assert last == "1 more change"
    assert second - first >= 4900


def test_polls_become_rarer_when_there_is_no_news(page: Page, sight: Service) -> None:
    """The interval doubles up to the longest one, and is short again after news; a fast clock shortens it."""
    page.open()
    source = """
    const done = arguments[0];
    import("./connection.js").then(({ intervalOf }) => {
      const cases = [[0, 1], [1, 1], [9, 1], [0, 5], [1, 5], [0, 1000]];
      done(cases.map(([quiet, speed]) => intervalOf(quiet, 10000, 20000, speed)));
    });"""
    assert page.driver.execute_async_script(source) == [10_000, 20_000, 20_000, 2_000, 4_000, 2_000]


def test_connection_lost_and_found(page: Page, sight: Service) -> None:
    """A lost connection is reported, known data stay, retries become rarer, and then everything continues."""
    page.open("#rows=24")
    sight.broken = 0
    page.until(lambda: page.text("#status").startswith("Connection lost, retrying"))
    assert page.boxes("course")
    assert page.shown("#retry")
    count = _polls(sight)
    began = time.monotonic()
    page.until(lambda: _polls(sight) >= count + 2)
    # 2 s after the first failure, 4 s after the second.
    assert time.monotonic() - began >= 4
    sight.broken = None
    sight.put(lease("meanwhile", "reservation", "active", holdings=[holding(-1, 3, [8])]))
    page.one("#retry").click()
    page.until(lambda: page.text("#status") == "Live")
    page.until(lambda: page.boxes("meanwhile"))
    assert not page.shown("#retry")


def test_countdown_is_not_read_out(page: Page, sight: Service) -> None:
    """The status is announced once; the countdown is only visible."""
    page.open()
    sight.broken = 503
    page.until(lambda: page.text("#status").startswith("Connection lost, retrying in"))
    assert page.one("#status span").get_attribute("aria-hidden") == "true"
    assert page.one("#status").get_attribute("title") == "The engine rests."
    sight.broken = None


def test_first_answer_is_an_error(page: Page, sight: Service) -> None:
    """Without any data the page says what is wrong and offers to try again."""
    sight.broken = 500
    page.load()
    page.until(lambda: page.text("#message h2") == "The calendar cannot be loaded")
    assert page.text("#message p") == "The engine rests."
    assert not page.shown("#chart")
    sight.broken = None
    page.one("#message button").click()
    page.until(lambda: page.text("#status") == "Live")
    assert page.shown("#chart")
    assert not page.shown("#message")


def test_somebody_who_tries_again_sees_that_it_is_tried(page: Page, sight: Service) -> None:
    """A press while a request is on its way counts: when that fails too, another one follows at once."""
    sight.broken = 500
    page.load()
    page.until(lambda: page.text("#message h2") == "The calendar cannot be loaded")
    sight.open.clear()
    page.one("#message button").click()
    page.until(lambda: page.text("#message button") == "Trying…")
    assert page.text("#retry") == "Trying…"
    assert page.text("#status") == "Connection lost, retrying"
    page.script(
        """const real = window.setTimeout;
        window.waits = [];
        window.setTimeout = (run, wait) => { window.waits.push(wait); return real(run, wait); };"""
    )
    page.one("#message button").click()
    sight.open.set()
    page.until(lambda: 0 in page.script("return window.waits"))
    sight.broken = None
    page.one("#message button").click()
    page.until(lambda: page.shown("#chart"))
    assert not page.shown("#retry")


def test_loading(page: Page, sight: Service) -> None:
    """Until the first answer the page says that it is loading."""
    sight.open.clear()
    page.load()
    assert page.text("#message h2") == "Loading the calendar…"
    assert not page.shown("#chart")
    sight.open.set()
    page.until(lambda: page.shown("#chart"))
    assert page.one("#view-timeline").get_attribute("aria-busy") is None


@pytest.mark.parametrize(("hosts", "title"), [(0, "The pool has no hosts"), (2, "There are no leases yet")])
def test_empty(page: Page, service: Service, hosts: int, title: str) -> None:
    """No data yet is not an error; the message disappears with the first lease."""
    service.set_hosts([host(number) for number in range(hosts)])
    page.open()
    assert page.text("#message h2") == title
    assert page.shown("#chart") == bool(hosts)
    service.put(lease("one", "best-effort", "queued", queue_position=1))
    page.until(lambda: not page.shown("#message"))


def test_token(page: Page, sight: Service) -> None:
    """After a 401 the page asks for a token, keeps it for the tab only, and sends it; the token can be forgotten."""
    sight.token = "f3rnet"
    page.load()
    page.until(lambda: page.shown("#token-form"))
    assert page.focus() == "token"
    assert page.text("#status") == "Token needed"
    count = _polls(sight)
    page.press("wrong", Keys.ENTER)
    page.until(lambda: page.text("#login-message") == "The server does not accept this token.")
    assert _polls(sight) == count + 1
    page.one("#token-form input").send_keys("f3rnet", Keys.ENTER)
    page.until(lambda: page.text("#status") == "Live")
    assert page.shown("#chart")
    assert not page.shown("#token-form")
    assert page.script("return [sessionStorage.length, localStorage.length, document.cookie]") == [1, 0, ""]
    assert "f3rnet" not in page.driver.page_source
    page.driver.refresh()
    page.until(lambda: page.text("#status") == "Live")
    page.one("#forget").click()
    page.until(lambda: page.shown("#token-form"))
    assert page.script("return sessionStorage.length") == 0
    assert not page.shown("#chart")


def test_token_that_expires(page: Page, sight: Service) -> None:
    """If a token expires, the page asks for another one, and then shows the same view again."""
    sight.token = "noauth"
    page.open()
    sight.token = "another"
    page.until(lambda: page.shown("#token-form"))
    page.press("another", Keys.ENTER)
    page.until(lambda: page.shown("#chart"))
    assert page.text("#matches") == "8 leases"


def test_clock_may_run_faster(page: Page, sight: Service) -> None:
    """If the server's clock runs fast, the line of the present moves evenly between two answers."""
    page.open()
    page.until(lambda: "since=" in sight.paths()[-1])
    count = _polls(sight)
    began = time.monotonic()

    def advance() -> bool:
        sight.now = NOW + round((time.monotonic() - began) * HOUR)
        return _polls(sight) >= count + 3

    page.until(advance)
    rate = page.script("return calendar.clock.rate")
    assert rate == pytest.approx(HOUR, rel=0.25)
    first, second = page.driver.execute_async_script(
        "const done = arguments[0]; const a = calendar.clock.now();"
        "setTimeout(() => done([a, calendar.clock.now()]), 200)"
    )
    assert second - first > 0.15 * rate
    assert "1 s here is" in page.text("#speed")
    assert page.script("return calendar.timeline.follow") is True
    place = page.script("return (calendar.clock.now() - calendar.timeline.start) / calendar.timeline.span")
    assert place == pytest.approx(0.35, abs=0.05)


def test_real_time_has_no_speed(page: Page, sight: Service) -> None:
    """Although answers have whole seconds, the clock does not jitter."""
    page.open()
    source = """
    const done = arguments[0];
    import("./clock.js").then(({ Clock }) => {
      const clock = new Clock();
      const rates = [];
      for (const [now, at] of [[100, 900], [101, 2950], [104, 4940], [106, 6980]]) {
        clock.take(now, at);
        rates.push(clock.rate);
      }
      const faster = new Clock();
      faster.take(0, 0);
      faster.take(7200, 2000);
      done([rates, clock.now(7980), faster.now(3000), faster.now(600000)]);
    });"""
    rates, later, faster, silent = page.driver.execute_async_script(source)
    assert rates == [1, 1, 1, 1]
    # 100 was reported at 0.9 s and 104 at 4.94 s, so it was at least 104.04 then, and 107.08 three seconds later.
    assert later == pytest.approx(107.08)
    assert faster == 10_800
    # Without answers the clock does not run away.
    assert silent == 7200 + 25 * 3600


def test_slow_answers_and_sleep_are_not_speed(page: Page, sight: Service) -> None:
    """A clock in real time has no speed when an answer takes seconds, nor when the viewer's machine has slept."""
    page.open()
    slow, slept, faster = page.call(
        "clock",
        "Clock",
        """[[[100, 0, 0, 0], [110, 14000, 9500, 14000]],
            [[100, 0, 0, 0], [4000, 2000, 1900, 3900000]],
            [[100, 0, 0, 0], [4000, 2000, 1900, 2000]]].map((answers) => {
              const clock = new Clock();
              for (const answer of answers) clock.take(...answer);
              return clock.rate;
            })""",
    )
    assert (slow, slept, faster) == (1, 1, 1950)


def test_server_with_another_database(page: Page, sight: Service) -> None:
    """A lower revision means another database: the data shown so far are discarded."""
    page.open("#rows=24")
    page.until(lambda: "since=" in sight.paths()[-1])
    sight.restart_empty()
    page.until(lambda: page.text("#message h2") == "There are no leases yet")
    assert page.text("#matches") == "0 leases"
    assert page.boxes("course") == []
