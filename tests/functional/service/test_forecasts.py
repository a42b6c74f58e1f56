"""What a lease that waits is told, in the database, and what becomes of it (prediction A6, A10)."""

from __future__ import annotations

from pathlib import Path

from lease_scheduler.engine.forecasts import Forecasts
from lease_scheduler.prediction.bmbp import Bmbp
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until


def _learn(forecasts: Forecasts | None) -> None:
    """Have 59 leases have waited for an hour."""
    assert forecasts is not None
    waits = Bmbp(window=500)
    for _ in range(59):
        waits.observe(HOUR)
    forecasts.restore({"waits": waits.state()})


def test_a_lease_that_waits_is_told_by_when_it_starts(tmp_path: Path) -> None:
    """It starts 10 minutes later, when the one before it ends, and is judged by what was told before a restart."""
    service = Service(tmp_path, "free", {})
    try:
        _learn(service.site.parts[None].forecasts)
        document = service.document(2, kind="best-effort", project_id="p")
        first = service.leases.create({}, document)["lease_id"]
        assert wait_until(service.is_in(first, "active"), 20)
        second = service.leases.create({}, service.document(2, kind="best-effort", project_id="p"))["lease_id"]
        seen = service.view(second)
        assert (seen["expected_wait"], seen["expected_wait_from"], seen["started"]) == (HOUR, 59, None)
        service.restart()
        service.clock.jump(600)
        service.leases.delete({}, first, "enough")
        assert wait_until(service.is_in(second, "active"), 20)
        with service.site.lock:
            told = service.site.forecasts()[None]["start"]
        assert (told.asked, told.held, told.count) == (0.95, 1.0, 1)
        service.restart()
        with service.site.lock:
            assert service.site.forecasts()[None]["start"] == told
    finally:
        service.close()
