"""``haizea-convert-data`` and ``lease-sim convert-data`` (haizea F90), and a probe from another package (F43)."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lease_scheduler.cmd.convert_data import main as convert_data
from lease_scheduler.cmd.lease_sim import main
from tests.unit.cmd.test_lease_sim import CONF, LWF

EXAMPLE = Path(__file__).parents[3] / "doc" / "source" / "contributor" / "probe_example.py"


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    """The data file of a run that a haizea.conf asks for."""
    (tmp_path / "small.lwf").write_text(LWF)
    accounting = "datafile: results.dat\nprobes: lease ar best-effort utilization\nattributes: profile=p,rho=0.1"
    (tmp_path / "haizea.conf").write_text(CONF.replace("datafile: results.dat", accounting))
    assert main(["run", "--haizea-conf", str(tmp_path / "haizea.conf"), "--quiet"]) == 0
    return tmp_path / "results.dat"


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_the_options_of_haizea(data_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert_data(["-t", "per-run", "-f", "csv", str(data_file), str(data_file)]) == 0
    rows = _rows(capsys.readouterr().out)
    assert [(row["profile"], row["rho"], row["Total completed leases"], row["Revenue"]) for row in rows] == [
        ("p", "0.1", "2", "")
    ] * 2
    assert main(["convert-data", "-t", "per-lease", str(data_file)]) == 0
    assert [(row["lease_id"], row["State"]) for row in _rows(capsys.readouterr().out)] == [("1", "Done"), ("2", "Done")]
    assert convert_data(["-l", str(data_file)]) == 0
    names = capsys.readouterr().out.splitlines()
    assert names == ["Accepted AR", "Best-effort completed", "CPU utilization", "Queue size", "Rejected AR"]
    assert convert_data(["-t", "counter", "-c", "CPU utilization", str(data_file)]) == 0
    first = _rows(capsys.readouterr().out)[0]
    assert (first["profile"], first["time"], first["value"], first["average"]) == ("p", "0", "0.5", "0.5")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["-t", "counter"], "--counter: goes with --type counter"),
        (["-t", "per-run", "-c", "x"], "--counter: goes with --type counter"),
        (["-t", "counter", "-c", "x"], "has no counter 'x'; it has: Accepted AR, Best-effort"),
        (["-t", "per-run", "/nowhere"], "cannot be read"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    data_file: Path, words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        convert_data([*words, str(data_file)])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_a_data_file_without_a_folder_is_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small.lwf").write_text(LWF)
    words = ["--set", f"accounting.datafile={tmp_path}/none/data", "--output", str(tmp_path / "out")]
    assert main(["run", str(tmp_path / "small.lwf"), *words]) == 2
    assert "accounting.datafile" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_probe_of_the_documentation_is_found_by_its_entry_point(tmp_path: Path) -> None:
    package = tmp_path / "example-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[lease_scheduler.probe]\nsuspended = probe_example:SuspendedProbe\n")
    (tmp_path / "probe_example.py").write_text(EXAMPLE.read_text())
    (tmp_path / "small.lwf").write_text(LWF)
    program = [sys.executable, "-m", "lease_scheduler.cmd.lease_sim"]
    paths = [str(tmp_path), str(Path(__file__).parents[3])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = ["--set", "accounting.probes=lease,suspended", "--set", "accounting.datafile=data", "--quiet"]
    words += ["--set", "simulation.resources=4 CPU:100,Memory:1024"]
    words += ["--set", "scheduling.suspend_rate=32", "--set", "scheduling.resume_rate=32"]
    run = [*program, "run", "small.lwf", *words]
    subprocess.run(run, cwd=tmp_path, env=environment, check=True, timeout=120)
    convert = [*program, "convert-data", "-t", "per-run", "data"]
    found = subprocess.run(convert, cwd=tmp_path, env=environment, check=True, timeout=120, capture_output=True)
    (row,) = _rows(found.stdout.decode())
    assert (row["Total completed leases"], row["Most suspended nodes"]) == ("2", "2")
