"""Pools with their own hosts, policies and queues in one engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lease_scheduler.engine.interfaces import CloudEvent, EventKind
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.power import PowerState
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.service.core.observing import SiteObservations
from lease_scheduler.service.core.policies import PoolPlanning, SitePolicies
from lease_scheduler.service.requests.fewer_hosts import FewerHostsReport
from tests.functional.lease_document import lease_document
from tests.site_engine import hypervisors, site_policies
from tests.unit.service.conftest import HOUR, Core, KeepingStore

_HOSTS = ("compute-1", "compute-2", "gpu-1", "gpu-2", "gpu-3")
_ENGINE = EngineOptions(explain_refusals=False)

Lead = Callable[..., Core]


def _planning(policies: SitePolicies | None = None, *hosts: str) -> PoolPlanning:
    return PoolPlanning(policies or site_policies(), _ENGINE, hosts)


def _priced(rate: str) -> SitePolicies:
    options = PolicyOptions({"pricing_rate": rate})
    return site_policies(make=lambda: PolicySet(pricing=load_policy("pricing", "constant", options)))


@pytest.fixture
def pools(lead: Lead) -> Core:
    """Two hosts in ``general`` and three in ``gpu``, by the patterns of their names."""
    return lead(pools={"general": _planning(), "gpu": _planning(None, "gpu-*")}, hosts=_HOSTS)


def _ask(core: Core, count: int = 1, kind: str = "reservation", **said: Any) -> str:
    return core.ask(kind, count, **said)


def _hosts(core: Core, lease_id: str) -> set[str]:
    numbers = core.lease(lease_id).holdings[0].assignment
    return {core.site.engine.site.hosts[number].name for number in numbers}


def _pool(core: Core, lease_id: str) -> str | None:
    return core.lease(lease_id).request.pool


# -- hosts -------------------------------------------------------------------------------------------------


def test_hosts_join_the_pool_whose_pattern_has_their_name(pools: Core) -> None:
    found = {host.name: host.pool for host in pools.site.records.hosts.values()}
    assert found == {name: "gpu" if name.startswith("gpu") else "general" for name in _HOSTS}


def test_an_operator_names_the_pool_of_a_host(pools: Core) -> None:
    """When it is added, whatever its name, and later."""
    pools.cloud.add_hypervisors(hypervisors(["compute-3", "gpu-4"]))
    pools.pool.create_host({}, {"name": "compute-3"}, pool="gpu")
    pools.pool.create_hosts({}, ["gpu-4"], pool="general")
    found = {host.name: (number, host.pool) for number, host in pools.site.records.hosts.items()}
    assert (found["compute-3"][1], found["gpu-4"][1]) == ("gpu", "general")
    pools.pool.update_host({}, str(found["compute-3"][0]), {}, pool="general")
    assert pools.site.records.hosts[found["compute-3"][0]].pool == "general"
    with pytest.raises(RefusedError, match="pool: there is no pool gpus; right is general, gpu"):
        pools.pool.update_host({}, "1", {}, pool="gpus")


def test_each_pool_says_what_it_has_with_fewer_hosts(pools: Core) -> None:
    """Hosts of a pool that something is booked on stay, and those of other pools have nothing to do with it."""
    _ask(pools, 1, "immediate", pool="general")
    rows = FewerHostsReport(pools.site).list({}, [0, 2])["least_yields"]
    assert [(row["pool"], row["fewer"], row["hosts"], sorted(row["without"])) for row in rows] == [
        ("general", 0, 2, []),
        ("general", 2, 0, []),
        ("gpu", 0, 3, []),
        ("gpu", 2, 1, ["gpu-2", "gpu-3"]),
    ]


def test_a_host_in_use_stays_in_its_pool(pools: Core) -> None:
    lease_id = _ask(pools, 2, pool="general")
    with pytest.raises(RefusedError) as refused:
        pools.pool.update_host({}, "1", {}, pool="gpu")
    assert (refused.value.code, refused.value.message) == (
        409,
        f"host compute-1 is held by lease {lease_id}; move or delete it first",
    )
    pools.leases.end({}, lease_id)
    pools.pool.update_host({}, "1", {}, pool="gpu")
    assert _hosts(pools, _ask(pools, 4, pool="gpu")) == {"compute-1", "gpu-1", "gpu-2", "gpu-3"}


def test_a_host_that_is_down_stays_down_in_another_pool(pools: Core) -> None:
    number = pools.site.engine.site.index["gpu-3"]
    host_id = next(str(key) for key, host in pools.site.records.hosts.items() if host.name == "gpu-3")

    def report(kind: EventKind) -> None:
        pools.site.work.intents.report(None, CloudEvent(kind, pools.clock.now(), host=number))
        pools.site.step()

    report(EventKind.HOST_DOWN)
    pools.pool.update_host({}, host_id, {}, pool="general")
    assert set(pools.site.engine.outages) == {"gpu-3"}
    at_once: dict[str, Any] = {"start": pools.clock.now(), "end": pools.clock.now() + HOUR}
    with pytest.raises(RefusedError, match="pool general: "):
        _ask(pools, 3, pool="general", **at_once)
    report(EventKind.HOST_UP)
    assert pools.site.engine.outages == {}
    assert "gpu-3" in _hosts(pools, _ask(pools, 3, pool="general", **at_once))


def test_the_power_policy_of_a_pool_lets_its_own_hosts_sleep(lead: Lead) -> None:
    """Hosts of other pools stay awake; a host keeps what it has saved when it is moved, and is awake for that."""
    gesp = site_policies(make=lambda: PolicySet(power=load_policy("power", "gesp", PolicyOptions())))
    plannings = {"general": _planning(), "gpu": _planning(gesp, "gpu-*")}
    core = lead(pools=plannings, hosts=_HOSTS)
    core.site.step()
    assert _powers(core) == {name: PowerState.FALLING_ASLEEP for name in _HOSTS if name.startswith("gpu")}
    _report(core, EventKind.HOST_ASLEEP, "gpu-3")
    host_id = next(str(key) for key, host in core.site.records.hosts.items() if host.name == "gpu-3")
    with pytest.raises(RefusedError, match="host gpu-3 is asleep; wake it first"):
        core.pool.update_host({}, host_id, {}, pool="general")

    again = lead(pools=plannings, hosts=_HOSTS)
    assert _powers(again)["gpu-3"] is PowerState.ASLEEP
    again.pass_to(again.clock.now() + 100)
    again.pool.sleep_host({}, "1")
    again.pool.wake_host({}, host_id)
    _report(again, EventKind.HOST_AWAKE, "gpu-3")
    assert _powers(again)["compute-1"] is PowerState.FALLING_ASLEEP
    assert _powers(again)["gpu-3"] is PowerState.AWAKE
    again.pool.update_host({}, host_id, {}, pool="general")
    # A policy that manages no hosts leaves it awake.
    again.pass_to(again.clock.now() + HOUR)
    assert _powers(again)["gpu-3"] is PowerState.AWAKE
    again.pool.sleep_host({}, host_id)
    power = again.site.engine.powers["gpu-3"]
    assert (power.state, power.slept) == (PowerState.FALLING_ASLEEP, 100)


def _powers(core: Core) -> dict[str, PowerState]:
    core.site.step()
    written = {host.name: host.power for host in core.site.records.hosts.values() if host.power is not None}
    assert written == core.site.engine.powers
    return {name: power.state for name, power in written.items()}


def _report(core: Core, kind: EventKind, host: str) -> None:
    number = core.site.engine.site.index[host]
    core.site.work.intents.report(None, CloudEvent(kind, core.clock.now(), host=number))
    core.site.step()


# -- requests ----------------------------------------------------------------------------------------------


def test_a_lease_gets_hosts_of_its_pool_only(pools: Core) -> None:
    assert _hosts(pools, _ask(pools, 3, pool="gpu")) == {"gpu-1", "gpu-2", "gpu-3"}
    with pytest.raises(RefusedError, match="Not enough hosts available: pool gpu: nodes: no place"):
        _ask(pools, 1, pool="gpu")
    assert _hosts(pools, _ask(pools, 2, pool="general")) == {"compute-1", "compute-2"}


def test_a_request_that_names_none_gets_the_first_that_grants_it(pools: Core) -> None:
    assert _pool(pools, _ask(pools, 2)) == "general"
    assert _pool(pools, _ask(pools, 3)) == "gpu"
    with pytest.raises(RefusedError) as refused:
        _ask(pools, 1)
    assert "pool general: " in refused.value.message
    assert "; pool gpu: " in refused.value.message


def test_only_the_pools_that_the_project_may_use_are_tried(pools: Core) -> None:
    assert _pool(pools, _ask(pools, 1, pools=["gpu"])) == "gpu"
    with pytest.raises(RefusedError, match="pool: the project may not use pool general"):
        _ask(pools, 1, pools=["gpu"], pool="general")
    with pytest.raises(RefusedError, match="may not use any pool"):
        _ask(pools, 1, pools=[])


@pytest.mark.parametrize("pool", [None, "gpu"])
def test_a_quote_says_in_which_pool_it_would_be(pools: Core, pool: str | None) -> None:
    """The hosts of other pools are not in it, and nothing is reserved."""
    now = pools.clock.now()
    asked = lease_document("a", "reservation", 3, start=now + HOUR, end=now + 2 * HOUR, pool=pool)
    found = pools.quotes.quote({}, asked)
    assert (found["granted"], found["pool"], found["hosts"]) == (True, "gpu", ["3", "4", "5"])
    assert pools.site.engine.live_leases() == []
    refused = pools.quotes.quote({"sees_site": True}, {**asked, "reservations": [_of(asked, amount=6)]})
    assert (refused["granted"], refused["pool"]) == (False, pool)
    assert refused["reason"].startswith(f"pool {pool or 'general'}: ")


def _of(document: dict[str, Any], **terms: Any) -> dict[str, Any]:
    return {**document["reservations"][0], **terms}


def test_refusals_name_hosts_of_no_pool_to_projects(pools: Core) -> None:
    _ask(pools, 2, pool="general")
    _ask(pools, 3, pool="gpu")
    with pytest.raises(RefusedError) as refused:
        _ask(pools, 1)
    assert not any(host in refused.value.message for host in _HOSTS)


def test_availability_is_that_of_one_pool(pools: Core) -> None:
    now = pools.clock.now()
    query = {"nodes": {"exclusive": True}, "start": now, "end": now + HOUR, "duration": HOUR, "count": 3}
    assert pools.quotes.availability({}, query)["earliest"] is None
    assert pools.quotes.availability({}, {**query, "pool": "gpu"})["earliest"] == now


def test_a_site_without_pools_has_none_to_choose(core: Core) -> None:
    with pytest.raises(RefusedError, match="pool: there is no pool gpu; this site has no pools to choose from"):
        core.ask(pool="gpu")
    assert core.lease(core.ask()).request.pool is None


def test_a_maintenance_is_in_the_pool_of_its_hosts(pools: Core) -> None:
    now = pools.clock.now()

    def keep_free(*hosts: str) -> str:
        nodes = {"count": len(hosts), "exclusive": True, "hosts": list(hosts), "per_host": 1}
        asked = lease_document("m", "reservation", start=now + HOUR, end=now + 2 * HOUR, maintenance=True)
        asked["reservations"] = [
            {"id": asked["reservations"][0]["id"], "resource_type": "physical:host", "nodes": [nodes]}
        ]
        return str(pools.leases.create({}, asked)["lease_id"])

    assert _pool(pools, keep_free("gpu-1", "gpu-2")) == "gpu"
    with pytest.raises(RefusedError, match=r"hosts: they are in several pools \(general, gpu\)"):
        keep_free("compute-1", "gpu-3")


# -- policies ----------------------------------------------------------------------------------------------


def test_the_policies_of_a_pool_decide_alone(lead: Lead) -> None:
    """In ``calm`` nothing is preempted; in ``busy`` best-effort leases are."""
    calm = site_policies(make=lambda: PolicySet(preemption=load_policy("preemption", "no-preemption", PolicyOptions())))
    core = lead(pools={"calm": _planning(calm), "busy": _planning(None, "gpu-*")}, hosts=("compute-1", "gpu-1"))
    for pool in ("calm", "busy"):
        _ask(core, 1, "best-effort", pool=pool, duration=10 * HOUR)
    with pytest.raises(RefusedError, match="pool calm: "):
        _ask(core, 1, pool="calm")
    urgent = _ask(core, 1, pool="busy")
    assert _hosts(core, urgent) == {"gpu-1"}


def test_each_pool_has_its_own_queue(pools: Core) -> None:
    """A lease that waits in one pool holds nobody up in the other."""
    running = _ask(pools, 2, "best-effort", pool="general")
    waiting = _ask(pools, 2, "best-effort", pool="general")
    other = _ask(pools, 1, "best-effort", pool="gpu")
    pools.site.step()
    assert pools.lease(waiting).holdings == () or pools.lease(waiting).holdings[0].start > pools.clock.now()
    assert pools.lease(other).holdings[0].start == pools.clock.now()
    assert {pools.lease(each).sequence for each in (running, waiting, other)} == {0, 1, 2}


def test_each_pool_has_its_own_prices(lead: Lead) -> None:
    """A pool that costs more than the project would pay is not the first that grants the lease."""
    dear, cheap = _priced("9"), _priced("2")
    core = lead(pools={"dear": _planning(dear), "cheap": _planning(cheap, "gpu-*")}, hosts=("compute-1", "gpu-1"))
    lease = core.lease(_ask(core, 1, max_price=5.0))
    assert (lease.request.pool, lease.grant.price) == ("cheap", 2.0)
    with pytest.raises(RefusedError, match="pool dear: "):
        _ask(core, 1, pool="dear", max_price=5.0)
    seen = SiteObservations(core.site).look()
    assert seen is not None
    assert seen.price_rates == {"dear": 9.0, "cheap": 2.0}


def test_a_lease_without_a_duration_goes_to_a_pool_without_prices(lead: Lead) -> None:
    priced, free = _priced("9"), site_policies()
    core = lead(pools={"priced": _planning(priced), "free": _planning(free, "gpu-*")}, hosts=("compute-1", "gpu-1"))
    assert _pool(core, _ask(core, 1, "best-effort", duration=None)) == "free"
    with pytest.raises(RefusedError, match="duration: is needed here"):
        _ask(core, 1, "best-effort", duration=None, pool="priced")


# -- leases ------------------------------------------------------------------------------------------------


def test_a_change_keeps_the_pool(pools: Core) -> None:
    lease_id = _ask(pools, 1, pool="gpu")
    reservation = pools.site.work.documents[lease_id].reservations[0]
    pools.leases.update({}, lease_id, {"reservations": [{"id": reservation.reservation_id, "amount": 3}]})
    assert _hosts(pools, lease_id) == {"gpu-1", "gpu-2", "gpu-3"}
    with pytest.raises(RefusedError, match="pool gpu: "):
        pools.leases.update({}, lease_id, {"reservations": [{"id": reservation.reservation_id, "amount": 4}]})
    assert pools.quotes.quote_change({}, lease_id, {"end": pools.clock.now() + 9 * HOUR})["pool"] == "gpu"


def test_a_lease_is_moved_within_its_pool(pools: Core) -> None:
    lease_id = _ask(pools, 2, pool="gpu")
    pools.leases.move({"sees_site": True}, lease_id, ["gpu-1"])
    assert _hosts(pools, lease_id) == {"gpu-2", "gpu-3"}
    with pytest.raises(RefusedError, match="pool gpu: "):
        pools.leases.move({"sees_site": True}, lease_id, ["gpu-2", "gpu-3"])


def test_a_failed_host_is_replaced_by_one_of_the_pool(pools: Core) -> None:
    lease_id = _ask(pools, 2, pool="gpu")
    number = min(pools.lease(lease_id).holdings[0].assignment)
    pools.site.work.intents.report(None, CloudEvent(EventKind.HOST_CLOSED, pools.clock.now(), host=number))
    pools.site.step()
    assert _hosts(pools, lease_id) == {"gpu-1", "gpu-2", "gpu-3"} - {pools.site.engine.site.hosts[number].name}


def test_accepting_an_offer_withdraws_those_in_other_pools(pools: Core) -> None:
    now = pools.clock.now()
    taken, other = (
        pools.leases.offer(
            {},
            lease_document("an offer", "reservation", start=now + HOUR, end=now + 2 * HOUR)
            | {"pool": pool, "negotiation_id": "one"},
        )["lease_id"]
        for pool in ("general", "gpu")
    )
    pools.offers.accept({}, taken)
    assert [lease.lease_id for lease in pools.site.engine.live_leases()] == [taken]
    final = next(changes.leases[other] for changes in reversed(pools.store.commits) if other in changes.leases)
    assert (final.state, final.reason) == (LeaseState.REJECTED_BY_USER, f"lease {taken} was accepted instead")


def test_the_history_says_in_which_pool_a_lease_was_asked_for(pools: Core) -> None:
    _ask(pools, 1, pool="gpu")
    reasons = [entry.reason for changes in pools.store.commits for entry in changes.transitions]
    assert reasons == ["in pool gpu: its hosts are reserved for it"]


# -- taking over -------------------------------------------------------------------------------------------


def test_an_engine_that_takes_over_has_both_pools(pools: Core, lead: Lead) -> None:
    kept = {_ask(pools, 2, pool="general"), _ask(pools, 3, pool="gpu")}
    again = lead(pools={"general": _planning(), "gpu": _planning(None, "gpu-*")}, hosts=_HOSTS)
    assert {lease.lease_id for lease in again.site.engine.live_leases()} == kept
    for pool in ("general", "gpu"):
        with pytest.raises(RefusedError, match=f"pool {pool}: "):
            _ask(again, 1, pool=pool)
    assert again.lease(_ask(again, 1, "best-effort", pool="gpu")).sequence > 1


def test_what_was_before_there_were_pools_is_in_the_first(lead: Lead) -> None:
    lease_id = lead().ask()
    core = lead(pools={"general": _planning(), "gpu": _planning(None, "compute-*")})
    assert {host.pool for host in core.site.records.hosts.values()} == {"general"}
    assert _pool(core, lease_id) == "general"


@pytest.mark.parametrize("pools", [None, {"general": _planning()}])
def test_a_pool_that_is_missing_in_the_configuration_is_refused(
    lead: Lead, store: KeepingStore, pools: dict[str, PoolPlanning] | None
) -> None:
    """While it has hosts or leases; the message names them and the command that gives them to another pool."""
    core = lead(pools={"general": _planning(), "gpu": _planning(None, "gpu-*")}, hosts=_HOSTS)
    lease_id = _ask(core, 1, pool="gpu")
    with pytest.raises(InvalidValueError) as refused:
        lead(pools=pools, hosts=_HOSTS)
    assert refused.value.field == "pools.names"
    text = str(refused.value)
    missing = "general" if pools is None else "gpu"
    assert f"pool {missing} is missing" in text
    assert f"lease-scheduler-manage pool dissolve {missing}" in text
    if pools is not None:
        assert f"3 hosts and addresses (gpu-1, gpu-2, gpu-3) and 1 live leases ({lease_id})" in text
        assert text.endswith("--into general")
