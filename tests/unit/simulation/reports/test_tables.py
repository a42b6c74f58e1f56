"""The files of a run: columns, values, bytes, and what is left if writing fails (haizea F90, section 9.4)."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.reports import tables
from lease_scheduler.simulation.result import RunResult

NAMES = ["leases.csv", "perlease.csv", "perrun.csv", "utilization.csv", "summary.json"]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_leases_csv_holds_every_lease_in_order(four_hosts: RunResult) -> None:
    assert tables.leases_csv(four_hosts) == (
        "lease_id,kind,state,arrival,start,end,nodes,requested_duration,accumulated,waiting,bounded_slowdown,deadline,"
        "user,reason\n"
        "b1,best-effort,done,0,0,8000,2,4000,4000,0,2,,ann,\n"
        "r1,reservation,done,60,3600,6600,4,3000,3000,,,,,\n"
        "d1,deadline,done,120,900,1900,1,1000,1000,300,1.3,9000,,\n"
        'i1,immediate,cancelled,7000,7000,7300,1,500,300,0,,,,"by its user, early"\n'
        'r2,reservation,rejected,7000,,7000,4,500,0,,,,,"no room: ""host-1"" is held"\n'
    )


def test_an_unfinished_lease_has_no_end(four_hosts: RunResult) -> None:
    alive = replace(four_hosts.leases[0], state=LeaseState.ACTIVE, ended=None)
    row = rows(tables.leases_csv(replace(four_hosts, leases=(alive,))))[0]
    assert (row["state"], row["start"], row["end"], row["bounded_slowdown"]) == ("active", "0", "", "")


def test_perrun_csv_has_haizeas_columns(four_hosts: RunResult) -> None:
    """haizea F90, section 9.4."""
    text = tables.perrun_csv(four_hosts, {"profile": "NOVM-SR", "utilization": "0.20"})
    assert text.splitlines()[0] == (
        "profile,tracefile,annotationfile,injectfile,utilization,Total requested leases,Total accepted AR,"
        "Total best-effort completed,Total completed leases,Total rejected AR,Total rejected leases (by user),"
        "Total rejected leases,all-best-effort,Revenue,Surcharge,Missed revenue (undercharging),"
        "Missed revenue (reject),Missed revenue (reject by user),Missed revenue (total)"
    )
    assert text.splitlines()[1:] == ["NOVM-SR,,,,0.20,5,1,1,3,1,0,1,8000,2.5,0,0,0,0,0"]


def test_perrun_csv_counts_rejections_by_users_apart(four_hosts: RunResult) -> None:
    """haizea F90, section 4.19."""
    by_user = replace(four_hosts.leases[4], state=LeaseState.REJECTED_BY_USER)
    row = rows(tables.perrun_csv(replace(four_hosts, leases=(*four_hosts.leases, by_user)), {}))[0]
    assert row["Total rejected leases (by user)"] == "1"
    assert row["Total rejected leases"] == "1"
    assert row["Total rejected AR"] == "1"
    assert row["Total accepted AR"] == "1"


def test_perrun_csv_without_prices_has_no_revenue(four_hosts: RunResult) -> None:
    row = rows(tables.perrun_csv(replace(four_hosts, leases=four_hosts.leases[:1]), {}))[0]
    assert row["Revenue"] == row["Surcharge"] == row["Missed revenue (total)"] == ""


def test_perlease_csv_has_haizeas_columns(four_hosts: RunResult) -> None:
    """haizea F90, section 9.4; section 8.1 item 11 on the actual content of Start and Deadline."""
    text = tables.perlease_csv(four_hosts, {"tracefile": "blue1.swf"})
    assert text.splitlines()[0] == (
        "profile,tracefile,annotationfile,injectfile,lease_id,Waiting time,Slowdown,State,Number of nodes,"
        "Requested duration,Actual duration,Start,Deadline,Price,simul_start_delta,simul_userrate,simul_deadline_tau,"
        "rate,rejected_price,SWF_group,SWF_waittime,SWF_runtime,SWF_execnumber,SWF_avgcputime,SWF_queue"
    )
    by_id = {row["lease_id"]: row for row in rows(text)}
    assert by_id["d1"] == {
        **dict.fromkeys(by_id["d1"], ""),
        "tracefile": "blue1.swf",
        "lease_id": "d1",
        "Waiting time": "300",
        "Slowdown": "1.3",
        "State": "Done",
        "Number of nodes": "1",
        "Requested duration": "1000",
        "Actual duration": "1000",
        "Start": "480",
        "Deadline": "8400",
        "simul_start_delta": "480.00",
        "SWF_queue": "2",
    }
    assert by_id["r1"]["Price"] == "2.5"
    assert [row["State"] for row in by_id.values()] == ["Done", "Done", "Done", "Cancelled", "Rejected"]


def test_perlease_csv_has_the_price_of_a_refused_quote(four_hosts: RunResult) -> None:
    """As in Haizea: a price of -1, and the rejected price in a column of its own."""
    lease = four_hosts.leases[4]
    by_user = replace(lease, state=LeaseState.REJECTED_BY_USER, grant=Grant(price=5.0))
    (row,) = rows(tables.perlease_csv(replace(four_hosts, leases=(by_user,)), {}))
    assert (row["State"], row["Price"], row["rejected_price"], row["rate"]) == ("Rejected by user", "-1", "5", "9")


def test_utilization_csv_has_every_change_and_the_average_so_far(four_hosts: RunResult) -> None:
    """haizea F84, F90."""
    assert tables.utilization_csv(four_hosts, {"tau": "TIGHT"}) == (
        "profile,tracefile,annotationfile,injectfile,tau,time,value,average\n"
        ",,,,TIGHT,0,0.5,0.5\n"
        ",,,,TIGHT,900,0.75,0.5\n"
        ",,,,TIGHT,1900,0.5,0.631579\n"
        ",,,,TIGHT,3000,0,0.583333\n"
        ",,,,TIGHT,3600,1,0.486111\n"
        ",,,,TIGHT,6600,0,0.719697\n"
        ",,,,TIGHT,7000,0.625,0.678571\n"
        ",,,,TIGHT,7300,0.5,0.67637\n"
    )


def test_summary_json_has_the_metrics_of_the_run(four_hosts: RunResult) -> None:
    summary = json.loads(tables.summary_json(four_hosts))
    kinds = summary.pop("kinds")
    assert summary == {
        "workload": "four hosts",
        "hosts": 4,
        "vcpus": 400,
        "simulated_s": 8000,
        "last_submission_s": 7000,
        "leases": 5,
        "accepted": 4,
        "rejected": 1,
        "all_best_effort_s": 8000,
        "mean_wait_s": 0.0,
        "mean_bounded_slowdown": 2.0,
        "measured_leases": 1,
        "utilisation": pytest.approx((0.5 * 550 + 0.75 * 1000 + 0.5 * 1100 + 3000) / 6650, abs=1e-6),
        "suspensions": 1,
        "migrations": 1,
        "counters": {"early_ends": 0, "migrations": 1, "resumptions": 1, "suspensions": 1},
        "states": {"done": 3, "rejected": 1, "cancelled": 1},
        "wall_s": 0.25,
        "peak_rss_bytes": 67_108_864,
    }
    assert list(kinds) == ["reservation", "immediate", "deadline", "best-effort"]
    assert kinds["reservation"] == {
        "requested": 2,
        "accepted": 1,
        "rejected": 1,
        "rejected_by_user": 0,
        "done": 1,
        "cancelled": 0,
        "failed": 0,
        "unfinished": 0,
    }


def test_summary_of_an_empty_run_has_nulls_and_no_nan(four_hosts: RunResult) -> None:
    empty = replace(four_hosts, leases=(), occupations=(), counters={}, end=four_hosts.start)
    summary = json.loads(tables.summary_json(empty))
    assert summary["all_best_effort_s"] is summary["mean_wait_s"] is summary["mean_bounded_slowdown"] is None
    assert summary["suspensions"] == summary["utilisation"] == summary["leases"] == 0


def test_all_files_are_written_and_nothing_else(four_hosts: RunResult, tmp_path: Path) -> None:
    written = tables.write_results(four_hosts, tmp_path / "new" / "results", {"profile": "VM"})
    assert [path.name for path in written] == NAMES
    assert sorted(path.name for path in (tmp_path / "new" / "results").iterdir()) == sorted(NAMES)
    assert written[0].read_text(encoding="utf-8") == tables.leases_csv(four_hosts)
    assert {row["profile"] for row in rows(written[1].read_text())} == {"VM"}
    # Unless set otherwise, this is the workload's name.
    assert {row["tracefile"] for path in written[1:4] for row in rows(path.read_text())} == {"four hosts"}


def test_disk_usage_is_written_if_it_was_asked_for(four_hosts: RunResult, tmp_path: Path) -> None:
    """haizea F85: the fullest host, with the average since the beginning."""
    probed = replace(four_hosts, disk_usage=((0, 0), (100, 4096), (200, 1024)))

    written = tables.write_results(probed, tmp_path)

    assert [path.name for path in written] == [*NAMES[:-1], "disk-usage.csv", "summary.json"]
    found = [(row["time"], row["value"], row["average"]) for row in rows(written[-2].read_text())]
    assert found == [("0", "0", "0"), ("100", "4096", "0"), ("200", "1024", "2048")]


def test_the_same_run_gives_the_same_bytes(four_hosts: RunResult, tmp_path: Path) -> None:
    slower = replace(four_hosts, wall_s=9.5, peak_rss_bytes=7)
    first = tables.write_results(four_hosts, tmp_path / "a")
    second = tables.write_results(slower, tmp_path / "b")
    assert [path.read_bytes() for path in first[:-1]] == [path.read_bytes() for path in second[:-1]]
    before, after = first[-1].read_text().splitlines(), second[-1].read_text().splitlines()
    changed = [line.split(":")[0].strip() for line, other in zip(before, after, strict=True) if line != other]
    assert changed == ['"wall_s"', '"peak_rss_bytes"']


def test_files_that_cannot_be_replaced_leave_the_others_whole(four_hosts: RunResult, tmp_path: Path) -> None:
    tables.write_results(four_hosts, tmp_path)
    (tmp_path / "perrun.csv").unlink()
    (tmp_path / "perrun.csv").mkdir()
    (tmp_path / "perrun.csv" / "kept").touch()
    old_summary = (tmp_path / "summary.json").read_bytes()
    other = replace(four_hosts, leases=four_hosts.leases[:1])
    with pytest.raises(InputFileError, match="cannot hold the results") as caught:
        tables.write_results(other, tmp_path)
    assert caught.value.path == str(tmp_path)
    assert (tmp_path / "leases.csv").read_text() == tables.leases_csv(other)
    assert (tmp_path / "summary.json").read_bytes() == old_summary
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


def test_a_file_in_place_of_the_directory_is_a_clear_error(four_hosts: RunResult, tmp_path: Path) -> None:
    (tmp_path / "results").write_text("mine")
    with pytest.raises(InputFileError, match=r"cannot hold the results: .*; name another directory"):
        tables.write_results(four_hosts, tmp_path / "results")
    assert (tmp_path / "results").read_text() == "mine"


def test_line_breaks_and_quotes_survive(four_hosts: RunResult) -> None:
    lease: Lease = replace(four_hosts.leases[0], reason='first\nsecond, "third"; größer')
    text = tables.leases_csv(replace(four_hosts, leases=(lease,)))
    assert rows(text)[0]["reason"] == lease.reason
