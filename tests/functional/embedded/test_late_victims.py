"""Victims that take longer to suspend than planned, with the buffer, stay the only ones (contention E15)."""

from __future__ import annotations

import pytest

from lease_scheduler.papers.contention.prototype import LOCAL, REQUESTS, STORAGE_RATE
from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Document, Rest, date, until

#: As on a cloud that needs 20 s for each VM of a host, with rates by which the planner expects 1 s. Three hosts with
#: four nodes each are the twelve nodes of the prototype.
_SETTINGS = f"""
[simulated_cloud]
hosts = 3
vcpus = 32
clock_speed = 20
clock_start = 1800000000
late_factor = 20
[scheduling]
policy_preemption = {{policy}}
suspend_rate = 20000
resume_rate = 20000
suspend_buffer = 15
[policy]
overhead_suspend_rate = {STORAGE_RATE}
overhead_resume_rate = {STORAGE_RATE}
overhead_pause_time = 0
overhead_reschedule_time = 0
"""

#: Seconds of the service's clock, 6 real ones: any lease can be suspended in time, buffer included.
_NOTICE = 120


@pytest.mark.parametrize(("policy", "preempted"), [("moml", "5 6"), ("mlip-ordered", "1 6"), ("mov-ordered", "2 3 5")])
def test_late_suspensions_do_not_change_the_victims(make: Make, policy: str, preempted: str) -> None:
    service = make(configuration=_SETTINGS.format(policy=policy))
    service.start()
    rest = Rest(service)
    rest.register(3)
    leases: dict[str, Document] = {}
    for name, _, count, memory, _ in REQUESTS:
        terms: Document = {"kind": "best-effort", "duration": 3_600}
        if name == LOCAL:
            for each in leases.values():
                until(lambda each=each: rest.state(each) == "active")  # type: ignore[misc]
            now = rest.now()
            terms = {"kind": "reservation", "start_date": date(now + _NOTICE), "end_date": date(now + 3_600)}
        nodes = [{"count": count, "resources": {"VCPU": 8, "MEMORY_MB": memory}}]
        leases[name] = rest.post("leases", {"name": name, "nodes": nodes, **terms})["lease"]
    until(lambda: rest.state(leases[LOCAL]) == "active")

    def was_suspended(lease: Document) -> bool:
        history = rest.get(f"leases/{lease['id']}/history")["history"]
        return any(entry["to"] == "suspending" for entry in history)

    assert " ".join(name for name, lease in leases.items() if was_suspended(lease)) == preempted
