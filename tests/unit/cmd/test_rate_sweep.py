"""``lease-sim rate-sweep`` (haizea F89, F90)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lease_scheduler.cmd import lease_sim
from lease_scheduler.simulation.formats.lwfa import Annotations, LeaseAnnotation, write_annotations

LOG = """\
1 100 5 50 1 -1 -1 1 3600 -1 1 7 1 1 1 -1 -1 -1
2 110 5 50 2 -1 -1 2 3600 -1 1 8 1 1 1 -1 -1 -1
3 120 5 50 1 -1 -1 1 7200 -1 1 7 1 1 1 -1 -1 -1
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    return path


def test_sweep_of_an_annotated_log(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """haizea 9.4: rate, revenue, underpricing, rejected, with columns that identify the run."""
    rates = [LeaseAnnotation(extras={"simul_userrate": rate}) for rate in ("2.00", "1.00", "2.00")]
    annotations, output = tmp_path / "rates.lwfa", tmp_path / "sweep.csv"
    write_annotations(Annotations(tuple(rates), {"mu": "uniform"}), annotations)

    assert lease_sim.main(["rate-sweep", str(log), "--annotations", str(annotations), "--output", str(output)]) == 0

    with output.open() as stream:
        rows = list(csv.DictReader(stream))
    columns = [
        "profile",
        "tracefile",
        "annotationfile",
        "injectfile",
        "mu",
        "rate",
        "revenue",
        "underpricing",
        "rejected",
    ]
    assert list(rows[0]) == columns
    assert len(rows) == 991
    by_rate = {row["rate"]: [float(row[column]) for column in columns[-3:]] for row in rows}
    assert by_rate["1"] == [5 / 8, 3 / 8, 0]
    assert by_rate["2"] == [6 / 8, 0, 2 / 8]
    assert by_rate["10"] == [0, 0, 1]
    assert (rows[0]["mu"], rows[0]["annotationfile"]) == ("uniform", str(annotations))
    # 1.00 is accepted; 1.50 is rejected by the other user; the estimates are then 1.50 * 1.5 and 1.50 * 0.5.
    assert capsys.readouterr().out.splitlines() == [
        f"{output}: 991 rates, 3 leases",
        "median of the requests: 2.00, earns 75.00% of what users would pay",
        "where adaptive ends: 2.25, earns 0.00% of what users would pay",
        "what earns most: 2.00, earns 75.00% of what users would pay",
    ]


def test_options_of_the_policy_count(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    annotations, output = tmp_path / "rates.lwfa", tmp_path / "sweep.csv"
    write_annotations(Annotations((LeaseAnnotation(extras={"simul_userrate": "9"}),) * 3), annotations)
    options = ["--annotations", str(annotations), "--output", str(output), "--rate", "2", "--up", "2"]

    assert lease_sim.main(["rate-sweep", str(log), *options]) == 0
    assert "where adaptive ends: 16.00," in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "simul_userrate: lease 1 needs it"),
        (["--up", "twice"], "policy option pricing_up: must be a number"),
        (["--percentile", "1"], "policy option pricing_percentile: must be below 1"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    options: list[str], problem: str, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "sweep.csv"
    assert lease_sim.main(["rate-sweep", str(log), "--output", str(output), *options]) == 2
    message = capsys.readouterr().err
    assert problem in message and message.count("\n") == 1
    assert not output.exists()
