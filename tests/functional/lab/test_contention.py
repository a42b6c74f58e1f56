"""The run of table 7.1 on a real Nova: a local request preempts the leases that the formula names (contention E15)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lease_scheduler.papers.contention.prototype import LOCAL, REQUESTS, STORAGE_RATE
from tests.functional.lab.service import (
    LIMIT,
    QUARTER,
    Document,
    Service,
    in_epoch,
    in_seconds,
    running_service,
)
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.notifications import NotificationRecorder

pytestmark = pytest.mark.slow

#: Three hosts with four nodes each are the twelve nodes of the prototype.
_HOSTS = [host.name for host in LAB_HOSTS[:3]]

#: Seconds within which any of the leases could be suspended by the rates of the lab's options, which say 1 s for a VM.
#: Nova needs longer to shelve one. At once, the start would wait for the first leases that can be suspended, and only
#: these would be candidates.
_NOTICE = 60

_OPTIONS = {
    "overhead_suspend_rate": STORAGE_RATE,
    "overhead_resume_rate": STORAGE_RATE,
    "overhead_pause_time": 0,
    "overhead_reschedule_time": 0,
}


@pytest.fixture(params=[("moml", "5 6"), ("mlip-ordered", "1 6"), ("mov-ordered", "2 3 5")], ids=lambda param: param[0])
def choice(request: pytest.FixtureRequest, lab: Lab) -> Iterator[tuple[Service, str]]:
    """The service with a preemption policy, and the leases that the policy preempts by table 7.2."""
    policy, preempted = request.param
    settings = {"scheduling": {"policy_preemption": policy}, "policy": _OPTIONS}
    with running_service(lab, hosts=_HOSTS, settings=settings) as started:
        yield started, preempted


def test_victims_of_table_7_2(choice: tuple[Service, str], recorder: NotificationRecorder) -> None:
    """The victims are shelved, and nothing else is; they lose no work and resume when the local lease is over."""
    service, preempted = choice
    leases: dict[str, Document] = {}
    try:
        for name, _, count, memory, _ in REQUESTS:
            nodes = [{"count": count, "resources": {**QUARTER, "MEMORY_MB": memory}}]
            if name == LOCAL:
                for each in leases.values():
                    service.becomes(each, "active", 2 * LIMIT)
                (start_date, start), (end_date, _) = in_seconds(_NOTICE), in_seconds(3_600)
                leases[name] = service.lease(
                    service.bob, kind="reservation", start_date=start_date, end_date=end_date, nodes=nodes
                )
            else:
                servers = [{**service.template(), "count": count}]
                leases[name] = service.lease(
                    service.ada, kind="best-effort", duration=3_600, nodes=nodes, servers=servers
                )
        assert in_epoch(leases[LOCAL]["start_date"]) == start, leases[LOCAL]["reason"]
        service.becomes(leases[LOCAL], "active", 2 * LIMIT)
        # Whoever was suspended and has resumed since would be a victim, too.
        victims = [
            name
            for name, lease in leases.items()
            if any(entry["to"] == "suspending" for entry in service.history(lease))
        ]
        assert " ".join(victims) == preempted
        shelved = [each for each in service.servers(service.ada) if each["status"] == "SHELVED_OFFLOADED"]
        assert len(shelved) == sum(count for name, _, count, _, _ in REQUESTS if name in victims)
        begun = service.became(leases[LOCAL], "active")
        assert max(recorder.wait_for("instance.shelve_offload.end", each["id"]).at for each in shelved) <= begun
        service.is_cancelled(leases[LOCAL])
        for name in victims:
            service.becomes(leases[name], "active", 2 * LIMIT)
        assert {each["status"] for each in service.servers(service.ada)} == {"ACTIVE"}
    finally:
        for lease in leases.values():
            service.is_cancelled(lease)
    service.nothing_left()
