"""``lease-sim campaign`` as its users run it: killed, continued, on several machines (haizea F42, S14)."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(sys.executable).parent

#: Eight runs of a day of BLUE1.
MULTI_CONF = """[multi]
tracefiles: blue1
injectionfiles: t10 t20 t30
[common:general]
mode: simulated
[common:scheduling]
policy-preemption: ar-preempts-everything
backfilling: aggressive
suspend-rate: 50
resume-rate: 50
[common:simulation]
clock: simulated
starttime: 2006-11-25 13:00:00
resources: 144  CPU:100 Memory:1024
imagetransfer-bandwidth: 1000
stop-when: exact
stop-when-time: 24:00:00
[nosr:scheduling]
suspension: none
[sr:scheduling]
suspension: all
"""

NAMES = {f"{profile}_blue1{injection}" for profile in ("nosr", "sr") for injection in ("", "+t10", "+t20", "+t30")}


@pytest.fixture
def multi_conf(tmp_path: Path) -> Path:
    path = tmp_path / "multi.conf"
    path.write_text(MULTI_CONF)
    return path


def _campaign(multi_conf: Path, out: Path, *words: str) -> list[str]:
    return [str(PROGRAMS / "lease-sim"), "campaign", str(multi_conf), "--output", str(out), *words]


def _lines(out: Path) -> list[str]:
    """Return the complete lines of the journal."""
    journal = out / "runs.jsonl"
    return [line for line in journal.read_text().splitlines(keepends=True) if line.endswith("\n")]


def test_after_a_kill_no_run_is_repeated(multi_conf: Path, tmp_path: Path) -> None:
    """SIGKILL to the whole process group, twice in the middle of the campaign; then the rest is run."""
    out = tmp_path / "out"
    counts = [0]
    for enough in (2, 5):
        process = subprocess.Popen(
            _campaign(multi_conf, out, "--jobs", "2"), start_new_session=True, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 120
        while not (out / "runs.jsonl").exists() or len(_lines(out)) < enough:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
        assert process.stderr is not None
        assert f"8 runs: {counts[-1]} done, {8 - counts[-1]} left" in process.stderr.read()
        process.stderr.close()
        counts.append(len(_lines(out)))
        assert enough <= counts[-1] < 8
    before = _lines(out)
    done = subprocess.run(_campaign(multi_conf, out), capture_output=True, text=True, timeout=300, check=True)
    assert f"8 runs: {counts[-1]} done, {8 - counts[-1]} left" in done.stderr
    after = _lines(out)
    # Completed runs were not touched, and every run is there once.
    assert after[: len(before)] == before
    assert sorted(json.loads(line)["case"] for line in after) == sorted(NAMES)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["runs"].keys() == NAMES
    assert all(run["cpu_s"] > 0 for run in manifest["runs"].values())
    assert len(manifest["calls"]) == 3
    again = subprocess.run(_campaign(multi_conf, out), capture_output=True, text=True, timeout=300, check=True)
    assert "left" not in again.stderr
    assert _lines(out) == after


def test_processes_do_not_outlive_a_campaign_that_is_killed_alone(multi_conf: Path, tmp_path: Path) -> None:
    multi_conf.write_text(MULTI_CONF.replace("stop-when: exact\nstop-when-time: 24:00:00\n", ""))
    process = subprocess.Popen(_campaign(multi_conf, tmp_path / "out", "--quiet"), start_new_session=True)
    deadline = time.monotonic() + 120
    # The campaign itself, its fork server, Python's resource tracker and two runs.
    while len(_group(process.pid)) < 5:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait(60)
    while _group(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _group(leader: int) -> list[int]:
    """Return the processes of a process group that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(group) == leader and state != "Z":
            found.append(int(stat.parent.name))
    return found


def test_a_run_that_fails_is_named_and_the_others_are_done(multi_conf: Path, tmp_path: Path) -> None:
    """The workload of one injection is broken in a way that shows only when it is read."""
    (tmp_path / "broken.lwf").write_text("0 -1 60\n")
    multi_conf.write_text(MULTI_CONF.replace("t10 t20 t30", "broken.lwf t10"))
    done = subprocess.run(
        _campaign(multi_conf, tmp_path / "out"), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1
    assert "2 runs failed" in done.stderr
    assert "sr_blue1+broken: InputFileError: " in done.stderr
    assert "Traceback" not in done.stderr
    assert {json.loads(line)["case"] for line in _lines(tmp_path / "out")} == {
        f"{profile}_blue1{injection}" for profile in ("nosr", "sr") for injection in ("", "+t10")
    }


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """Address of a scheduler of dask.distributed with two workers, on the loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-m", "distributed.cli"]
    own = ["--host", "127.0.0.1", "--no-dashboard"]
    programs = [
        [*dask[:2], "distributed.cli.dask_scheduler", *own, "--port", str(port)],
        *([*dask[:2], "distributed.cli.dask_worker", address, *own, "--no-nanny", "--nthreads", "1"] for _ in range(2)),
    ]
    with (tmp_path / "cluster.log").open("wb") as log:
        running = [
            subprocess.Popen(words, stdout=log, stderr=log, cwd=tmp_path, start_new_session=True) for words in programs
        ]
    yield address
    for process in reversed(running):
        process.kill()
        process.wait(60)


def test_a_cluster_gives_the_same_results(multi_conf: Path, tmp_path: Path, cluster: str) -> None:
    """The tables are the same byte for byte, and runs that are finished there are not repeated here."""
    pytest.importorskip("distributed")
    multi_conf.write_text(MULTI_CONF.replace("t10 t20 t30", "t10"))
    words = _campaign(multi_conf, tmp_path / "far", "--scheduler", cluster)
    far = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert far.returncode == 0, far.stderr
    subprocess.run(_campaign(multi_conf, tmp_path / "near", "--quiet"), timeout=300, check=True)
    for name in ("perrun.csv", "perlease.csv", "utilization.csv"):
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "near" / name).read_bytes(), name
    with (tmp_path / "far" / "perrun.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["profile"], row["injectfile"]) for row in rows} == {
        (profile, injection) for profile in ("nosr", "sr") for injection in ("", "t10")
    }
    again = subprocess.run(
        _campaign(multi_conf, tmp_path / "far"), capture_output=True, text=True, timeout=300, check=True
    )
    assert "left" not in again.stderr


def test_a_scheduler_that_is_not_there_is_said_in_one_line(multi_conf: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        words = _campaign(multi_conf, tmp_path / "out", "--scheduler", address, "--quiet")
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"lease-sim: --scheduler: {address} does not answer as a scheduler: ")
    assert done.stderr.count("\n") == 1
