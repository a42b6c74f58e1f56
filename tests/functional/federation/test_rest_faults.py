"""Sites that are killed, slow, paused or lying never refuse by that, and have the lease once when they are back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from lease_scheduler.cloud.peers.rest import RestMember
from lease_scheduler.federation.answers import Released, Unanswered
from lease_scheduler.model.states import FINAL_STATES
from tests.functional.embedded.rest import Rest, until
from tests.functional.federation.between import Between, Harm, between
from tests.functional.federation.contract import LONG, UNHEARD_OF, bid, state
from tests.functional.federation.sites import HOSTS, IMPATIENT, SETTINGS, SiteBehind, connection_to
from tests.servers.reservation import ReservationService

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReservationService]:
    found = ReservationService(tmp_path_factory.mktemp("site"), configuration=SETTINGS)
    found.start()
    Rest(found).register(HOSTS)
    yield found
    found.kill()


@pytest.fixture
def site(service: ReservationService) -> Iterator[SiteBehind]:
    """The site as it is, behind a member with patience."""
    with connection_to(service.url) as connection:
        found = SiteBehind(RestMember("north", connection), Rest(service).now, until)
        yield found
        found.clear()


@pytest.fixture
def server(service: ReservationService) -> Iterator[Between]:
    with between(service.url) as found:
        yield found


@pytest.fixture
def harmed(server: Between) -> Iterator[RestMember]:
    """The same site behind a member whose requests come to harm."""
    with connection_to(server.url) as connection:
        yield RestMember("north", connection)


@pytest.fixture
def impatient(server: Between) -> Iterator[RestMember]:
    """The same, but it soon takes silence for no answer."""
    with connection_to(server.url) as connection:
        yield RestMember("north", connection, IMPATIENT)


def live(service: ReservationService) -> list[str]:
    """Return the ids of the leases that are not over."""
    return [lease["id"] for lease in Rest(service).get("leases?live=true")["leases"]]


_HARMS_TO_ANSWERS = (Harm.LATE, Harm.DROPPED, Harm.GARBLED)


@pytest.mark.parametrize("harm", _HARMS_TO_ANSWERS)
def test_what_was_done_without_an_answer_is_done_once(
    service: ReservationService,
    site: SiteBehind,
    server: Between,
    harmed: RestMember,
    impatient: RestMember,
    harm: Harm,
) -> None:
    member = impatient if harm is Harm.LATE else harmed
    before, ask, until_then = live(service), site.ask(1), site.now() + LONG
    server.harms[("POST", "/quotes", "hold")] = harm
    assert member.hold(ask, until_then) == Unanswered()
    held = bid(site.member.hold(ask, until_then))
    server.harms[("POST", "/action", "accept")] = harm
    assert member.accept(ask.ask_id) == Unanswered()
    assert bid(site.member.accept(ask.ask_id)).start == held.start
    assert live(service) == [*before, ask.ask_id]
    server.harms[("POST", "/action", "end")] = harm
    assert member.end(ask.ask_id) == Unanswered()
    assert site.member.end(ask.ask_id) == Released()
    assert live(service) == before


@pytest.mark.parametrize("harm", _HARMS_TO_ANSWERS)
def test_a_lease_whose_creation_was_not_answered_exists_once(
    service: ReservationService,
    site: SiteBehind,
    server: Between,
    harmed: RestMember,
    impatient: RestMember,
    harm: Harm,
) -> None:
    member = impatient if harm is Harm.LATE else harmed
    ask = site.ask(1)
    server.harms[("POST", "/leases", "")] = harm
    assert member.submit(ask) == Unanswered()
    assert bid(site.member.submit(ask)).lease_id == ask.ask_id
    assert live(service).count(ask.ask_id) == 1


@pytest.mark.parametrize("harm", [Harm.FAILING, Harm.UNAUTHORIZED, Harm.ELSEWHERE])
def test_errors_that_are_not_about_the_request_are_no_refusal(
    site: SiteBehind, server: Between, harmed: RestMember, harm: Harm
) -> None:
    ask = site.ask(1)
    bid(site.member.hold(ask, site.now() + LONG))
    server.harms = dict.fromkeys([("POST", "", ""), ("PUT", "", ""), ("GET", f"{ask.ask_id}/history", "")], harm)
    server.harms |= {("GET", "/member", ""): harm, ("GET", "/events", ""): harm, ("GET", ask.ask_id, ""): harm}
    other = site.ask(1)
    answers = [
        harmed.describe(),
        harmed.quote(other),
        harmed.hold(other, site.now() + LONG),
        harmed.submit(other),
        harmed.accept(ask.ask_id),
        harmed.reject(ask.ask_id),
        harmed.end(ask.ask_id),
        harmed.change(ask.ask_id, ask.terms),
        harmed.show(ask.ask_id),
        harmed.events(0),
    ]
    assert answers == [Unanswered()] * len(answers)
    bid(site.member.accept(ask.ask_id))


def test_a_site_that_accepts_and_says_no_is_looked_at_again(
    site: SiteBehind, server: Between, harmed: RestMember
) -> None:
    ask = site.ask(1)
    bid(site.member.hold(ask, site.now() + LONG))
    server.harms[("POST", "/action", "accept")] = Harm.DENIED
    assert bid(harmed.accept(ask.ask_id)).lease_id == ask.ask_id


def test_a_killed_site_has_its_holds_when_it_is_back(service: ReservationService, site: SiteBehind) -> None:
    ask, until_then = site.ask(1), site.now() + LONG
    held = bid(site.member.hold(ask, until_then))
    other = site.ask(1)
    service.kill()
    assert site.member.accept(ask.ask_id) == Unanswered()
    assert site.member.hold(other, until_then) == Unanswered()
    assert site.member.show(ask.ask_id) == Unanswered()
    assert site.member.events(0) == Unanswered()
    service.start()
    assert bid(site.member.hold(ask, until_then)).held_until == held.held_until
    assert bid(site.member.accept(ask.ask_id)).start == held.start
    assert state(site, ask.ask_id) not in FINAL_STATES


def test_a_site_that_was_never_reached_is_no_refusal() -> None:
    with connection_to("http://127.0.0.1:9") as connection:
        member = RestMember("away", connection, IMPATIENT)
        assert member.describe() == Unanswered()
        assert member.end(UNHEARD_OF) == Unanswered()
        assert member.show(UNHEARD_OF) == Unanswered()


def test_a_paused_site_does_not_answer_and_goes_on_later(service: ReservationService, site: SiteBehind) -> None:
    ask, until_then = site.ask(1), site.now() + LONG
    with connection_to(service.url) as connection:
        impatient = RestMember("north", connection, IMPATIENT)
        bid(site.member.hold(ask, until_then))
        os.kill(service.pid, signal.SIGSTOP)
        try:
            # Also the first call of all, which asks the site for its version.
            assert impatient.accept(ask.ask_id) == Unanswered()
        finally:
            os.kill(service.pid, signal.SIGCONT)
    assert bid(site.member.accept(ask.ask_id)).lease_id == ask.ask_id
    assert live(service).count(ask.ask_id) == 1
