"""Haizea's programs under their own names, with their own options (haizea, section 1.4)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lease_scheduler.cmd.haizea.tools import main
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.resources import MEMORY_MB
from lease_scheduler.simulation.formats.lwf import read_lwf
from lease_scheduler.simulation.formats.lwfa import read_annotations

LOG = """\
; Comment: a log of four jobs
1 100 5 50 16 -1 -1 16 60 65536 1 7 1 1 1 -1 -1 -1
2 110 5 50 8 -1 -1 -1 60 65536 1 8 1 1 2 -1 -1 -1
3 120 5 -1 8 -1 -1 8 60 -1 5 8 1 1 1 -1 -1 -1
4 300 0 0 32 -1 -1 32 600 -1 1 7 1 1 1 -1 -1 -1
"""

SITE = """<site><resource-types names="CPU Memory"/><nodes><node-set numnodes="6">
<res type="CPU" amount="100"/><res type="Memory" amount="2048"/></node-set></nodes></site>
"""

DELAYS = """[start-delay]
type = absolute
distribution = uniform
min = 0
max = 100
"""

RESERVATIONS = """[general]
site = 100 CPU:100,Memory:1024
[numleases]
type = utilization
utilization = 10
last-request = 5:00:00:00
[nodes]
distribution = uniform
discrete = true
min = 1
max = 24
resources = CPU:100,Memory:1024
[duration]
distribution = uniform
min = 1800
max = 5400
"""

MULTI = """[multi]
tracefiles: {trace}
datadir: {data}
[common:general]
mode: simulated
[common:simulation]
clock: simulated
starttime: 2006-11-25 13:00:00
resources: 4  CPU:100 Memory:1024
imagetransfer-bandwidth: 100
[one:scheduling]
suspension: none
[two:scheduling]
suspension: none
backfilling: aggressive
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    return path


def _run(program: str, *words: object) -> int:
    return main([str(word) for word in words], program)


