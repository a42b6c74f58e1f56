"""What reports say without the folder of workload logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.papers.data_folder import left_out


def test_without_the_folder_a_report_names_what_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path / "none"))
    assert left_out("table 1") == "Left out, as LEASE_SCHEDULER_DATA names no folder: table 1."
    monkeypatch.delenv("LEASE_SCHEDULER_DATA")
    assert left_out("table 1")
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    assert left_out("table 1") == ""
