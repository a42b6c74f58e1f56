"""The interface that scripts rely on."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lease_scheduler.cmd.lease_sim import main
from lease_scheduler.haizea.log_levels import STATUS

LWF = """<lease-workload name="small">
  <site><resource-types names="CPU Memory"/><nodes><node-set numnodes="2">
    <res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes></site>
  <lease-requests>
    <lease-request arrival="00:00:00"><lease id="1" preemptible="true">
      <nodes><node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes>
      <start/><duration time="01:00:00"/><software><none/></software></lease></lease-request>
    <lease-request arrival="00:10:00"><lease id="2" preemptible="false">
      <nodes><node-set numnodes="3"><res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes>
      <start><exact time="00:30:00"/></start><duration
      time="00:10:00"/><software><none/></software></lease></lease-request>
  </lease-requests>
</lease-workload>
"""

CONF = """[general]
mode: simulated
[scheduling]
policy-preemption: ar-preempts-everything
backfilling: aggressive
suspension: all
suspend-rate: 32
resume-rate: 32
[simulation]
clock: simulated
starttime: 2006-11-25 13:00:00
resources: 4  CPU:100 Memory:1024
imagetransfer-bandwidth: 100
[accounting]
datafile: results.dat
[tracefile]
tracefile: small.lwf
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.lwf"
    path.write_text(LWF)
    return path


def _rows(directory: Path) -> dict[str, dict[str, str]]:
    with (directory / "leases.csv").open() as stream:
        return {row["lease_id"]: row for row in csv.DictReader(stream)}


