"""Jobs of a real Slurm on leased nodes (federation, section 6; shirako S12, S13)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.functional.embedded.rest import date
from tests.functional.guest.conftest import MakeWorld
from tests.functional.guest.world import World
from tests.servers.base import log_end

#: Seconds that a job may take from its submission, on a slow machine: Slurm alone may take half a minute to see that
#: the nodes of a job are there.
_PATIENCE = 240.0


def _script(file: Path, seconds: int) -> str:
    """Return a batch script that writes a line at its start and at its end."""
    return f"echo start $SLURM_JOB_ID >> {file}; sleep {seconds}; echo end $SLURM_JOB_ID >> {file}"


def _ended(file: Path) -> list[str]:
    """Return the jobs that came to their end, in order."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [line.removeprefix("end ") for line in lines if line.startswith("end ")]


def test_a_job_in_an_empty_partition_runs_on_leased_nodes_which_go_back(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world("controller = adaptive", "term = 300")
    world.wait(lambda: "leases of at most" in world.log.read_text())
    assert world.left() == []
    file = tmp_path / "jobs"
    wide, narrow = world.slurm.submit(_script(file, 1), nodes=2), world.slurm.submit(_script(file, 1))
    world.wait(lambda: len(world.live_leases()) == 3)
    world.wait_for_end(_PATIENCE)
    assert sorted(_ended(file)) == sorted([wide, narrow])
    assert {("join", name) for name in ("c1", "c2", "c3")} <= set(world.hooks.received)
    assert world.hooks.refused == 0


def _long_then_short(file: Path) -> str:
    """Return a script that would run for long at its first run, and ends soon when it was requeued."""
    return f'if [ -z "$SLURM_RESTART_COUNT" ]; then sleep 600; fi; {_script(file, 1)}'


@pytest.mark.slow
def test_a_job_has_a_lease_of_its_own_as_wide_and_as_long_as_it_is(make_world: MakeWorld, tmp_path: Path) -> None:
    """Shirako F124 and A44, lease length ``client``."""
    world = make_world("controller = per-job", "setup_time = 60")
    file = tmp_path / "jobs"
    job = world.slurm.submit(_script(file, 1), nodes=2, minutes=3)
    world.wait(world.live_leases)
    (lease,) = world.live_leases()
    assert (lease["duration"], lease["reservations"][0]["amount"]) == (60 + 3 * 60, 2)
    world.wait_for_end(_PATIENCE)
    assert _ended(file) == [job]


@pytest.mark.slow
def test_a_lease_that_ends_requeues_its_job(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world("controller = adaptive", "term = 75", "renewable = false")
    file = tmp_path / "jobs"
    job = world.slurm.submit(_long_then_short(file))
    world.wait_for_end(_PATIENCE)
    assert _ended(file) == [job]
    assert [verb for verb, _ in world.hooks.received].count("leave") == 2


@pytest.mark.slow
def test_a_lease_is_extended_until_its_job_is_done(make_world: MakeWorld, tmp_path: Path) -> None:
    """Shirako A44, lease length ``extend``; the lease of 60 s could not hold the job."""
    world = make_world("controller = per-job-extend", "term = 60")
    file = tmp_path / "jobs"
    job = world.slurm.submit(_script(file, 70))
    world.wait_for_end(_PATIENCE)
    assert _ended(file) == [job]
    assert "is extended to 120 s" in world.log.read_text()
    assert ("leave" in dict(world.hooks.received)) and len(world.hooks.received) == 2


def _reserved(world: World, start: int) -> bool:
    """Return whether all hosts could be reserved from an instant on."""
    nodes = [{"count": 3, "resources": {"VCPU": 8}}]
    times = {"start_date": date(start), "end_date": date(start + 20)}
    asked = {"name": "course", "kind": "reservation", "nodes": nodes, **times}
    return world.rest.ask("POST", "leases", asked).status_code < 300


@pytest.mark.slow
@pytest.mark.parametrize("notices", [range(2, 60, 4), [60]], ids=["at once", "known before"])
def test_a_preempted_lease_requeues_its_job(make_world: MakeWorld, tmp_path: Path, notices: Sequence[int]) -> None:
    """A reservation of all hosts takes them from the guest for some time, as early as the site grants it, or later."""
    world = make_world("controller = adaptive", "term = 600")
    file = tmp_path / "jobs"
    jobs = [world.slurm.submit(_long_then_short(file)) for _ in range(2)]
    world.wait(lambda: set(world.slurm.jobs().values()) == {"RUNNING"}, _PATIENCE)
    assert any(_reserved(world, world.rest.now() + notice) for notice in notices)
    world.wait_for_end(2 * _PATIENCE)
    assert sorted(_ended(file)) == sorted(jobs)


@pytest.mark.slow
def test_a_static_guest_keeps_its_nodes(make_world: MakeWorld, tmp_path: Path) -> None:
    """Shirako S11: nodes are there before there are jobs."""
    world = make_world("controller = static", "term = 600")
    world.wait(lambda: set(world.slurm.states().values()) == {("idle", ("CLOUD",))}, _PATIENCE)
    assert world.slurm.running_nodes() == {"c1", "c2", "c3"}
    (lease,) = world.live_leases()
    assert lease["reservations"][0]["amount"] == 3


@pytest.mark.slow
def test_whatever_is_killed_every_job_runs_to_its_end_once(make_world: MakeWorld, tmp_path: Path) -> None:
    """Guest, slurmctld and engine are killed once each: no node is stranded, and no lease is left."""
    world = make_world("controller = adaptive", "term = 600")
    file = tmp_path / "jobs"
    jobs = [world.slurm.submit(_script(file, 2), nodes=nodes) for nodes in (1, 2, 1, 3)]
    world.wait(world.live_leases)
    world.kill_guest()
    world.start_guest()
    world.wait(world.slurm.running_nodes, _PATIENCE)
    world.service.kill()
    world.service.start()
    world.wait(lambda: _ended(file), _PATIENCE)
    world.slurm.kill_controller()
    world.slurm.start_controller()
    jobs += [world.slurm.submit(_script(file, 1))]
    world.kill_guest()
    world.start_guest()
    world.wait_for_end(2 * _PATIENCE)
    assert sorted(_ended(file)) == sorted(jobs), f"{log_end(world.log)}\n{log_end(world.slurm.log)}"


@pytest.mark.slow
def test_a_node_that_does_not_come_is_usable_again(make_world: MakeWorld, tmp_path: Path) -> None:
    """Slurm gives it up after ``ResumeTimeout``, requeues its job, and the guest lets the node be used again."""
    world = make_world("controller = adaptive", "term = 600")
    world.slurm.run("scontrol", "update", "nodename=c1", "state=POWER_UP")
    world.kill_guest()
    world.wait(lambda: "down" in dict(world.slurm.states().values()), _PATIENCE)
    world.start_guest()
    world.wait_for_end(_PATIENCE)
