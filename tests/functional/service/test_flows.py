"""Shares of projects in the service: weights, restarts, and a policy that is switched on a full queue (shirako S10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.store.sql.schema import POLICY_STATE
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until

Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """``make(queueing, **options of the service)``"""
    made: list[Service] = []

    def one(queueing: str = "winks", **options: Any) -> Service:
        made.append(Service(tmp_path, "free", {}, queueing=queueing, **options))
        return made[-1]

    yield one
    for service in made:
        service.close()


def _queue(service: Service, project: str, count: int = 2) -> str:
    document = service.document(count, kind="best-effort", project_id=project)
    return str(service.leases.create({}, document)["lease_id"])


def _flows(service: Service) -> dict[str, dict[str, Any]]:
    return {flow["name"]: flow for flow in service.flows.list({})["flows"]}


def _subjects(service: Service) -> list[tuple[str, str]]:
    with service._database.connect() as connection:
        # How long leases waited is kept whatever the queueing policy is.
        rows = connection.execute(POLICY_STATE.select().where(POLICY_STATE.c.family != "forecasts")).mappings()
        return sorted((row["policy"], row["subject"]) for row in rows)


def _next_running(service: Service, waiting: list[str]) -> str:
    """Return which of the leases runs next, when the present one has ended."""
    running: list[str] = []

    def one_runs() -> bool:
        running[:] = [each for each in waiting if service.view(each)["state"] == "active"]
        return bool(running)

    assert wait_until(one_runs, 30)
    assert len(running) == 1
    return running[0]


def test_projects_take_turns_whatever_the_order_of_submission(make: Make) -> None:
    """One project fills the queue first; the other one is served next, and again after its weight is raised."""
    service = make()
    first = _queue(service, "red")
    red = [_queue(service, "red") for _ in range(3)]
    blue = [_queue(service, "blue") for _ in range(3)]
    assert wait_until(service.is_in(first, "active"), 20)
    flows = _flows(service)
    assert (flows["red"]["queued"], flows["blue"]["queued"], flows["blue"]["share"]) == (3, 3, 0.5)
    assert flows["blue"]["behind"] > 0 == flows["red"]["behind"]
    assert [lease["position"] for lease in flows["blue"]["leases"]] == [1, 2, 3]

    service.leases.end({}, first)
    # The first lease has given back what it did not use, so red is next; then they take turns.
    served = []
    for _ in range(4):
        served.append(_next_running(service, [each for each in (*red, *blue) if each not in served]))
        service.restart()
        wait_until(service.is_in(served[-1], "active"), 20)
        service.clock.jump(HOUR // 2)
        service.leases.end({}, served[-1])
    assert sorted(served[:2]) == sorted([red[0], blue[0]])
    assert sorted(served[2:]) == sorted([red[1], blue[1]])


def test_a_restart_changes_nothing(make: Make) -> None:
    service = make(flow_weights={"green": 7.0})
    first = _queue(service, "red")
    for project in ("red", "blue", "blue"):
        _queue(service, project)
    service.flows.set({}, "red", 2.5)
    assert wait_until(service.is_in(first, "active"), 20)
    before = _flows(service)

    service.restart()

    after = _flows(service)
    assert {name: (flow["weight"], flow["behind"], flow["queued"]) for name, flow in after.items()} == {
        name: (flow["weight"], flow["behind"], flow["queued"]) for name, flow in before.items()
    }
    assert (after["red"]["weight"], after["red"]["source"]) == (2.5, "set")
    assert (after["green"]["weight"], after["green"]["source"]) == (7.0, "configured")
    service.flows.set({}, "red", None)
    service.restart()
    assert _flows(service)["red"]["source"] == "default"


@pytest.mark.parametrize("is_restarted", [True, False], ids=["restart", "runtime"])
def test_switching_on_a_full_queue_loses_nothing(make: Make, is_restarted: bool) -> None:
    """In both directions: nothing is lost, shares start even, and weights that were set stay."""
    service = make("fifo")
    switch = service.restart if is_restarted else service.switch
    first = _queue(service, "red")
    waiting = [_queue(service, project) for project in ("red", "red", "blue")]
    service.flows.set({}, "blue", 4.0)
    assert wait_until(service.is_in(first, "active"), 20)
    assert service.flows.list({})["policy"] == "fifo"
    assert _flows(service)["blue"]["weight"] == 4.0

    switch("winks")
    flows = _flows(service)
    # With the default backfilling, the first lease of the queue has a place ahead, and keeps it.
    assert (flows["red"]["queued"], flows["blue"]["queued"]) == (1, 1)
    assert flows["red"]["behind"] == flows["blue"]["behind"] == 0
    service.leases.end({}, first)
    running = _next_running(service, waiting)
    assert any(policy == "winks" for policy, _ in _subjects(service))

    switch("fifo")
    for number in (2, 1):
        service.leases.end({}, running)
        waiting.remove(running)
        assert len(waiting) == number
        running = _next_running(service, waiting)
    subjects = _subjects(service)
    assert ("weights", "blue") in subjects
    assert not any(policy == "winks" for policy, _ in subjects)


def test_weights_of_unknown_projects_and_removed_weights(make: Make) -> None:
    """A weight of a project without leases takes no share; one that is removed leaves its leases where they are."""
    service = make()
    service.flows.set({}, "red", 3.0)
    service.flows.set({}, "nobody", 1_000_000)
    first = _queue(service, "red")
    waiting = [_queue(service, project) for project in ("red", "blue")]
    assert wait_until(service.is_in(first, "active"), 20)
    flows = _flows(service)
    assert (flows["red"]["share"], flows["blue"]["share"], flows["nobody"]["share"]) == (0.75, 0.25, None)

    service.flows.set({}, "red", None)

    flows = _flows(service)
    assert (flows["red"]["weight"], flows["red"]["share"], flows["red"]["queued"]) == (1.0, 0.5, 1)
    service.leases.end({}, first)
    while waiting:
        running = _next_running(service, waiting)
        service.leases.end({}, running)
        waiting.remove(running)


@pytest.mark.parametrize("seconds", [-HOUR // 2, 30 * HOUR])
def test_a_clock_that_jumps_loses_nothing(make: Make, seconds: int) -> None:
    """Backwards or forwards: what projects are owed stays, and every lease runs."""
    service = make()
    first = _queue(service, "red")
    waiting = [_queue(service, project) for project in ("red", "blue")]
    assert wait_until(service.is_in(first, "active"), 20)
    owed = _flows(service)["blue"]["behind"]

    service.clock.jump(seconds)

    if seconds < 0:
        assert _flows(service)["blue"]["behind"] == owed
        service.leases.end({}, first)
    while waiting:
        running = _next_running(service, waiting)
        service.leases.end({}, running)
        waiting.remove(running)
    assert all(flow["queued"] == 0 for flow in _flows(service).values())


@pytest.mark.parametrize("seconds", [-HOUR, 24 * HOUR])
def test_a_clock_that_jumps_while_no_engine_runs(make: Make, seconds: int) -> None:
    """No host is given away twice, and what a lease is charged is neither less than nothing nor refunded twice."""
    service = make()
    first = _queue(service, "red")
    waiting = [_queue(service, project) for project in ("red", "blue")]
    assert wait_until(service.is_in(first, "active"), 20)
    owed = _flows(service)["blue"]["behind"]

    service.clock.jump(seconds)
    service.restart()

    if seconds < 0:
        assert service.view(first)["state"] == "active"
        flows = _flows(service)
        assert (flows["blue"]["behind"], flows["blue"]["queued"], flows["red"]["queued"]) == (owed, 1, 1)
        service.leases.end({}, first)
        assert wait_until(service.is_in(first, "done"), 20)
        assert 0 <= service.view(first)["accumulated"] < HOUR
    running = _next_running(service, waiting)
    assert _flows(service)["red"]["queued"] + _flows(service)["blue"]["queued"] == 1
    service.leases.end({}, running)
    waiting.remove(running)
    assert _next_running(service, waiting)


def test_hosts_that_a_project_donated_are_its_weight(make: Make) -> None:
    """shirako F135; a weight that is set goes before it."""
    service = make(flow_donor_property="donor")
    pool = service.site.pool(None)
    assert len(pool.hosts) == 2
    keeper = PoolKeeper(service.engine)
    for host in pool.hosts:
        keeper.update_host({}, str(host.host_id), {"donor": "red"})

    assert (_flows(service)["red"]["weight"], _flows(service)["red"]["source"]) == (2.0, "donated")
    service.flows.set({}, "red", 5.0)
    assert _flows(service)["red"]["weight"] == 5.0


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused(make: Make, weight: float) -> None:
    service = make()
    with pytest.raises(RefusedError, match="weight") as refused:
        service.flows.set({}, "red", weight)
    assert refused.value.code == 400
    assert _subjects(service) == []
