"""What sites of each microversion can be asked to do, and the capacity that they show."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from lease_scheduler.cloud.peers.capabilities import capacity_of, description_of, verbs_of, version_of
from lease_scheduler.federation.members import Arrivals, MemberDescription, PublishedLoad, Verb
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.sdk.base import MAXIMUM_MICROVERSION
from lease_scheduler.sdk.reports import SiteDescription
from lease_scheduler.sdk.resources import Host

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::DeprecationWarning")


def test_later_versions_offer_more_and_the_newest_everything() -> None:
    offered = [verbs_of((1, minor)) for minor in range(version_of(MAXIMUM_MICROVERSION)[1] + 1)]
    assert all(before <= after for before, after in pairwise(offered))
    assert offered[0] == frozenset()
    assert offered[-1] == frozenset(Verb)


@pytest.mark.parametrize(("version", "holds"), [("1.9", False), ("1.46", False), ("1.47", True), ("2.0", True)])
def test_holds_need_ids_that_clients_choose(version: str, holds: bool) -> None:
    assert MemberDescription(Resources({}), verbs_of(version_of(version))).can_hold is holds


def test_a_site_says_what_it_offers_has_and_has_to_do() -> None:
    load = {"local": {"rate": 0.5, "work": {VCPU: 8.0}, "squares": {VCPU: 64.0}}, "external": []}
    shown: dict[str, Any] = {"verbs": ["quote", "end", "delegate"], "speed": 2.0, "capacity": {VCPU: 8}, "load": load}
    found = description_of(SiteDescription(**shown), (1, 48))
    published = PublishedLoad(Arrivals(0.5, {VCPU: 8.0}, {VCPU: 64.0}))
    assert found == MemberDescription(Resources({VCPU: 8}), frozenset({Verb.QUOTE, Verb.END}), published, 2.0)
    hidden = description_of(SiteDescription(**{**shown, "capacity": None, "load": None}), (1, 48))
    assert (hidden.capacity, hidden.load) == (Resources({}), None)


def test_the_capacity_is_that_of_hosts_that_can_be_leased() -> None:
    hosts = [
        Host(resources={VCPU: 8, "PGPU": 2}, reservable=True),
        Host(vcpus=4, memory_mb=1_024, local_gb=10),
        Host(resources={VCPU: 100}, reservable=False),
    ]
    assert capacity_of(hosts) == Resources({VCPU: 12, "PGPU": 2, MEMORY_MB: 1_024, DISK_GB: 10})
