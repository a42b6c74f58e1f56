"""Decisions from a comparison of leases and cloud: values in, values out."""

from __future__ import annotations

from collections.abc import Collection

from lease_scheduler.cloud.differences import Difference, Item, Kind, Problem, compare
from lease_scheduler.cloud.facts import Footprint
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.resources import Resources
from lease_scheduler.records.intents import Intent
from lease_scheduler.service.upkeep.reconcile import (
    REPAIR_TIME,
    Action,
    Leases,
    decide,
    settled,
    stuck_leases,
    to_adjust,
)


def item(kind: Kind, name: str, **contents: str) -> Item:
    return Item(kind, name, "lease", contents)


class Store:
    """Knows which ids belong to leases that have ended, and which trusts leases have."""

    def __init__(self, over: Collection[str] = (), known: Collection[str] = ()) -> None:
        self.over = set(over)
        self.known = set(known)
        self.asked: list[set[str]] = []

    def of_leases_that_are_over(self, ids: Collection[str]) -> set[str]:
        self.asked.append(set(ids))
        return self.over & set(ids)

    def known_trusts(self, ids: Collection[str]) -> set[str]:
        return self.known & set(ids)


EVERYTHING = Store(over={"lease", "group", "trust"})


def found(*items: Item) -> dict[tuple[Kind, str], Item]:
    return {(each.kind, each.name): each for each in items}


def leases(*busy: str, stuck: frozenset[str] = frozenset()) -> Leases:
    return Leases({}, {}, Site((Host("compute-1", Resources({"VCPU": 1})),)), frozenset(busy), stuck, 0)


def test_what_is_missing_or_different_is_told_and_no_part_of_what_is_missing() -> None:
    aggregate = item(Kind.AGGREGATE, "a", hosts="one")
    metadata = Item(Kind.METADATA, "a", "lease", {"key": "value"}, inside=(Kind.AGGREGATE, "a"))
    assert compare([aggregate, metadata], found(aggregate, metadata)) == []
    (missing,) = compare([aggregate, metadata], {})
    assert (missing.kind, missing.problem, missing.lease_id) == (Kind.AGGREGATE, Problem.MISSING, "lease")
    edited = item(Kind.METADATA, "a", key="other", more="of the operator's own")
    (different,) = compare([aggregate, metadata], found(aggregate, edited))
    assert (different.problem, different.detail) == (Problem.DIFFERENT, "key is other, should be value")


def test_what_must_have_nothing_else_is_told_of_more() -> None:
    wanted = Item(Kind.EXTRA_SPECS, "f", "lease", {"resources:VCPU": "0"}, is_complete=True)
    more = item(Kind.EXTRA_SPECS, "f", **{"resources:VCPU": "0", "resources:MEMORY_MB": "64"})
    (different,) = compare([wanted], found(more))
    assert different.detail == "resources:MEMORY_MB is 64, should be absent"


def test_what_is_being_done_is_no_difference() -> None:
    missing = Difference(Kind.FLAVOR, Problem.MISSING, "f", "lease")
    left_over = Difference(Kind.FLAVOR, Problem.LEFT_OVER, "g", "lease")
    assert settled([missing, left_over], leases("lease"), leases(), EVERYTHING) == []
    assert settled([missing, left_over], leases(), leases(), EVERYTHING) == [missing, left_over]
    # The lease or its operation ended while the cloud was read, so the comparison saw what is gone by now.
    assert settled([missing, left_over], leases(), leases("lease"), EVERYTHING) == []
    footprint = Footprint("lease", "none", frozenset())
    assert decide(leases(), leases("lease"), [footprint]) == {}
    assert decide(leases(), leases(), [footprint]) == {"lease": Action.DESTROY}
    # A repair that does not finish is reported.
    stuck = leases("lease", stuck=frozenset({"lease"}))
    assert settled([missing], stuck, stuck, EVERYTHING) == [missing]
    assert settled([missing], stuck, leases("lease"), EVERYTHING) == []


def test_groups_and_trusts_are_left_over_only_if_the_store_knows_them() -> None:
    """Blazar uses the same names for its groups, and others may trust the same user."""
    group = Difference(Kind.SERVER_GROUP, Problem.LEFT_OVER, "group", reference="reservation")
    trust = Difference(Kind.TRUST, Problem.LEFT_OVER, "trust", reference="trust")
    store = Store(over={"trust"})
    assert settled([group, trust], leases(), leases(), store) == [trust]
    assert store.asked == [{"reservation", "trust"}]


def test_abandoned_trusts_are_left_over_unless_a_lease_or_a_host_has_them() -> None:
    """The request that an API process dies in leaves a trust that no lease has."""
    used, unused = (
        Difference(Kind.TRUST, Problem.LEFT_OVER, name, reference=name, is_abandoned=True) for name in ("used", "not")
    )
    (found,) = settled([used, unused], leases(), leases(), Store(known={"used"}))
    assert (found.name, found.detail) == ("not", "it was given for a lease that was not made")
    assert to_adjust([found]) == frozenset()
    over = settled([used], leases(), leases(), Store(over={"used"}, known={"used"}))
    assert over == [used], "the lease that has it has ended"


def test_repairs_that_take_too_long() -> None:
    def intent(number: int, kind: OperationKind, begun: int) -> Intent:
        return Intent(number, f"lease-{number}", Operation(kind, f"lease-{number}", (0,), begun, begun))

    now = 1_000
    intents = [
        intent(1, OperationKind.ADJUST, now - REPAIR_TIME),
        intent(2, OperationKind.ADJUST, now - REPAIR_TIME + 1),
        intent(3, OperationKind.START, 0),
        Intent(4, "lease-4", None),
    ]
    assert stuck_leases(intents, now) == {"lease-1"}


def test_what_operations_make_again() -> None:
    differences = [
        Difference(Kind.FLAVOR, Problem.MISSING, "f", "one"),
        Difference(Kind.TRUST, Problem.MISSING, "t", "two"),
        Difference(Kind.INVENTORY, Problem.MISSING, "anchor", "three", is_ours_to_mend=False),
        Difference(Kind.FLAVOR, Problem.LEFT_OVER, "g", "four"),
        Difference(Kind.AGGREGATE, Problem.DIFFERENT, "freepool"),
    ]
    assert to_adjust(differences) == {"one"}
