"""What a project learns about the site besides its own leases."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.property_query import parse_query
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.records.pool import HostRecord
from lease_scheduler.service.core.refusals import refusals
from lease_scheduler.service.core.terms import Pool

HOSTS = tuple(
    HostRecord(number, f"compute-{number}", 4, 4096, 40, 0, {}, properties={"owner": owner, "gpu": "yes"})
    for number, owner in enumerate(("bank", "school"))
)


def test_a_private_property_is_as_if_no_host_had_it() -> None:
    """Neither its values nor its existence can be discovered."""
    private, everything = Pool(HOSTS, (), {}, hidden=frozenset({"owner"})), Pool(HOSTS, (), {})
    for text in ('["==", "$owner", "bank"]', '["not", ["==", "$owner", "bank"]]', '["!=", "$owner", "x"]'):
        unknown = parse_query(text.replace("owner", "nonsense"))
        assert (
            private.matching(parse_query(text)) == private.matching(unknown) != everything.matching(parse_query(text))
        )
    assert private.matching(parse_query('["==", "$gpu", "yes"]')) == frozenset({"compute-0", "compute-1"})


@pytest.mark.parametrize(("sees_site", "named"), [(True, True), (False, False)])
def test_refusals_name_hosts_to_who_sees_the_site_only(sees_site: bool, named: bool) -> None:
    refusal = Refusal(RefusalReason.CAPACITY, "nodes: no place; taken: compute-7; would fit: 1 node", ("compute-7",))
    with pytest.raises(RefusedError) as refused, refusals({"sees_site": sees_site}):
        raise NoPlaceError(refusal)
    assert ("compute-7" in refused.value.message) is named
    assert refused.value.message.endswith("; would fit: 1 node")
