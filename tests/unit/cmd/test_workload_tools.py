"""The sub-commands convert, inject, annotate, generate and stats (haizea F25-F27, F86-F88)."""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import pytest

from lease_scheduler.cmd.workload_tools import add_parsers
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.formats.lwf import read_lwf
from lease_scheduler.simulation.formats.lwf_terms import StartTerm
from lease_scheduler.simulation.formats.lwfa import Annotations, LeaseAnnotation, write_annotations
from lease_scheduler.simulation.shipped import load_workload, shipped_path

LOG = """\
; Comment: a log of four jobs
1 100 5 50 16 -1 -1 16 60 -1 1 7 1 1 1 -1 -1 -1
2 110 5 50 8 -1 -1 -1 60 -1 1 8 1 1 2 -1 -1 -1
3 120 5 -1 8 -1 -1 8 60 -1 5 8 1 1 1 -1 -1 -1
4 300 0 0 32 -1 -1 32 600 -1 1 7 1 1 1 -1 -1 -1
"""

CONF = """\
[start-delay]
type = absolute
distribution = uniform
min = 0
max = 100
seed = 5
[deadline-stretch]
type = absolute
distribution = uniform
min = 10
max = 100
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    return path


def run(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    add_parsers(parser.add_subparsers(required=True))
    parsed = parser.parse_args([str(argument) for argument in arguments])
    status = parsed.func(parsed)
    assert isinstance(status, int)
    return status


def test_convert_a_log(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """haizea F86."""
    output = tmp_path / "log.lwf"
    options = ("--begin", "00:01:40", "--length", 100, "--queues", "1, 2", "--scale", 8, "--memory", 512, "--nodes", 4)
    assert run("convert", log, "--output", output, *options, "--no-preemptible") == 0
    workload = read_lwf(output)
    requests = [lease.request for lease in workload.leases]
    assert [request.lease_id for request in requests] == ["1", "2"]
    assert [request.submitted for request in requests] == [0, 10]
    assert [request.node_count for request in requests] == [2, 1]
    assert [lease.real_duration for lease in workload.leases] == [50, 50]
    assert {request.kind for request in requests} == {LeaseKind.BEST_EFFORT}
    assert not any(request.preemptible for request in requests)
    assert workload.site == Site.homogeneous(4, Resources({VCPU: 100, MEMORY_MB: 512}))
    assert capsys.readouterr().out == f"{output}: 2 leases\n"


def test_convert_keeps_one_queue(log: Path, tmp_path: Path) -> None:
    run("convert", log, "--output", tmp_path / "o.lwf", "--queues", "1")
    assert [lease.request.lease_id for lease in read_lwf(tmp_path / "o.lwf").leases] == ["1", "4"]
    assert all(lease.request.preemptible for lease in read_lwf(tmp_path / "o.lwf").leases)


def test_convert_vms_of_azure(tmp_path: Path) -> None:
    (tmp_path / "vms.txt").write_text("300 b,|,\n600 g,g,|,\n")
    (tmp_path / "vms.c900.txt").write_text("300 U0,|,\n600 U0,C1,|,\n")
    (tmp_path / "flav_map.txt").write_text("1,1.75 b\n2,3.5 g\n")
    (tmp_path / "v1.interval_map.txt").write_text("0 0\n300 1\n")
    run("convert", tmp_path / "vms.txt", "--output", tmp_path / "vms.lwf", "--begin", 300)
    requests = [lease.request for lease in read_lwf(tmp_path / "vms.lwf").leases]
    assert [(request.submitted, request.node_count, request.kind) for request in requests] == [
        (0, 1, LeaseKind.IMMEDIATE)
    ] * 2
    assert requests[1].duration == 300
    with pytest.raises(InvalidValueError, match="sample: must be above 0 and at most 1"):
        run("stats", tmp_path / "vms.txt", "--sample", 2)


def test_convert_an_old_lwf(tmp_path: Path) -> None:
    (tmp_path / "old.lwf").write_text('0 3600 1800 1800 25 1 1024 0 "NOIMAGE" 0\n')
    run("convert", tmp_path / "old.lwf", "--output", tmp_path / "new.lwf")
    request = read_lwf(tmp_path / "new.lwf").leases[0].request
    assert (request.kind, request.start, request.duration, request.node_count) == (
        LeaseKind.RESERVATION,
        3600,
        1800,
        25,
    )


def test_inject(log: Path, tmp_path: Path) -> None:
    """haizea F27: the ids of the k-th file grow by k millions."""
    assert run("inject", log, "t20", "t30", "--output", tmp_path / "both.lwf.gz") == 0
    workload = read_lwf(tmp_path / "both.lwf.gz")
    assert len(workload.leases) == 3 + len(load_workload("t20").leases) + len(load_workload("t30").leases)
    ids = {lease.request.lease_id for lease in workload.leases}
    assert {"1", "2", "4", "1000001", "2000001"} <= ids
    arrivals = [lease.request.submitted for lease in workload.leases]
    assert arrivals == sorted(arrivals)


def test_annotate_from_a_file(log: Path, tmp_path: Path) -> None:
    """haizea F26."""
    entries = (LeaseAnnotation("4", start=StartTerm(exact=100), deadline=1000),)
    write_annotations(Annotations(entries, {"tau": "x"}), tmp_path / "a.lwfa")
    run("annotate", log, "--annotations", tmp_path / "a.lwfa", "--output", tmp_path / "o.lwf")
    workload = read_lwf(tmp_path / "o.lwf")
    kinds = {lease.request.lease_id: lease.request.kind for lease in workload.leases}
    assert kinds == {"1": LeaseKind.BEST_EFFORT, "2": LeaseKind.BEST_EFFORT, "4": LeaseKind.DEADLINE}
    assert workload.leases[2].request.start == 400
    assert workload.leases[2].request.deadline == 1300
    assert workload.attributes["tau"] == "x"


def test_annotate_from_a_configuration(log: Path, tmp_path: Path) -> None:
    conf = tmp_path / "g.conf"
    conf.write_text(CONF)
    outputs = [tmp_path / f"{number}.lwf" for number in range(4)]
    run("annotate", log, "--generate", conf, "--output", outputs[0])
    run("annotate", log, "--generate", conf, "--output", outputs[1])
    run("annotate", log, "--generate", conf, "--seed", 1, "--output", outputs[2])
    run("annotate", log, "--generate", conf, "--seed", 5, "--output", outputs[3])
    first, again, other, same_start = (read_lwf(output).leases for output in outputs)
    assert first == again
    assert {lease.request.kind for lease in first} == {LeaseKind.DEADLINE}
    starts, other_starts, fixed_starts = (
        [lease.request.start for lease in leases] for leases in (first, other, same_start)
    )
    assert starts != other_starts, "a seed on the command line goes before that of the section"
    assert starts == fixed_starts, "the section's own seed is 5"
    assert [lease.request.deadline for lease in first] != [lease.request.deadline for lease in same_start]


def test_annotate_refuses_what_says_nothing(log: Path, tmp_path: Path) -> None:
    conf = tmp_path / "g.conf"
    conf.write_text("[general]\nattributes = a=b\n")
    with pytest.raises(InvalidValueError, match="has no section that annotates leases"):
        run("annotate", log, "--generate", conf, "--output", tmp_path / "o.lwf")
    with pytest.raises(InvalidValueError, match="--seed: goes with --generate only"):
        run("annotate", log, "--annotations", conf, "--seed", 1, "--output", tmp_path / "o.lwf")
    assert not (tmp_path / "o.lwf").exists()


@pytest.mark.parametrize("name", ["t10", "t20", "t30"])
def test_generate_makes_the_shipped_sets_again(tmp_path: Path, name: str) -> None:
    """haizea F87."""
    outputs = [tmp_path / "a.lwf.gz", tmp_path / "b.lwf.gz", tmp_path / "c.lwf"]
    run("generate", "--preset", name, "--seed", 20100801, "--output", outputs[0])
    run("generate", "--preset", name.upper(), "--output", outputs[1])
    run("generate", "--preset", name, "--output", outputs[2])
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert outputs[0].read_bytes()[4:8] == bytes(4), "the compressed file has a time stamp"
    assert gzip.decompress(outputs[0].read_bytes()) == outputs[2].read_bytes()
    assert gzip.decompress(shipped_path(name).read_bytes()) == outputs[2].read_bytes()


def test_generate_from_a_configuration(tmp_path: Path) -> None:
    conf = tmp_path / "g.conf"
    conf.write_text(
        "[general]\nsite = 4 CPU:100,Memory:1024\n"
        "[numleases]\ntype = interval\nnumleases = 6\ndistribution = uniform\nmin = 0\nmax = 900\n"
        "[nodes]\ndistribution = uniform\ndiscrete = yes\nvalues = 1 4\nresources = CPU:100,Memory:1024\n"
        "[duration]\ndistribution = constant\nvalue = 60\n"
    )
    run("generate", "--conf", conf, "--seed", 4, "--output", tmp_path / "o.lwf")
    workload = read_lwf(tmp_path / "o.lwf")
    assert len(workload.leases) == 6
    assert {lease.request.node_count for lease in workload.leases} <= {1, 4}
    assert {lease.request.kind for lease in workload.leases} == {LeaseKind.RESERVATION}


def test_generate_refuses_an_unknown_preset(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="preset: there is none named 'T25'"):
        run("generate", "--preset", "T25", "--output", tmp_path / "o.lwf")
    assert list(tmp_path.iterdir()) == []


def test_stats_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("stats", "blue1", "--json") == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["leases"], figures["users"]) == (5108, 93)
    assert figures["load"]["clipped"] == pytest.approx(0.6960, abs=5e-5)
    assert figures["load"]["window"] == 2_592_000
    assert len(figures["quantile_levels"]) == len(figures["nodes"]["quantiles"])


def test_stats_as_tables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run("stats", "blue1") == 0
    printed = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert "leases 5,108 (5,108 best-effort)" in lines
    assert "load of 144 hosts in 30 days 70.38%" in lines
    assert "load, cut at requests and window 69.60%" in lines
    assert "load without ramp-up 67.10%" in lines
    assert "50% 4 3,600 127 128 28 1.31" in lines
    assert "2-4 1,887 36.9%" in lines
    assert "\x1b" not in printed, "no colours where nobody sees them"
    assert "…" not in printed, "nothing is cut off on a narrow terminal"


def test_stats_of_a_window(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("stats", log, "--json", "--nodes", 8, "--scale", 8, "--begin", 100, "--length", 1000)
    figures = json.loads(capsys.readouterr().out)
    assert figures["leases"] == 3
    assert figures["load"]["full"] == pytest.approx((2 * 50 + 50 + 4 * 1) / 8000)


def test_stats_without_site(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("stats", log)
    assert "unknown: the workload names no site" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", "x", "--output", "y", "--begin", "soon"),
        ("convert", "x", "--output", "y", "--queues", "one"),
        ("convert", "x", "--output", "y", "--nodes", "-1"),
        ("generate", "--output", "y"),
        ("generate", "--preset", "t10", "--conf", "c", "--output", "y"),
        ("generate", "--preset", "t10", "--seed", "1.5", "--output", "y"),
        ("annotate", "x", "--output", "y"),
        ("inject", "x", "--output", "y"),
        ("convert", "x"),
    ],
    ids=" ".join,
)
def test_impossible_command_lines(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_bad_input_leaves_the_output_alone(tmp_path: Path) -> None:
    (tmp_path / "bad.swf").write_text("1 2 3\n")
    (tmp_path / "o.lwf").write_text("before")
    with pytest.raises(InputFileError, match=r"bad\.swf:1: "):
        run("convert", tmp_path / "bad.swf", "--output", tmp_path / "o.lwf")
    assert (tmp_path / "o.lwf").read_text() == "before"


@pytest.mark.parametrize("name", ["o.lwf", "o.lwf.gz"])
def test_output_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputFileError, match="cannot be written"):
        run("generate", "--preset", "t10", "--output", tmp_path / "none" / name)
