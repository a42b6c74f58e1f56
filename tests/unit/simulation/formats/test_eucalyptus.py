from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.prediction.requests import TRACES
from lease_scheduler.simulation.formats.eucalyptus import Instance, over_commitment, read_eucalyptus

_GOOD = "START 0 i-1 NODE1 2\nSTART 5 i-2 NODE2 1\n\nSTOP 9 i-1\nSTART 9 i-1 NODE2 4\nSTOP 12 i-2\n"


def test_instances_are_read_in_the_order_of_their_starts(tmp_path: Path) -> None:
    """Prediction section 9, 15: what is never stopped is open until the end of the trace."""
    for name, content in (("plain.txt", _GOOD.encode()), ("packed.txt.gz", gzip.compress(_GOOD.encode()))):
        (tmp_path / name).write_bytes(content)
        assert read_eucalyptus(tmp_path / name) == [
            Instance("i-1", "NODE1", 2, 0, 9, True),
            Instance("i-2", "NODE2", 1, 5, 12, True),
            Instance("i-1", "NODE2", 4, 9, 12, False),
        ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("START 3 i-9 NODE1", "must be 'START <seconds> <instance> <node> <cores>' or 'STOP"),
        ("PAUSE 3 i-1", "must be"),
        ("START soon i-9 NODE1 1", "seconds must be a whole number of at least 0, not 'soon'"),
        ("START 20 i-9 NODE1 0", "cores must be a whole number of at least 1, not '0'"),
        ("STOP 20 i-8", "i-8 is stopped, but no line before starts it"),
        ("START 20 i-1 NODE1 1", "i-1 runs already, since line 5"),
        ("STOP 3 i-1", r"must not be earlier than the line before \(12\), not 3"),
        ("\udcff\udcfe", "is not UTF-8 text"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(_GOOD + line + "\n", errors="surrogateescape")
    with pytest.raises(InputFileError, match=f"trace.txt:7: {problem}") as error:
        read_eucalyptus(path)
    assert error.value.line == 7


def test_over_commitment_is_counted_per_node() -> None:
    """Prediction W1: Eucalyptus could over-commit nodes; an instance may take the place of one that just stopped."""
    instances = [
        Instance("a", "n", 6, 0, 10, True),
        Instance("b", "n", 2, 10, 20, True),
        Instance("c", "n", 6, 10, 20, True),
    ]
    assert over_commitment(instances, 8) == 0
    assert over_commitment([*instances, Instance("d", "n", 3, 15, 16, True)], 8) == 3


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "count", "excess"), [("DS2", 900, 2), ("DS3", 2600, 0), ("DS5", 8456, 0), ("DS6", 4157, 0)]
)
def test_the_published_traces_have_their_instances(name: str, count: int, excess: int) -> None:
    folder = data_folder()
    assert folder is not None
    instances = read_eucalyptus(folder / TRACES[name].file)
    assert len(instances) == count
    assert all(each.is_stopped for each in instances)
    assert over_commitment(instances, TRACES[name].cores) == excess