def test_a_run_leaves_what_scripts_rely_on(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["run", str(small), "--output", str(out), "--quiet"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")
    rows = _rows(out)
    assert {name: rows["1"][name] for name in ("lease_id", "kind", "state", "arrival", "start", "end", "nodes")} == {
        "lease_id": "1",
        "kind": "best-effort",
        "state": "done",
        "arrival": "0",
        "start": "0",
        "end": "3600",
        "nodes": "2",
    }
    assert (rows["2"]["state"], rows["2"]["start"], rows["2"]["kind"]) == ("rejected", "", "reservation")
    summary = json.loads((out / "summary.json").read_text())
    assert summary.keys() >= {
        *("leases", "accepted", "rejected", "all_best_effort_s", "mean_wait_s", "mean_bounded_slowdown", "utilisation"),
        *("suspensions", "migrations", "wall_s", "peak_rss_bytes"),
    }
    assert (summary["leases"], summary["accepted"], summary["rejected"]) == (2, 1, 1)
    assert (out / "gantt.png").read_bytes().startswith(b"\x89PNG")


def test_haizea_s_configuration_is_honoured(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """haizea F41: workload, hosts, suspension and rates come from the file; --set wins."""
    conf = tmp_path / "haizea.conf"
    conf.write_text(CONF)
    assert main(["run", "--haizea-conf", str(conf), "--output", str(tmp_path / "a")]) == 0
    assert "best-effort" in capsys.readouterr().out
    rows = _rows(tmp_path / "a")
    # Four hosts: the best-effort lease is suspended from 0:29:28 on and resumed at 0:40:00; resuming takes 32 s.
    assert (rows["2"]["state"], rows["2"]["start"]) == ("done", "1800")
    assert rows["1"]["end"] == str(2400 + 32 + 3600 - 1768)
    words = ["--haizea-conf", str(conf), "--set", "scheduling.policy_preemption=no-preemption", "--quiet"]
    assert main(["run", *words, "--output", str(tmp_path / "b")]) == 0
    assert _rows(tmp_path / "b")["2"]["state"] == "rejected"


def test_dates_of_a_workload_count_from_haizea_s_start_time(small: Path, tmp_path: Path) -> None:
    small.write_text(small.read_text().replace('"00:30:00"', '"2006-11-25T14:30:00+01:00"'))
    conf = tmp_path / "haizea.conf"
    conf.write_text(CONF)
    assert main(["run", "--haizea-conf", str(conf), "--output", str(tmp_path / "a"), "--quiet"]) == 0
    assert _rows(tmp_path / "a")["2"]["start"] == "1800"


def test_haizea_s_image_transfers_are_simulated(small: Path, tmp_path: Path) -> None:
    """haizea F41, F60, F67: a lease that starts at 0 s waits for its image; a second lease of the image does not."""
    text = small.read_text().replace("<none/>", '<disk-image id="x" size="1024"/>')
    assert "disk-image" in text
    small.write_text(text)
    conf = tmp_path / "haizea.conf"
    images = "[deploy-imagetransfer]\ntransfer-mechanism: multicast\nforce-imagetransfer-time: 50\n"
    conf.write_text(CONF.replace("[general]\n", "[general]\nlease-preparation: imagetransfer\n") + images)
    words = ["--set", "simulation.probe_disk_usage=true"]

    assert main(["run", "--haizea-conf", str(conf), "--output", str(tmp_path / "a"), "--quiet", *words]) == 0

    rows = _rows(tmp_path / "a")
    assert (rows["1"]["start"], rows["2"]["start"]) == ("50", "1800")
    assert "1024" in (tmp_path / "a" / "disk-usage.csv").read_text()


def test_haizea_s_status_messages(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """haizea F44: by the simulated clock, no more often than configured, in the configured date format."""
    monkeypatch.chdir(tmp_path)
    caplog.set_level(STATUS)
    conf = tmp_path / "haizea.conf"
    conf.write_text(CONF.replace("clock: simulated\n", "clock: simulated\nstatus-message-interval: 25\n"))
    assert main(["run", "--haizea-conf", str(conf)]) == 0
    messages = [record.getMessage() for record in caplog.records if record.levelno == STATUS]
    # The best-effort lease makes room from 29:28 on, the reservation ends at 40:00, and at 1:11:04 all is over.
    assert messages == [
        "2006-11-25 13:29:28: 0 leases are over, 2 are not: 1 ready, 1 suspending",
        "2006-11-25 14:11:04: 2 leases are over, 0 are not",
    ]


def test_hosts_of_one_s_own_replace_those_of_the_workload(small: Path, tmp_path: Path) -> None:
    words = ["--set", "simulation.resources=3 CPU:100,Memory:1024", "--quiet", "--output", str(tmp_path / "out")]
    assert main(["run", str(small), *words]) == 0
    assert _rows(tmp_path / "out")["2"]["state"] == "done"


def test_the_same_input_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    for name in "ab":
        assert main(["run", str(small), "--output", str(tmp_path / name), "--quiet"]) == 0
    files = {path.name for path in (tmp_path / "a").iterdir()}
    assert files == {path.name for path in (tmp_path / "b").iterdir()}
    for name in files - {"summary.json"}:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "WORKLOAD: name a file or one of blue1, t10, t20, t30"),
        (["run", "missing.swf"], "missing.swf: cannot be read"),
        (["run", "blue1", "--inject", "missing.lwf"], "missing.lwf: cannot be read"),
        (["run", "blue1", "--set", "suspension=all"], "--set: must be GROUP.OPTION=VALUE"),
        (["run", "blue1", "--set", "scheduling.suspension=half"], "scheduling.suspension: Valid values are"),
        (["run", "blue1", "--set", "scheduling.policy_admission=magic"], "there is no policy 'magic'"),
        (["run", "blue1", "--config-file", "missing.conf"], "missing.conf: there is no such file"),
        (["run", "blue1", "--haizea-conf", "missing.conf"], "missing.conf: cannot be read"),
        (["run", "blue1", "--set", "simulation.resources=1 CPU:100"], "resources: lacks Memory"),
        (["experiment", "haizea-5", "--jobs", "0"], "--jobs: must be at least 1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("lease-sim: ")
    assert message in error


@pytest.mark.parametrize("words", [[], ["fly"], ["run", "--fly"], ["experiment", "haizea-99"]])
def test_a_wrong_command_line_is_said_in_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_bad_line_is_named_and_nothing_is_written(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write_text(LWF.replace('amount="1024"', 'amount="much"', 1))
    assert main(["run", str(small), "--output", str(tmp_path / "out")]) == 2
    assert f"{small}:3: " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_output_that_cannot_be_written_is_said_to_be(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("in the way")
    assert main(["run", str(small), "--output", str(tmp_path / "out"), "--quiet"]) == 2
    assert str(tmp_path / "out") in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "in the way"


def test_workloads_and_annotations_are_merged_in(small: Path, tmp_path: Path) -> None:
    """haizea F27, F76: the injected leases get new ids, and annotations refer to these."""
    other, annotations = tmp_path / "other.lwf", tmp_path / "notes.lwfa"
    other.write_text(LWF)
    annotations.write_text(
        '<lease-annotations><lease-annotation id="1000001"><extra><attr name="project" value="physics"/></extra>'
        "</lease-annotation></lease-annotations>"
    )
    words = ["run", str(small), "--inject", str(other), "--annotate", str(annotations), "--quiet"]
    assert main([*words, "--output", str(tmp_path / "out")]) == 0
    assert _rows(tmp_path / "out").keys() == {"1", "2", "1000001", "1000002"}
    annotations.write_text("<lease-annotations><lease-annotation")
    assert main([*words, "--output", str(tmp_path / "bad")]) == 2
    assert not (tmp_path / "bad").exists()


def test_progress_is_shown_on_a_terminal_and_not_mixed_with_the_summary(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["run", str(small)]) == 0
    printed = capsys.readouterr()
    assert "2/2 leases" in printed.err
    assert "2/2 leases" not in printed.out
    assert "best-effort" in printed.out


@pytest.mark.parametrize(
    ("error", "code", "said"), [(KeyboardInterrupt(), 130, "lease-sim: interrupted\n"), (BrokenPipeError(), 0, "")]
)
def test_whoever_stops_us_sees_no_traceback(
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    said: str,
) -> None:
    def stop(*_: object) -> None:
        raise error

    monkeypatch.setattr("lease_scheduler.cmd.simulate.print_summary", stop)
    monkeypatch.setattr("sys.stderr.close", lambda: None)
    assert main(["run", str(small)]) == code
    assert capsys.readouterr().err == said


def test_the_installed_program_starts(small: Path) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lease-sim", "run", small], capture_output=True, text=True, check=True
    )
    assert "best-effort" in done.stdout


def test_prices_of_a_haizea_conf_are_honoured(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """haizea F77-F82: a user with a lower limit rejects the price, and Haizea's files show the revenue."""
    rates = {"1": "0.05", "2": "1.00"}
    text = small.read_text()
    for rate in rates.values():
        extra = f'<software><none/></software><extra><attr name="simul_userrate" value="{rate}"/></extra></lease>'
        text = text.replace("<software><none/></software></lease>", extra, 1)
    small.write_text(text)
    conf = tmp_path / "haizea.conf"
    conf.write_text(CONF.replace("[scheduling]", "[scheduling]\npolicy-pricing: constant") + "[pricing]\nrate: 0.10\n")
    out = tmp_path / "out"
    assert main(["run", "--haizea-conf", str(conf), "--output", str(out), "--quiet"]) == 0
    assert "pric" not in capsys.readouterr().err
    assert {name: row["state"] for name, row in _rows(out).items()} == {"1": "rejected-by-user", "2": "done"}
    with (out / "perlease.csv").open() as stream:
        leases = {row["lease_id"]: row for row in csv.DictReader(stream)}
    columns = ("Price", "rate", "rejected_price", "simul_userrate")
    assert [leases["1"][name] for name in columns] == ["-1", "0.1", "0.2", "0.05"]
    assert [leases["2"][name] for name in columns] == ["0.05", "0.1", "", "1.00"]
    with (out / "perrun.csv").open() as stream:
        (run,) = csv.DictReader(stream)
    assert {name: run[name] for name in run if "evenue" in name or "user" in name} == {
        "Total rejected leases (by user)": "1",
        "Revenue": "0.05",
        "Missed revenue (undercharging)": "0.45",
        "Missed revenue (reject)": "0",
        "Missed revenue (reject by user)": "0.1",
        "Missed revenue (total)": "0.55",
    }
