"""Tables of usage that the command prints (prediction A14)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.prediction.capacity import Use
from lease_scheduler.simulation.formats.usage_table import read_usage_table

_HEADER = "start,end,node_hours,DISK_GB_hours,DISK_GB_capacity_hours,VCPU_hours,VCPU_capacity_hours\n"


def _file(folder: Path, text: str) -> Path:
    path = folder / "usage.csv"
    path.write_text(text)
    return path


def test_the_scarcest_class_determines_the_hosts(tmp_path: Path) -> None:
    text = (
        _HEADER
        + "2026-11-01T00:00:00Z,2026-11-01T01:00:00Z,1,0,0,4,16\n\n"
        + ('"2026-11-01T01:00:00Z","2026-11-01T02:00:00Z",2.5,50,100,4,16\n')
    )
    begin = 1793491200
    assert read_usage_table(_file(tmp_path, text), 8) == [
        Use(begin, begin + 3_600, 2.0),
        Use(begin + 3_600, begin + 7_200, 4.0),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "has no columns start, end, VCPU_hours, VCPU_capacity_hours; make it with"),
        ("start,end,VCPU_hours\n", 1, "has no columns VCPU_hours, VCPU_capacity_hours"),
        (_HEADER + "2026-11-01T00:00:00Z,2026-11-01T01:00:00Z,1\n", 2, "must have 7 fields like the header, not 3"),
        (_HEADER + "today,2026-11-01T01:00:00Z,1,0,0,4,16\n", 2, "start must be a date such as"),
        (_HEADER + "2026-11-01T01:00:00Z,2026-11-01T01:00:00Z,1,0,0,4,16\n", 2, "end must be later than start"),
        (_HEADER + "2026-11-01T00:00:00Z,2026-11-01T01:00:00Z,1,0,0,nan,16\n", 2, "VCPU_hours must be a number"),
        (_HEADER + "2026-11-01T00:00:00Z,2026-11-01T01:00:00Z,1,0,0,4,-1\n", 2, "VCPU_capacity_hours must be a num"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(InputFileError, match=f"usage.csv:{line}: {message}"):
        read_usage_table(_file(tmp_path, text), 8)
