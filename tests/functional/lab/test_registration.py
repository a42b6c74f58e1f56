"""A recorded run of a real Nova does what its simulation does, and not what a scheduler with an error does.

Pucher 2016, section 3.3.3 (prediction S2, E1). Requests come at the beginning of a minute, and leases are over towards
the end of one. So a few seconds more or less of an operation do not change where the next lease finds room, and a run
of some minutes tells as much as many runs of hours.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from lease_scheduler.simulation.registration import BOUND, register
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.store.sql.run_record import read_run
from tests import last_fit
from tests.functional.lab.service import QUARTER, Document, Service, as_date, running_service, usages
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.notifications import NotificationRecorder

pytestmark = [
    pytest.mark.slow,
    # The client library does not close connections that a server has dropped.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

#: Seconds from wave to wave, number of waves, and requests in each.
_WAVE, _WAVES, _REQUESTS = 75, 6, 5

_STEPS = 3


@dataclass(frozen=True)
class _Request:
    """When it comes, for how many seconds its lease runs, and with how many nodes."""

    at: int
    duration: int
    nodes: int


def _requests() -> list[_Request]:
    random = Random(11)
    found = []
    for wave in range(_WAVES):
        for number in range(_REQUESTS):
            at = wave * _WAVE + 6 * number + random.randrange(4)
            over = (wave + random.choice((0, 0, 0, 1, 1, 1, 2, 2))) * _WAVE + random.randrange(32, 42)
            found.append(_Request(at, over - at if over - at >= 8 else over - at + _WAVE, random.choice((1, 1, 2))))
    return found


@dataclass
class _Run:
    """The run on the lab, as far as it has come."""

    service: Service
    recorder: NotificationRecorder
    begun: int = 0
    leases: list[Document] = field(default_factory=list)


@pytest.fixture(scope="module")
def run(lab: Lab) -> Iterator[_Run]:
    settings = {"scheduling": {"policy_host_selection": "packing"}}
    with running_service(lab, settings=settings) as service, NotificationRecorder(lab.rabbitmq) as recorder:
        made = _Run(service, recorder)
        try:
            yield made
        finally:
            for lease in made.leases:
                service.is_cancelled(lease)


@pytest.mark.parametrize("step", range(_STEPS))
def test_a_third_of_the_run(run: _Run, step: int) -> None:
    """A test may take seven minutes, so there are several."""
    run.begun = run.begun or int(time.time()) + 1
    length = _WAVES * _WAVE // _STEPS
    for request in _requests():
        if step * length <= request.at < (step + 1) * length:
            time.sleep(max(0.0, run.begun + request.at - time.time()))
            terms: Document = {
                "kind": "best-effort",
                "duration": request.duration,
                "nodes": [{"count": request.nodes, "resources": QUARTER}],
                "servers": [{**run.service.template(), "count": request.nodes}],
            }
            run.leases.append(run.service.lease(run.service.ada, **terms))
    time.sleep(max(0.0, run.begun + (step + 1) * length - time.time()))


def _by_nova(run: _Run) -> dict[str, float]:
    """Return the utilisation of each host by Nova's notifications: from the end of a boot to the end of a deletion."""
    end = run.begun + _WAVES * _WAVE
    until = {each.server_id: each.at for each in run.recorder.heard("instance.delete.end")}
    used: defaultdict[str, float] = defaultdict(float)
    for each in run.recorder.heard("instance.create.end"):
        used[each.payload["host"]] += max(0.0, min(end, until.get(each.server_id, end)) - each.at) * QUARTER["VCPU"]
    counted = usages(run.service.admin, [host.name for host in LAB_HOSTS])
    return {name: used[name] / (most["VCPU"] * (end - run.begun)) for name, (_, most) in counted.items()}


def test_the_simulation_does_what_the_lab_did(
    run: _Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service, end = run.service, run.begun + _WAVES * _WAVE
    assert len(run.leases) == _WAVES * _REQUESTS
    program = Path(sys.executable).parent / "lease-scheduler-manage"
    words = ["--config-file", str(service.programs.configuration_file), "register"]
    words += ["--start", as_date(run.begun), "--end", as_date(end)]
    began = time.monotonic()
    told = subprocess.run([str(program), *words], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    with capsys.disabled():
        print(f"\n{told.stdout}registered in {seconds:.1f} s")
    assert told.returncode == 0, (told.stdout, told.stderr)
    found = json.loads(subprocess.run([str(program), *words, "--json"], capture_output=True, text=True).stdout)
    assert found["leases"] == len(run.leases)
    assert found["largest"] <= BOUND
    assert found["measured"]["start"] >= len(run.leases) // 2
    # For information: the service counts a lease until it has seen that the last server is gone, Nova until it is.
    by_nova = _by_nova(run)
    from_nova = max(abs(each["simulated"] - by_nova[each["host"]]) for each in found["hosts"])
    with capsys.disabled():
        print(f"largest difference from Nova's notifications {from_nova:.4f}")
    # The same record, and a scheduler that takes the last host with room.
    last_fit.inject(monkeypatch)
    record = read_run(service.programs.database, run.begun, end)
    wrong = register(record, RunSettings(policies={"host_selection": "packing"}), runs=3)
    assert not wrong.agrees
    with capsys.disabled():
        print(f"with a scheduler that takes the last host: {wrong.largest:.4f}")
