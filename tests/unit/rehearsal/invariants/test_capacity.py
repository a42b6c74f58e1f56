from __future__ import annotations

from lease_scheduler.rehearsal.invariants import capacity
from lease_scheduler.rehearsal.invariants.facts import CloudFacts, Facts, HoldingFact, HostFact, LeaseFact, ProviderFact

_HOSTS = {"1": HostFact("1", "compute-1", {"VCPU": 8})}


def _lease(lease_id: str, start: int, end: int, vcpus: int, state: str = "scheduled") -> LeaseFact:
    holding = HoldingFact(start, start, end, end, ["1"])
    return LeaseFact(lease_id, "p", lease_id, "reservation", state, None, nodes=[{"VCPU": vcpus}], holdings=[holding])


def _oversold(*leases: LeaseFact) -> bool:
    facts = Facts(100.0, None, {each.lease_id: each for each in leases}, hosts=_HOSTS)
    return bool(list(capacity.oversold(facts)))


def test_leases_share_a_host_up_to_what_it_has() -> None:
    assert not _oversold(_lease("a", 200, 300, 4), _lease("b", 250, 350, 4))
    assert _oversold(_lease("a", 200, 300, 4), _lease("b", 250, 350, 5))


def test_one_lease_may_follow_another_at_once() -> None:
    assert not _oversold(_lease("a", 200, 300, 8), _lease("b", 300, 400, 8))


def test_what_is_over_does_not_count() -> None:
    assert not _oversold(_lease("a", 200, 300, 8), _lease("b", 250, 350, 8, "cancelled"))
    assert not _oversold(_lease("a", 10, 90, 8), _lease("b", 10, 90, 8))


def test_placement_grants_what_there_is() -> None:
    def facts(used: int) -> Facts:
        return Facts(100.0, None, cloud=CloudFacts(providers=[ProviderFact("compute-1", {"VCPU": 8}, {"VCPU": used})]))

    assert not list(capacity.overfull(facts(8)))
    assert list(capacity.overfull(facts(9)))
    assert not list(capacity.overfull(Facts(100.0, None)))
