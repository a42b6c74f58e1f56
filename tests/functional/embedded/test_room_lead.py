"""A reservation that starts now on hosts full of best-effort servers starts a little later, and no work is lost."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, date, until

_SUSPENDED = {"suspending", "suspended-pending", "suspended-queued", "suspended-scheduled"}
_SETTINGS = """
[simulated_cloud]
hosts = 2
clock_speed = 60
clock_start = 1800000000
[scheduling]
override_suspend_time = 120
override_resume_time = 60
"""


def _instant(told: str) -> int:
    read = datetime.fromisoformat(told.replace("Z", "+00:00"))
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp())


def test_a_start_at_short_notice_waits_for_the_suspension_and_says_so(make: Make) -> None:
    """``room_lead`` is not set, so the service uses its default, ``strict``."""
    service = make(configuration=_SETTINGS)
    service.start()
    rest = Rest(service)
    rest.register(2)
    work = rest.lease("work", "best-effort", count=2, duration=900, preemptible=True)
    until(lambda: rest.state(work) == "active")
    before = rest.now()
    # Let it do some work that could be lost.
    until(lambda: rest.now() >= before + 300)

    asked = rest.now()
    end = date(asked + 3_600)
    reserved = rest.lease("now", "reservation", count=2, start_date="now", end_date=end)
    told = _instant(reserved["start_date"])
    assert asked + 120 <= told <= asked + 120 + 600
    assert "later than requested" in reserved["reason"]
    until(lambda: rest.state(reserved) == "active")
    assert rest.now() >= told
    view = rest.get(f"leases/{work['id']}")["lease"]
    assert view["state"] in _SUSPENDED
    assert view["accumulated"] >= 300

    assert rest.ask("DELETE", f"leases/{reserved['id']}").status_code < 300
    until(lambda: rest.state(work) == "active")
    resumed = rest.now()
    assert rest.get(f"leases/{work['id']}")["lease"]["accumulated"] >= 300
    until(lambda: rest.state(work) == "done")
    # It runs only what was left, not everything again.
    assert rest.now() - resumed < 900
