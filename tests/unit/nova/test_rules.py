"""Which server may start on which host, including the four answers of Blazar's filter."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.nova.aggregates import HeldBy, HostLeases, read_host
from lease_scheduler.nova.rules import Boot, Rules, free_for, refusal

NOW = 1_000_000
HOUR = 3600

MINE = HeldBy(frozenset({"L1"}), "physics", exclusive=True, until=NOW + HOUR)
SHARED = HeldBy(frozenset({"L2"}), "physics", exclusive=False, until=NOW + HOUR)
COMING = HeldBy(frozenset({"L3"}), "physics", exclusive=True, vacated_from=NOW + 600, start=NOW + 900)

PLAIN = Boot("physics")
PREEMPTIBLE = Boot("physics", preemptible=True)
HINT = Boot("physics", ("L1",))


def held(*leases: HeldBy) -> HostLeases:
    return HostLeases(leases, in_pool=True)


@dataclass
class Aggregate:
    """An aggregate as Nova has it."""

    name: str
    metadata: dict[str, str] = field(default_factory=dict)
    availability_zone: str | None = None


class TestAnswersOfBlazar:
    """On aggregates as Blazar creates them."""

    HOST = read_host(
        [Aggregate("r1", {"blazar:owner": "physics"}, "blazar_r1"), Aggregate("other", {}, "zone")],
        "freepool",
        "compute-1",
    )
    POOL = read_host([Aggregate("freepool")], "freepool", "compute-1")
    INSTANCES = read_host(
        [Aggregate("r2", {"reservation": "r2", "blazar:owner": "physics"}), Aggregate("freepool")],
        "freepool",
        "compute-1",
    )
    ELSEWHERE = read_host([Aggregate("other", {"ssd": "true"}, "zone")], "freepool", "compute-1")

    @pytest.mark.parametrize(
        ("project", "hint", "passes"),
        [("physics", "r1", True), ("biology", "r1", False), ("physics", "r2", False), ("physics", "", False)],
    )
    def test_a_server_that_names_a_reservation_of_its_project_gets_its_hosts(
        self, project: str, hint: str, passes: bool
    ) -> None:
        boot = Boot(project, (hint,) if hint else ())
        assert (refusal(boot, self.HOST, NOW, Rules()) is None) is passes

    def test_the_flavor_of_a_reservation_is_as_good_as_its_name(self) -> None:
        assert refusal(Boot("physics", flavor_lease="r2"), self.INSTANCES, NOW, Rules()) is None
        assert refusal(Boot("physics", flavor_lease="r2"), self.POOL, NOW, Rules()) is not None
        assert refusal(Boot("biology", flavor_lease="r2"), self.INSTANCES, NOW, Rules()) is not None

    @pytest.mark.parametrize("allowed", [True, False])
    def test_preemptible_servers_may_use_hosts_of_the_pool_without_a_lease(self, allowed: bool) -> None:
        rules = Rules(allow_preemptibles=allowed)
        assert (refusal(PREEMPTIBLE, self.POOL, NOW, rules) is None) is allowed
        assert refusal(PREEMPTIBLE, self.HOST, NOW, rules) is not None

    def test_ordinary_servers_keep_off_the_pool_and_off_reservations(self) -> None:
        assert refusal(PLAIN, self.POOL, NOW, Rules()) is not None
        assert refusal(PLAIN, self.HOST, NOW, Rules()) is not None
        assert refusal(PLAIN, self.ELSEWHERE, NOW, Rules()) is None


class TestLeases:
    @pytest.mark.parametrize(
        ("metadata", "passes"),
        [
            ({}, True),
            ({"lease:project_id": "biology"}, False),
            ({"lease:from": str(NOW + 1)}, False),
            ({"lease:from": str(NOW)}, True),
            ({"lease:until": str(NOW)}, False),
            ({"lease:until": "tomorrow"}, True),
        ],
    )
    def test_a_lease_admits_servers_of_its_project_during_its_time(
        self, metadata: dict[str, str], passes: bool
    ) -> None:
        metadata = {"lease:id": "L1", "lease:project_id": "physics", "lease:until": str(NOW + 1), **metadata}
        host = read_host([Aggregate("lease-L1", metadata)], "freepool", "compute-1")
        for name in ("L1", "lease-L1"):
            assert (refusal(Boot("physics", (name,)), host, NOW, Rules()) is None) is passes

    def test_a_shared_host_admits_servers_until_another_lease_has_it_alone(self) -> None:
        boot = Boot("physics", ("L2",), flavor_lease="L2")
        assert refusal(boot, held(SHARED, COMING), NOW, Rules()) is None
        assert refusal(boot, held(SHARED, COMING), NOW + 600, Rules()) == "lease L3 has the host for itself"

    def test_a_hint_and_a_flavor_must_both_hold(self) -> None:
        both = Boot("physics", ("L1",), flavor_lease="L2")
        assert refusal(both, held(MINE), NOW, Rules()) is not None
        assert refusal(both, held(MINE, SHARED), NOW, Rules()) is None

    def test_a_lease_with_incomplete_metadata_has_its_host_for_itself(self) -> None:
        host = read_host([Aggregate("lease-L1", {"lease:id": "L1"})], "freepool", "compute-1")
        for boot in (PLAIN, PREEMPTIBLE, HINT):
            assert refusal(boot, host, NOW, Rules(on_demand_horizon=0)) is not None


class TestHintOfASharedLease:
    """A lease that shares a host admits only its own flavors, which take its slots and no more."""

    @pytest.mark.parametrize(
        "boot",
        [
            Boot("physics", ("L2",)),
            Boot("physics", ("L2", "L2")),
            Boot("physics", ("L2",), preemptible=True),
            # The flavor of another lease of the same project.
            Boot("physics", ("L2",), flavor_lease="L1"),
            Boot("physics", ("L2", "L1"), flavor_lease="L1"),
            # A lease that has the whole host, named as well.
            Boot("physics", ("L1", "L2")),
        ],
    )
    def test_another_flavor_is_refused_on_a_shared_host(self, boot: Boot) -> None:
        reason = refusal(boot, held(SHARED, MINE), NOW, Rules(on_demand_horizon=0))
        assert reason is not None
        assert "boot with a flavor of the lease" in reason
        assert "lease:id" in reason

    def test_a_flavor_of_the_lease_passes_on_a_shared_host(self) -> None:
        for hints in ((), ("L2",), ("L2", "L2")):
            assert refusal(Boot("physics", hints, flavor_lease="L2"), held(SHARED), NOW, Rules()) is None
        assert refusal(Boot("biology", ("L2",), flavor_lease="L2"), held(SHARED), NOW, Rules()) is not None

    def test_an_instance_reservation_of_blazar_needs_its_own_flavor(self) -> None:
        host = TestAnswersOfBlazar.INSTANCES
        assert refusal(Boot("physics", ("r2",)), host, NOW, Rules()) is not None
        assert refusal(Boot("physics", ("r2",), flavor_lease="r2"), host, NOW, Rules()) is None

    def test_a_lease_may_have_whole_hosts_and_parts_of_others(self) -> None:
        """A hint admits any flavor to the lease's exclusive hosts, only the lease's own flavor to its shared ones."""
        whole = HeldBy(frozenset({"L4", "r4"}), "physics", exclusive=True)
        part = HeldBy(frozenset({"L4", "r5"}), "physics", exclusive=False)
        assert refusal(Boot("physics", ("L4",)), held(whole), NOW, Rules()) is None
        assert refusal(Boot("physics", ("L4",)), held(part), NOW, Rules()) is not None
        # Two contradicting aggregates: the stricter one counts, in either order.
        for both in ((whole, part), (part, whole)):
            assert refusal(Boot("physics", ("L4",)), held(*both), NOW, Rules()) is not None


class TestWithoutLease:
    @pytest.mark.parametrize("boot", [PLAIN, PREEMPTIBLE])
    def test_a_host_that_is_being_vacated_takes_no_other_servers(self, boot: Boot) -> None:
        rules = Rules(on_demand_horizon=60)
        assert refusal(boot, held(COMING), NOW, rules) is None
        assert refusal(boot, held(COMING), NOW + 600, rules) == "lease L3 has the host for itself"

    @pytest.mark.parametrize(("horizon", "passes"), [(None, False), (0, True), (600, True), (601, False)])
    def test_ordinary_servers_need_a_host_that_stays_free(self, horizon: int | None, passes: bool) -> None:
        assert (refusal(PLAIN, held(COMING), NOW, Rules(on_demand_horizon=horizon)) is None) is passes

    def test_hosts_outside_the_pool_are_free_for_all(self) -> None:
        assert refusal(PLAIN, HostLeases(), NOW, Rules()) is None
        assert refusal(PREEMPTIBLE, HostLeases(), NOW, Rules(allow_preemptibles=False)) is None


#: Few, so that they often coincide.
INSTANTS = st.sampled_from([NOW - 10, NOW - 1, NOW, NOW + 1, NOW + 10])
LEASES = st.builds(
    HeldBy,
    st.frozensets(st.sampled_from(["L1", "L2", "L3"]), min_size=1, max_size=1),
    st.sampled_from(["physics", "biology"]),
    st.booleans(),
    INSTANTS,
    INSTANTS,
    st.none() | INSTANTS,
)
HOSTS = st.builds(
    HostLeases, st.lists(LEASES, max_size=4, unique_by=lambda lease: lease.names).map(tuple), st.booleans()
)
BOOTS = st.builds(
    Boot,
    st.sampled_from(["physics", "biology"]),
    st.lists(st.sampled_from(["L1", "L2", "L3"]), max_size=2).map(tuple),
    st.none() | st.sampled_from(["L1", "L2", "L3"]),
    st.booleans(),
)


def _is_entitled(boot: Boot, held: HeldBy, now: int) -> bool:
    """Return whether a lease named by a server admits it to a host: project, time and flavor fit."""
    is_now = held.start <= now and (held.until is None or now < held.until)
    return held.project_id == boot.project_id and is_now and (held.exclusive or boot.flavor_lease in held.names)


@settings(max_examples=1_000)
@given(BOOTS, HOSTS, INSTANTS, st.booleans(), st.none() | st.integers(0, 20))
def test_any_server_gets_only_hosts_that_the_leases_there_allow(
    boot: Boot, host: HostLeases, now: int, allow: bool, horizon: int | None
) -> None:
    """A server gets hosts of its own lease if that admits it, and other hosts if no lease is in the way."""
    if not host.in_pool and not host.held_by:
        return
    taken_whole = [held for held in host.held_by if held.exclusive and held.vacated_from <= now]
    named = {name: [held for held in host.held_by if name in held.names] for name in boot.leases}
    if named:
        lets_in = all(found and all(_is_entitled(boot, held, now) for held in found) for found in named.values())
        entitled = lets_in and all(not held.names.isdisjoint(named) for held in taken_whole)
    elif boot.preemptible:
        is_prepared = any(held.vacated_from <= now < held.start for held in host.held_by)
        entitled = allow and not taken_whole and not is_prepared
    else:
        begins = [max(held.vacated_from, now) for held in host.held_by]
        entitled = horizon is not None and not taken_whole and all(each >= now + horizon for each in begins)
    assert (refusal(boot, host, now, Rules(allow, horizon)) is None) is entitled


@given(HOSTS, st.integers(NOW - 20, NOW + 20), st.integers(1, 30))
def test_a_host_is_free_until_the_next_lease(host: HostLeases, now: int, longest: int) -> None:
    seconds = free_for(host, now, longest)
    assert 0 <= seconds <= longest
    assert all(lease.vacated_from >= now + seconds for lease in host.held_by if seconds)


class TestNestedProviders:
    """GPUs of leases are kept from servers of others, which nothing in Placement does (issue 18)."""

    GPUS = HeldBy(frozenset({"L4"}), "physics", exclusive=False, nested=frozenset({"VGPU"}))
    OTHERS = HeldBy(frozenset({"L5"}), "biology", exclusive=False, nested=frozenset({"VGPU", "CUSTOM_PCI_A"}))
    HOST = held(GPUS, OTHERS)

    def test_servers_without_a_lease_do_not_get_kept_resources(self) -> None:
        gpu = Boot("physics", preemptible=True, claims=frozenset({"VGPU"}))
        assert refusal(gpu, self.HOST, NOW, Rules()) == "its VGPU is kept for lease L4"
        assert refusal(Boot("physics", preemptible=True), self.HOST, NOW, Rules()) is None
        assert refusal(gpu, held(), NOW, Rules()) is None

    def test_servers_of_a_lease_get_only_the_resources_kept_for_it(self) -> None:
        """A port or an alias of a PCI device could ask for more than the flavor of the lease."""
        own = Boot("physics", flavor_lease="L4", claims=frozenset({"VGPU"}))
        assert refusal(own, self.HOST, NOW, Rules()) is None
        more = Boot("physics", flavor_lease="L4", claims=frozenset({"VGPU", "CUSTOM_PCI_A"}))
        assert refusal(more, self.HOST, NOW, Rules()) == "its CUSTOM_PCI_A is kept for lease L5"

    def test_kept_resources_are_read_from_the_aggregate(self) -> None:
        metadata = {"lease:id": "L4", "lease:exclusive": "false", "lease:nested:0": "VGPU", "lease:nested:1": "B"}
        (found,) = read_host([Aggregate("lease-L4-shared", metadata)], "freepool", "compute-1").held_by
        assert found.nested == {"VGPU", "B"}
