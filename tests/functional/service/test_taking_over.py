"""A driver outlives the leadership of its process; what it remembers may be outdated when the process leads again."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.cloud.orders import AnyOrder
from tests.functional.service.site import HOUR, RecordingCloud, Service
from tests.servers.base import wait_until


def test_a_driver_forgets_what_it_knew_before_it_gets_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    perform = RecordingCloud.perform

    def recorded(cloud: RecordingCloud, order: AnyOrder, step: str) -> int | None:
        told.append("perform")
        return perform(cloud, order, step)

    monkeypatch.setattr(RecordingCloud, "perform", recorded)
    monkeypatch.setattr(RecordingCloud, "take_over", lambda _: told.append("take over"))
    service = Service(tmp_path, "constant", {}, boot_time=HOUR)
    assert told[0] == "take over"
    service.leases.create({}, service.document(1, "best-effort"))
    assert wait_until(lambda: "perform" in told, 30)
    service.engine.close()
    told.clear()
    service.lead()
    try:
        assert wait_until(lambda: "perform" in told, 30)
        assert told[0] == "take over"
    finally:
        service.close()
