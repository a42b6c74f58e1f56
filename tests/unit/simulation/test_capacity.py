"""The capacity report of files (prediction A14)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.prediction.capacity import Use, capacity_report
from lease_scheduler.simulation.capacity import plot_capacity, read_uses


def test_traces_and_tables_are_joined(tmp_path: Path) -> None:
    trace, table = tmp_path / "trace.txt", tmp_path / "table.csv"
    trace.write_text("START 0 i-1 node-1 6\nSTOP 7200 i-1\n")
    table.write_text("start,end,VCPU_hours,VCPU_capacity_hours\n1970-01-01T00:00:00Z,1970-01-01T01:00:00Z,1,4\n")
    assert read_uses([trace, table], 8, 12) == [Use(0, 7_200, 0.5), Use(0, 3_600, 2.0)]
    with pytest.raises(InputFileError, match="trace.txt:1: is a trace of instances; say --cores"):
        read_uses([trace], 8, None)


def test_the_plot_is_written_as_svg(tmp_path: Path) -> None:
    report = capacity_report([Use(day * 86_400, day * 86_400 + 3_600, 3.0) for day in range(70)], 5)
    plot_capacity(report, tmp_path / "capacity.svg")
    assert (tmp_path / "capacity.svg").read_bytes().startswith(b"<?xml")
