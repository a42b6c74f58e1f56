"""A site publishes the load that it has learnt from the requests that it granted, also after it was killed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lease_scheduler.cloud.peers.rest import RestMember
from lease_scheduler.federation.members import MemberDescription, PublishedLoad
from lease_scheduler.federation.published_load import published_load
from lease_scheduler.model.resources import VCPU
from lease_scheduler.policy.arrivals import KnownArrivals
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.reader import SqlReader
from tests.functional.embedded.rest import Rest, until
from tests.functional.federation.contract import LONG, bid
from tests.functional.federation.sites import HOSTS, HOUR, SETTINGS, VCPUS, SiteBehind, connection_to
from tests.servers.reservation import ReservationService

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


def _load(member: RestMember) -> PublishedLoad:
    found = member.describe()
    assert isinstance(found, MemberDescription)
    assert found.load is not None
    return found.load


def _learnt(service: ReservationService, now: int) -> PublishedLoad:
    """Return the load by the record of the site's learner."""
    database = open_database(f"sqlite:///{service.folder}/state/plain/lease-scheduler.sqlite")
    try:
        known = {name: KnownArrivals.restored(each) for name, each in SqlReader(database).arrivals().items()}
    finally:
        database.dispose()
    return published_load(known, now)


def test_a_site_publishes_what_its_learner_knows(tmp_path: Path) -> None:
    service = ReservationService(tmp_path, configuration=SETTINGS)
    service.start()
    try:
        Rest(service).register(HOSTS)
        with connection_to(service.url) as connection:
            member = RestMember("north", connection)
            site = SiteBehind(member, Rest(service).now, until)
            assert _load(member) == PublishedLoad()
            first = site.ask(1)
            bid(member.submit(first))
            bid(member.submit(site.ask(1, hours=4)))
            member.submit(site.ask(HOSTS, start=first.terms.start))
            bid(member.hold(site.ask(1, start=site.now() + 72 * HOUR), site.now() + LONG))
            small, large = 2 * HOUR * VCPUS, 4 * HOUR * VCPUS
            for _ in range(2):
                found = _load(member)
                assert found.local.work[VCPU] == (small + large) / 2
                assert found.local.squares[VCPU] == (small**2 + large**2) / 2
                assert found.external == {}
                learnt = _learnt(service, site.now())
                assert replace(learnt.local, rate=0.0) == replace(found.local, rate=0.0)
                # The clock has gone on between the two.
                assert 0 < learnt.local.rate <= found.local.rate
                service.kill()
                service.start()
    finally:
        service.kill()
