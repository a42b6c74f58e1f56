"""Leases of a fixed length, and how they follow loads (shirako E1, E2)."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import Replication
from lease_scheduler.papers.shirako import length_checks, shirako_4
from lease_scheduler.papers.shirako.chapters import PAPER
from lease_scheduler.papers.shirako.lease_length import (
    BATCH,
    COMMERCE,
    GENERATED,
    HOSTS,
    RECORDED,
    FilterCase,
    LeaseLengthCase,
    loads_of,
    serve,
)
from lease_scheduler.papers.shirako.month import STEPS
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.queueing.fifo import Fifo
from lease_scheduler.policy.queueing.priority import Priority


def _wanted(commerce: list[float], batch: list[float]) -> dict[str, Any]:
    return {COMMERCE: np.array(commerce), BATCH: np.array(batch)}


def test_a_long_lease_of_batch_keeps_hosts_from_e_commerce() -> None:
    """shirako G15: batch holds 100 hosts for its term, whatever e-commerce needs; then its load goes first."""
    result = serve(_wanted([40, 140, 140, 140, 140], [100] * 5), 3, Priority(PolicyOptions()))
    assert result.held[COMMERCE][:5].tolist() == [40, 40, 40, 140, 140]
    assert result.held[BATCH][:5].tolist() == [100, 100, 100, 0, 0]
    assert (result.out_of_order, result.longest_inversion) == (0, 2)


def test_leases_last_their_whole_term_and_have_whole_hosts() -> None:
    result = serve(_wanted([10.2, 0, 3, 0, 0], [0] * 5), 3, Priority(PolicyOptions()))
    assert result.held[COMMERCE][:5].tolist() == [11, 11, 11, 0, 0]


def test_the_order_is_that_of_the_policy() -> None:
    """Batch asks first; in the order of arrival it takes what e-commerce lacks, which the check sees."""
    wanted = _wanted([100.0, 100.0], [100.0, 100.0])
    assert serve(wanted, 5, Priority(PolicyOptions())).out_of_order == 0
    fifo = serve(wanted, 5, Fifo(PolicyOptions()))
    assert (fifo.out_of_order, fifo.held[BATCH][0], fifo.held[COMMERCE][0]) == (1, 100, 40)


def test_both_together_never_hold_more_than_all_hosts() -> None:
    loads = {COMMERCE: loads_of(GENERATED, 3)[COMMERCE], BATCH: np.full(STEPS, 140.0)}
    result = serve(loads, 144, Priority(PolicyOptions()))
    held = result.held[COMMERCE] + result.held[BATCH]
    assert held.max() == HOSTS


def test_short_leases_follow_the_load_of_e_commerce_better() -> None:
    """shirako E2, with one seed."""
    short, long = (LeaseLengthCase(hours).run() for hours in (12, 72))
    assert long[f"rmse {COMMERCE}"] > 1.8 * short[f"rmse {COMMERCE}"]
    assert short["out_of_order"] == long["out_of_order"] == 0
    assert short["longest_inversion_h"] < long["longest_inversion_h"]
    assert short[f"rmse of the raw load {COMMERCE}"] > short[f"rmse {COMMERCE}"] > short[f"biased {COMMERCE}"]


def test_the_filter_holds_its_level() -> None:
    """shirako E1, with one seed."""
    found = FilterCase().run()
    assert found["changes_share"] < 0.1 and found["variation_ratio"] < 0.2 and found["mean_difference"] < 0.05


def test_recorded_loads_are_five_minute_means_scaled_to_all_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests of minutes become means of five, the largest of which is all hosts; BLUE1 is shipped."""
    (tmp_path / "web").mkdir()
    lines = ["period,count", "1998-06-09 23:59:00,9999"]
    lines += [f"1998-06-10 00:{minute:02}:00,{count}" for minute, count in ((0, 100), (1, 150), (5, 1_000), (7, 250))]
    path = tmp_path / "web" / "worldcup98-requests-per-minute.csv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    monkeypatch.setenv("LEASE_SCHEDULER_DATA", str(tmp_path))
    loads = loads_of(RECORDED, 1)
    assert loads[COMMERCE][:3].tolist() == [28, 140, 0]
    assert loads[BATCH].max() == HOSTS and 20 < loads[BATCH].mean() < 100
    assert path in PAPER.inputs()


def test_without_the_folder_of_logs_recorded_loads_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    cases = shirako_4.cases(extent=Extent.ONCE, seed=2)
    assert not [case for case in cases if "recorded" in case.name]
    with pytest.raises(InvalidValueError, match="LEASE_SCHEDULER_DATA: must name the folder"):
        loads_of(RECORDED, 1)
    outcomes = {case.name: case.run() for case in cases}
    console = Console(file=io.StringIO(), width=160)
    shirako_4.report(outcomes, tmp_path, replications=[Replication(Extent.ONCE, 2)], console=console)
    text = (tmp_path / "report.txt").read_text()
    assert "Left out, as LEASE_SCHEDULER_DATA names no folder" in text and "Figure 4.9 (E2)" in text
    assert (tmp_path / "fig-4.9.png").exists()


def _outcomes(**changed: float) -> dict[str, dict[str, Any]]:
    """Return outcomes as in the dissertation, with some figures of short leases changed."""
    found: dict[str, dict[str, Any]] = {}
    for loads, batch in (("generated", (23.0, 22.0)), ("long backlog", (70.0, 65.0))):
        for hours, commerce, of_batch, inversion in ((12, 13.0, batch[0], 10.0), (72, 31.0, batch[1], 40.0)):
            found[LeaseLengthCase(hours, loads).name] = {
                f"rmse {COMMERCE}": commerce,
                f"rmse {BATCH}": of_batch,
                "longest_inversion_h": inversion,
                "out_of_order": 0,
            }
    found[LeaseLengthCase(12, "generated").name] |= changed
    return found


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({}, []),
        ({f"rmse {COMMERCE}": 9.9}, ["e-commerce, leases of 12 h: error (hosts)"]),
        (
            {f"rmse {COMMERCE}": 17.3},
            ["e-commerce, leases of 12 h: error (hosts)", "e-commerce: error, 72 h : 12 h"],
        ),
        (
            {f"rmse {BATCH}": 12.0},
            ["error with 12 h, batch less e-commerce", "batch: change of the error from 12 to 72 h, share"],
        ),
        ({"longest_inversion_h": 40.0}, ["longest inversion of priorities, 72 h : 12 h"]),
        ({"out_of_order": 1}, ["steps at which batch is served while e-commerce lacks hosts"]),
    ],
)
def test_the_checks_are_able_to_fail(changed: dict[str, float], missed: list[str]) -> None:
    checks = length_checks.length_checks(_outcomes(**changed), 1)
    assert [check.name for check in checks if check.passed is False] == missed
