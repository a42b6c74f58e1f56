"""Leases that answer the warning that they will be preempted (contention P40)."""

from __future__ import annotations

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Document, Rest, date, until

#: Suspending takes 40 s of the service's clock, 2 real ones.
_SETTINGS = """
[simulated_cloud]
hosts = 1
clock_speed = 20
[scheduling]
override_suspend_time = 40
planned_suspension = none
[engine]
preemption_warning = 2000
"""


def _ready(rest: Rest, lease: Document) -> tuple[int, str]:
    answer = rest.ask("POST", f"leases/{lease['id']}/action", {"ready": {}})
    return answer.status_code, answer.text


def test_a_lease_that_is_ready_is_suspended_at_once_and_after_a_kill(make: Make) -> None:
    service = make(configuration=_SETTINGS)
    service.start()
    rest = Rest(service)
    rest.register(1)
    work = rest.lease("work", "best-effort", duration=20_000)
    until(lambda: rest.state(work) == "active")

    def reserve(name: str, wait: int) -> Document:
        start = rest.now() + wait
        return rest.lease(name, "reservation", start_date=date(start), end_date=date(start + 600))

    status, text = _ready(rest, work)
    assert status == 409 and "has not been warned" in text, "nothing preempts it"
    reserve("late", 10_000)
    status, text = _ready(rest, work)
    assert status == 409 and "has not been warned" in text, "the warning comes later"
    soon = reserve("soon", 1_500)
    assert _ready(rest, soon)[0] == 409, "it is not a victim"
    stranger = Rest(service, X_Project_Id="elsewhere", X_User_Id="eve", X_Roles="member")
    assert _ready(stranger, work)[0] == 403
    assert rest.state(work) == "active"

    assert _ready(rest, work)[0] == 200
    service.kill()
    service.start()
    assert rest.state(work) in ("suspending", "suspended-pending", "suspended-queued", "suspended-scheduled")
    assert _ready(rest, work)[0] in (200, 409), "a repeated answer changes nothing"
    until(lambda: rest.state(work).startswith("suspended"))
    assert _ready(rest, work)[0] == 409
    assert rest.state(soon) == "ready"
