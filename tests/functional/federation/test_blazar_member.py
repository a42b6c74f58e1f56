"""A real Blazar 18 keeps the contract of members as far as it can, for whole hosts and for instances.

Only the cloud below it is a stand-in: Keystone, Nova and Placement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import pytest

from benchmarks.service_against_blazar.blazar import Blazar
from benchmarks.service_against_blazar.surroundings import surroundings
from lease_scheduler.cloud.peers.blazar import BlazarMember
from lease_scheduler.federation.answers import FederationReason, Released
from lease_scheduler.federation.members import MemberDescription, Verb
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST, Resources
from lease_scheduler.model.states import FINAL_STATES, LeaseState
from tests.functional.commands import blazar_site
from tests.functional.federation.contract import (
    EventsContract,
    LateContract,
    NoProjectsContract,
    TryingContract,
    bid,
    reason,
    state,
)
from tests.functional.federation.sites import HOSTS, HOUR, VCPUS, SiteBehind, connection_to
from tests.servers.base import MissingServerError, wait_until
from tests.servers.fixtures import missing
from tests.servers.mariadb import MariaDB
from tests.servers.rabbitmq import RabbitMQ

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

#: Blazar looks every ten seconds what is due.
_SECONDS = 120


@pytest.fixture(scope="module")
def blazar(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    mariadb_server: MariaDB,
    rabbitmq_server: RabbitMQ,
) -> Iterator[Blazar]:
    """Blazar with its hosts in the pool."""
    assert request.config.cache is not None
    try:
        python = blazar_site.environment(request.config.cache.mkdir("blazar"))
    except MissingServerError as error:
        missing(str(error))
    folder, name = tmp_path_factory.mktemp("blazar") / "site", f"blazar_{uuid4().hex}"
    with surroundings(folder, name, mariadb_server, rabbitmq_server, HOSTS) as around:
        found = Blazar(around, python.parents[1], ("physical.host.plugin", "virtual.instance.plugin"))
        try:
            found.prepare()
            found.start()
            for number in range(1, HOSTS + 1):
                host = {"name": f"compute-{number}"}
                assert wait_until(lambda host=host: found.api.is_willing("POST", "os-hosts", host), _SECONDS)  # type: ignore[misc]
            yield found
        finally:
            found.close()


def _minute() -> int:
    """Return the beginning of the present minute, as Blazar knows no seconds."""
    return int(time.time()) // 60 * 60


def _wait(holds: Callable[[], bool]) -> None:
    assert wait_until(holds, _SECONDS)


@contextmanager
def _site(blazar: Blazar, size: Resources) -> Iterator[SiteBehind]:
    with connection_to(blazar.url) as connection:
        found = SiteBehind(BlazarMember("plain", connection), _minute, _wait, size)
        yield found
        found.clear()
        assert blazar.api.ask("GET", "leases")["leases"] == []


class Contract(TryingContract, EventsContract, LateContract, NoProjectsContract):
    """What Blazar can be asked for."""

    def test_it_says_what_it_has_and_what_it_cannot_do(self, site: SiteBehind) -> None:
        found = site.member.describe()
        assert isinstance(found, MemberDescription)
        assert found.capacity[VCPU] == HOSTS * VCPUS
        assert found.verbs == {Verb.SUBMIT, Verb.CHANGE, Verb.END, Verb.SHOW, Verb.EVENTS}
        assert reason(site.member.quote(site.ask())) is FederationReason.UNSUPPORTED
        assert reason(site.member.hold(site.ask(), site.now() + HOUR)) is FederationReason.UNSUPPORTED

    def test_kinds_and_seconds_that_it_does_not_know_are_refused(self, site: SiteBehind) -> None:
        late = site.ask(1)
        assert late.terms.start is not None
        seconds = replace(late, terms=replace(late.terms, start=late.terms.start + 30))
        for ask in (site.ask(1, LeaseKind.BEST_EFFORT), seconds):
            assert reason(site.member.submit(ask)) is FederationReason.UNSUPPORTED

    def test_a_lease_that_starts_at_once_runs_and_ends(self, site: SiteBehind) -> None:
        ask = site.ask(HOSTS, LeaseKind.IMMEDIATE)
        assert bid(site.member.submit(ask)).lease_id == ask.ask_id
        site.wait(lambda: state(site, ask.ask_id) is LeaseState.ACTIVE)
        assert bid(site.member.submit(ask)).lease_id == ask.ask_id
        assert reason(site.member.submit(site.ask(1, LeaseKind.IMMEDIATE))) is RefusalReason.CAPACITY
        longer = replace(ask.terms, duration=3 * HOUR)
        assert bid(site.member.change(ask.ask_id, longer)).lease_id == ask.ask_id
        assert site.member.end(ask.ask_id) == Released()
        assert state(site, ask.ask_id) in FINAL_STATES

    def test_of_two_leases_with_one_id_one_is_left(self, site: SiteBehind, blazar: Blazar) -> None:
        """The second one is there because the answer to the first request was lost."""
        ask = site.ask(1)
        first = bid(site.member.submit(ask))
        (lease,) = blazar.api.ask("GET", "leases")["leases"]
        reservations = [
            {key: value for key, value in each.items() if key not in ("id", "lease_id", "resource_id", "status")}
            for each in lease["reservations"]
        ]
        dates = {key: lease[key][:16].replace("T", " ") for key in ("start_date", "end_date")}
        blazar.api.ask("POST", "leases", {"name": ask.ask_id, "reservations": reservations, "events": [], **dates})
        assert len(blazar.api.ask("GET", "leases")["leases"]) == 2
        assert bid(site.member.submit(ask)) == first
        (left,) = blazar.api.ask("GET", "leases")["leases"]
        assert left["name"] == ask.ask_id


class TestWholeHosts(Contract):
    """Reservations of the type physical:host."""

    @pytest.fixture
    def site(self, blazar: Blazar) -> Iterator[SiteBehind]:
        with _site(blazar, Resources({HOST_SHARE: WHOLE_HOST})) as found:
            yield found


class TestInstances(Contract):
    """Reservations of the type virtual:instance, of which each fills a host."""

    @pytest.fixture
    def site(self, blazar: Blazar) -> Iterator[SiteBehind]:
        with _site(blazar, Resources({VCPU: VCPUS, MEMORY_MB: 1_024})) as found:
            yield found
