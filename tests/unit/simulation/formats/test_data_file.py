"""The data file of a run (haizea F43): what is refused. For round trips see tests/property/test_accounting.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.accounting import Accounting, Average
from lease_scheduler.simulation.formats.data_file import read_data_file, write_data_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    accounting = Accounting({"profile": "p"})
    counter = accounting.create_counter("c", Average.TIME_WEIGHTED)
    counter.put(0, 1, "x")
    counter.put(10, 3)
    accounting.set_lease("x", {"State": "Done"})
    accounting.set_run({"n": 1})
    write_data_file(accounting, "small", tmp_path / "data")
    return tmp_path / "data"


def test_the_file_has_the_accounting_of_the_run(path: Path) -> None:
    assert json.loads(path.read_text()) == {
        "format": "lease-scheduler accounting",
        "version": 1,
        "workload": "small",
        "attributes": {"profile": "p"},
        "run": {"n": 1},
        "leases": {"x": {"State": "Done"}},
        "counters": {
            "c": {
                "average": "time-weighted",
                "entries": [
                    {"time": 0, "value": 1, "lease_id": "x", "average": 1.0},
                    {"time": 10, "value": 3, "average": 1.0},
                ],
            }
        },
    }


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"format": "x"}, "is not a data file of a run"),
        ({"version": 2}, "has version 2; this program knows 1"),
        ({"run": {"n": []}}, "run.n: "),
        ({"counters": {"c": {"average": "none", "entries": [{"time": 0.5, "value": 1}]}}}, "counters.c.entries.0.time"),
        ({"attributes": None}, "attributes: "),
    ],
)
def test_wrong_data_files_are_refused(path: Path, changes: dict[str, Any], problem: str) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(InputFileError) as error:
        read_data_file(path)
    assert problem in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", '{"format": NaN}', "\udcff"])
def test_files_of_other_formats_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputFileError):
        read_data_file(tmp_path / "x")
