"""An embedded service keeps the contract of members over its REST interface, as far as its microversion goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lease_scheduler.cloud.peers.rest import RestMember
from lease_scheduler.federation.answers import FederationReason
from lease_scheduler.federation.members import MemberDescription, Verb
from tests.functional.embedded.rest import Rest, until
from tests.functional.federation.contract import (
    EventsContract,
    MemberContract,
    NoProjectsContract,
    SubmittingContract,
    reason,
)
from tests.functional.federation.sites import HOSTS, SETTINGS, SiteBehind, connection_to
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


def _site(service: ReservationService, microversion: str | None) -> Iterator[SiteBehind]:
    with connection_to(service.url, microversion) as connection:
        found = SiteBehind(RestMember("north", connection), Rest(service).now, until)
        yield found
        found.clear()


class TestRestMember(MemberContract, NoProjectsContract):
    """The whole contract, at the newest microversion. To a site that authenticates nobody, the caller is no peer."""

    @pytest.fixture
    def site(self, service: ReservationService) -> Iterator[SiteBehind]:
        yield from _site(service, None)


class TestWithoutHolds(SubmittingContract, EventsContract):
    """A site of the last microversion without holds that can be repeated."""

    @pytest.fixture
    def site(self, service: ReservationService) -> Iterator[SiteBehind]:
        yield from _site(service, "1.46")

    def test_it_says_that_it_holds_nothing(self, site: SiteBehind) -> None:
        found = site.member.describe()
        assert isinstance(found, MemberDescription)
        assert not found.can_hold
        assert Verb.EVENTS in found.verbs
        ask = site.ask()
        assert reason(site.member.hold(ask, site.now() + 600)) is FederationReason.UNSUPPORTED
        assert reason(site.member.accept(ask.ask_id)) is FederationReason.UNSUPPORTED


class TestWithoutEvents(SubmittingContract):
    """A site of the last microversion without events, but with reasons of refusals for programs."""

    @pytest.fixture
    def site(self, service: ReservationService) -> Iterator[SiteBehind]:
        yield from _site(service, "1.43")


class TestOldest:
    """A site whose leases have no ids that clients choose, so that no call could be repeated."""

    @pytest.fixture
    def site(self, service: ReservationService) -> Iterator[SiteBehind]:
        yield from _site(service, "1.17")

    def test_it_only_quotes(self, site: SiteBehind) -> None:
        found = site.member.describe()
        assert isinstance(found, MemberDescription)
        assert found.verbs == {Verb.QUOTE}
        assert reason(site.member.submit(site.ask())) is FederationReason.UNSUPPORTED
