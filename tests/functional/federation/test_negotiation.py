"""Negotiations with two sites that are there and one that is not: one lease, and nothing held at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import uuid4

import pytest

from lease_scheduler.cloud.peers.rest import RestMember
from lease_scheduler.federation.asks import Ask, lease_id_at
from lease_scheduler.federation.members import Member, MemberDescription
from lease_scheduler.federation.negotiation.advance import advance, begin
from lease_scheduler.federation.negotiation.events import ChangeWanted, EndWanted
from lease_scheduler.federation.negotiation.record import AttemptState, Candidate, Mode, Negotiation, Rules, Stage
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from tests.functional.embedded.rest import Document, Rest
from tests.functional.federation.between import Between, Harm, between
from tests.functional.federation.driving import negotiate
from tests.functional.federation.sites import HOSTS, HOUR, IMPATIENT, SETTINGS, VCPUS, connection_to
from tests.servers.reservation import ReservationService

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

RULES = Rules("gateway", hold_time=4 * HOUR, accept_time=30)


@dataclass
class Federation:
    """Two sites, and a third one where nothing listens.

    :ivar services: the services of the first two by name
    :ivar members: members by name, in the configured order
    :ivar server: stands in front of the site ``north``
    """

    services: dict[str, ReservationService]
    members: dict[str, Member]
    server: Between

    def now(self) -> int:
        """Return the present instant by the clock of a site."""
        return Rest(self.services["north"]).now()

    def leases(self) -> dict[tuple[str, str], Document]:
        """Return what lives at all sites, by names of sites and ids."""
        return {
            (name, lease["id"]): lease
            for name, service in self.services.items()
            for lease in Rest(service).get("leases?live=true")["leases"]
        }

    def begun(self, mode: Mode, count: int = 1, kind: LeaseKind = LeaseKind.RESERVATION) -> Negotiation:
        """Return the first record of a negotiation for nodes for two hours, from tomorrow on if it is a reservation."""
        now = self.now()
        nodes = (NodeSet(count, Resources({VCPU: VCPUS})),)
        terms = LeaseRequest(
            str(uuid4()), kind, nodes, now, 2 * HOUR, now + 24 * HOUR if kind is LeaseKind.RESERVATION else None
        )
        candidates = [Candidate(name, self._can_hold(member)) for name, member in self.members.items()]
        record = begin(Ask(terms, now + HOUR), candidates, mode, RULES, now)
        assert isinstance(record, Negotiation)
        return record

    def _can_hold(self, member: Member) -> bool:
        found = member.describe()
        return found.can_hold if isinstance(found, MemberDescription) else True


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ReservationService]]:
    with ExitStack() as stack:
        found = {}
        for name in ("north", "south"):
            found[name] = service = ReservationService(tmp_path_factory.mktemp(name), configuration=SETTINGS)
            stack.callback(service.kill)
            service.start()
            Rest(service).register(HOSTS)
        yield found


@pytest.fixture
def federation(services: dict[str, ReservationService]) -> Iterator[Federation]:
    with ExitStack() as stack:
        server = stack.enter_context(between(services["north"].url))
        away = stack.enter_context(connection_to("http://127.0.0.1:9"))
        north = stack.enter_context(connection_to(server.url))
        south = stack.enter_context(connection_to(services["south"].url))
        members: dict[str, Member] = {
            "away": RestMember("away", away, IMPATIENT),
            "north": RestMember("north", north),
            "south": RestMember("south", south),
        }
        found = Federation(services, members, server)
        yield found
        for name, lease_id in found.leases():
            Rest(services[name]).ask("DELETE", f"leases/{lease_id}")


def _granted_at(federation: Federation, record: Negotiation) -> str:
    """Return the name of the member that has granted the lease, when nothing else lives or is held anywhere."""
    assert record.stage is Stage.PLACED, [(each.member, each.bid, each.refusal) for each in record.attempts]
    assert record.placed is not None
    member = record.placed.member
    found = federation.leases()
    assert list(found) == [(member, lease_id_at(member, record.ask.ask_id))]
    assert [each["expires_at"] for each in found.values()] == [None]
    return member


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("mode", Mode)
def test_one_site_grants_the_lease_and_the_others_hold_nothing(federation: Federation, mode: Mode, times: int) -> None:
    record = negotiate(federation.begun(mode, HOSTS), federation.members, federation.now, times=times)
    _granted_at(federation, record)
    record = advance(record, EndWanted(), federation.now())
    record = negotiate(record, federation.members, federation.now, times=times)
    assert record.stage is Stage.ENDED
    assert federation.leases() == {}


@pytest.mark.parametrize("mode", Mode)
def test_what_a_full_site_refuses_another_one_grants(federation: Federation, mode: Mode) -> None:
    first = negotiate(federation.begun(mode, HOSTS), federation.members, federation.now)
    taken = _granted_at(federation, first)
    second = negotiate(federation.begun(mode, HOSTS), federation.members, federation.now)
    assert second.placed is not None
    assert second.placed.member not in (taken, "away")
    third = negotiate(federation.begun(mode, HOSTS), federation.members, federation.now)
    assert third.stage is Stage.REFUSED
    assert len(federation.leases()) == 2


@pytest.mark.parametrize("mode", Mode)
def test_a_site_that_accepts_and_denies_it_is_cleared_before_another_one_is_asked(
    federation: Federation, mode: Mode
) -> None:
    record = federation.begun(mode, HOSTS)
    lease_id = lease_id_at("north", record.ask.ask_id)
    federation.server.harms = {
        ("POST", "/action", "accept"): Harm.DENIED,
        ("GET", f"/leases/{lease_id}", ""): Harm.FORGOTTEN,
    }
    record = negotiate(record, federation.members, federation.now)
    assert _granted_at(federation, record) == "south"
    denied = record.attempt("north")
    assert denied is not None
    assert denied.state is AttemptState.CLOSED


@pytest.mark.parametrize("mode", Mode)
def test_a_site_that_does_not_say_whether_it_has_accepted_keeps_the_others_from_it(
    federation: Federation, mode: Mode
) -> None:
    federation.server.harms = {("POST", "/action", "accept"): Harm.DROPPED}
    record = negotiate(federation.begun(mode, HOSTS), federation.members, federation.now)
    assert record.stage is Stage.UNSETTLED
    granted = [name for (name, _), lease in federation.leases().items() if lease["expires_at"] is None]
    assert granted == ["north"]
    federation.server.harms = {}
    assert _granted_at(federation, negotiate(record, federation.members, federation.now)) == "north"


def test_a_site_that_cannot_hold_grants_what_the_others_refuse(federation: Federation) -> None:
    with connection_to(federation.services["south"].url, "1.46") as connection:
        federation.members["south"] = RestMember("south", connection)
        first = negotiate(federation.begun(Mode.BEST, HOSTS), federation.members, federation.now)
        assert _granted_at(federation, first) == "north"
        second = negotiate(federation.begun(Mode.BEST, HOSTS), federation.members, federation.now)
        assert second.placed is not None
        assert second.placed.member == "south"


@pytest.mark.parametrize("mode", Mode)
def test_a_lease_that_starts_at_once_is_granted(federation: Federation, mode: Mode) -> None:
    record = negotiate(federation.begun(mode, HOSTS, LeaseKind.IMMEDIATE), federation.members, federation.now)
    _granted_at(federation, record)


def test_a_granted_lease_is_changed_where_it_is(federation: Federation) -> None:
    record = negotiate(federation.begun(Mode.BEST), federation.members, federation.now)
    member = _granted_at(federation, record)
    longer = LeaseRequest(
        record.ask.ask_id,
        LeaseKind.RESERVATION,
        record.ask.terms.nodes,
        record.ask.terms.submitted,
        3 * HOUR,
        record.ask.terms.start,
    )
    record = negotiate(
        advance(record, ChangeWanted(longer), federation.now()), federation.members, federation.now, times=2
    )
    assert record.change_refusal is None
    assert record.ask.terms == longer
    assert _granted_at(federation, record) == member