def test_swf2lwf(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """haizea F86."""
    (tmp_path / "site.xml").write_text(SITE)
    words = ("-i", log, "-o", tmp_path / "o.lwf", "-p", "False", "-f", "00:00:01:40", "-l", "00:00:01:40", "-q", "1,2")
    assert _run("haizea-swf2lwf", *words, "-s", 8, "-n", tmp_path / "site.xml") == 0
    workload = read_lwf(tmp_path / "o.lwf")
    requests = [lease.request for lease in workload.leases]
    assert [(request.lease_id, request.submitted, request.node_count) for request in requests] == [
        ("1", 0, 2),
        ("2", 10, 1),
    ]
    assert not any(request.preemptible for request in requests)
    # Without -m, the memory that jobs requested: KB for each of 8 processors.
    assert [request.nodes[0].resources[MEMORY_MB] for request in requests] == [512, 512]
    assert workload.site is not None
    assert len(workload.site) == 6
    assert "known users" in capsys.readouterr().out
    assert _run("haizea-swf2lwf", "-i", log, "-o", tmp_path / "m.lwf", "-p", "yes", "-m", "256") == 0
    leases = read_lwf(tmp_path / "m.lwf").leases
    assert {lease.request.nodes[0].resources[MEMORY_MB] for lease in leases} == {256}
    assert all(lease.request.preemptible for lease in leases)


def test_generate_and_annotate(log: Path, tmp_path: Path) -> None:
    """haizea F87, F88, F26: annotations are a separate file, for a workload or for a number of leases."""
    (tmp_path / "ar.conf").write_text(RESERVATIONS)
    (tmp_path / "delays.conf").write_text(DELAYS)
    assert _run("haizea-lwf-generate", "-o", tmp_path / "ar.lwf", "-c", tmp_path / "ar.conf") == 0
    assert {lease.request.kind for lease in read_lwf(tmp_path / "ar.lwf").leases} == {LeaseKind.RESERVATION}
    conf = ("-c", tmp_path / "delays.conf")
    assert _run("haizea-lwf-annotate", "-i", log, "-o", tmp_path / "a.xml", *conf) == 0
    assert [entry.lease_id for entry in read_annotations(tmp_path / "a.xml").entries] == ["1", "2", "4"]
    assert _run("haizea-lwf-annotate", "-n", 5, "-o", tmp_path / "b.xml", *conf) == 0
    assert [entry.lease_id for entry in read_annotations(tmp_path / "b.xml").entries] == [None] * 5


def test_stats(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "delays.conf").write_text(DELAYS)
    _run("haizea-lwf-annotate", "-i", log, "-o", tmp_path / "a.xml", "-c", tmp_path / "delays.conf")
    capsys.readouterr()
    assert _run("haizea-lwf-stats", "-i", log, "-l", "01:00:00", "-a", tmp_path / "a.xml") == 0
    brief = capsys.readouterr().out
    assert "start delay" in brief
    assert "Requested duration" not in brief
    assert _run("haizea-lwf-stats", "-v", "-i", log) == 0
    assert "Requested duration" in capsys.readouterr().out


def test_old_formats(tmp_path: Path) -> None:
    (tmp_path / "old.lwf").write_text('0 3600 1800 1800 25 1 1024 0 "NOIMAGE" 0\n')
    (tmp_path / "old.csv").write_text("100;a;b;c;4;512;d;e;NULL;600;300\n")
    assert _run("haizea-lwf2xml", "-i", tmp_path / "old.lwf", "-o", tmp_path / "a.lwf") == 0
    assert read_lwf(tmp_path / "a.lwf").leases[0].request.node_count == 25
    assert _run("haizea-csv2lwf", "-i", tmp_path / "old.csv", "-o", tmp_path / "b.lwf") == 0
    assert read_lwf(tmp_path / "b.lwf").leases[0].request.node_count == 4


def test_configurations_and_scripts(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """haizea F42: the template gets pairs of name and file; an option leaves out those that have a data file."""
    multi, data = tmp_path / "multi.conf", tmp_path / "data"
    multi.write_text(MULTI.format(trace=log, data=data))
    assert _run("haizea-generate-configs", "-c", multi, "-d", tmp_path / "etc") == 0
    assert {path.name for path in (tmp_path / "etc").iterdir()} == {"one_log.conf", "two_log.conf"}
    (tmp_path / "run.mako").write_text(
        "#!/bin/sh\n% for name, conf in configs:\nhaizea -c ${conf} # ${name}\n% endfor\n"
    )
    words = ("-c", multi, "-d", tmp_path / "etc", "-t", tmp_path / "run.mako")
    capsys.readouterr()
    assert _run("haizea-generate-scripts", *words) == 0
    lines = [f"haizea -c {tmp_path}/etc/{name}.conf # {name}\n" for name in ("one_log", "two_log")]
    assert capsys.readouterr().out == "#!/bin/sh\n" + "".join(lines)
    data.mkdir()
    (data / "one_log.dat").touch()
    assert _run("haizea-generate-scripts", *words, "-m") == 0
    assert capsys.readouterr().out == "#!/bin/sh\n" + lines[1]
    assert _run("haizea-generate-scripts", *words, "-x", "two*") == 0
    assert capsys.readouterr().out == "#!/bin/sh\n" + lines[0]


@pytest.mark.parametrize(
    ("template", "problem"),
    [("${nothing}", "the template fails: NameError: "), ("% for x in\n", "is no template of Mako: ")],
)
def test_a_template_that_is_wrong(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], template: str, problem: str
) -> None:
    multi = tmp_path / "multi.conf"
    multi.write_text(MULTI.format(trace=log, data=tmp_path))
    (tmp_path / "run.mako").write_text(template)
    assert _run("haizea-generate-scripts", "-c", multi, "-d", tmp_path, "-t", tmp_path / "run.mako") == 2
    error = capsys.readouterr().err
    assert error.startswith(f"haizea-generate-scripts: {tmp_path / 'run.mako'}")
    assert problem in error
    assert error.count("\n") == 1


def test_errors_are_those_of_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("haizea-lwf-stats", "-i", tmp_path / "missing.lwf") == 2
    assert (
        capsys.readouterr().err
        == f"haizea-lwf-stats: {tmp_path}/missing.lwf: cannot be read: No such file or directory\n"
    )
    with pytest.raises(SystemExit) as stopped:
        _run("haizea-swf2lwf", "-i", "x", "-o", "y", "-p", "perhaps")
    assert stopped.value.code == 2
    with pytest.raises(SystemExit) as stopped:
        _run("haizea-lwf2xml", "-i", "x")
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    "name",
    [
        *("haizea-csv2lwf", "haizea-generate-configs", "haizea-generate-scripts", "haizea-lwf-annotate"),
        *("haizea-lwf-generate", "haizea-lwf-stats", "haizea-lwf2xml", "haizea-swf2lwf"),
    ],
)
def test_the_programs_are_installed(name: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name(name), "--help"], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.startswith(f"usage: {name} ")
