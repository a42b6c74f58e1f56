"""Expected durations in the service: learnt when leases end, and kept across restarts (prediction 3.3.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.model.lease import Lease
from tests.functional.service.site import Service
from tests.servers.base import wait_until


@pytest.mark.parametrize(("policy", "leases"), [("recent-of-user", 1), ("bmbp", 11)])
def test_what_was_learnt_survives_a_restart(tmp_path: Path, policy: str, leases: int) -> None:
    """Leases of an hour that their project ends after 10 minutes; the next is then expected to run that long."""
    service = Service(tmp_path, "free", {}, duration=policy)
    try:
        for _ in range(leases):
            document = service.document(kind="best-effort", project_id="p")
            made = service.leases.create({}, document)["lease_id"]
            assert wait_until(service.is_in(made, "active"), 20)
            request = service.site.work.leases[made].request
            service.clock.jump(600)
            service.leases.delete({}, made, "enough")
        for _ in range(2):
            expected = service.site.parts[None].planner.context.duration.expected(Lease(request, 0))
            assert expected == pytest.approx(600, abs=1)
            service.restart()
    finally:
        service.close()
