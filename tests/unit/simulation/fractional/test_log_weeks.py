from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.fractional.log_weeks import log_weeks

_DATA = os.environ.get("LEASE_SCHEDULER_DATA")


def _line(number: int, submitted: int, runtime: int, processors: int, used_kb: int, requested_kb: int) -> str:
    fields = [number, submitted, 0, runtime, processors, -1, used_kb, processors, -1, requested_kb, *[-1] * 8]
    return " ".join(map(str, fields))


def test_processors_of_a_job_become_tasks(tmp_path: Path) -> None:
    """dfrs F54: two processors of a node, unless their number is odd or each has half of the memory or more."""
    week = 7 * 86_400
    log = tmp_path / "log.swf"
    log.write_text(
        "; a comment\n"
        + "\n".join(
            [
                _line(2, week + 5, 50, 4, 419_430, 100),
                _line(1, 10, 100, 3, -1, -1),
                _line(3, week + 5, 60, 4, 1_048_576, -1),
                _line(4, week + 6, 0, 4, -1, -1),
                _line(5, week + 7, 70, 250, -1, -1),
                _line(6, week + 8, 80, 1, 1_000, 3_000_000),
                _line(7, 3 * week, 90, 2, 1_000, 1_000),
            ]
        )
    )
    weeks = log_weeks(log)
    assert [len(trace.release) for trace in weeks] == [1, 3, 1]
    assert weeks[0].release.tolist() == [10] and weeks[0].tasks.tolist() == [3]
    assert weeks[0].cpu.tolist() == [0.5] and weeks[0].memory.tolist() == [0.1]
    assert weeks[1].release.tolist() == [5, 5, 8]
    assert weeks[1].tasks.tolist() == [2, 4, 1]
    assert weeks[1].cpu.tolist() == [1, 0.5, 0.5]
    assert weeks[1].memory == pytest.approx([0.4, 0.5, 1], abs=1e-6)
    assert weeks[1].processing.tolist() == [50, 60, 80]
    assert weeks[2].release.tolist() == [0] and weeks[2].memory == pytest.approx([0.2])


@pytest.mark.parametrize(
    ("text", "problem"), [("1 2 3\n", "log.swf:1: has 3 fields"), ("; nothing\n", "log.swf: has no jobs")]
)
def test_other_files_are_refused(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(text)
    with pytest.raises(InputFileError, match=problem):
        log_weeks(tmp_path / "log.swf")


@pytest.mark.skipif(not _DATA, reason="needs LEASE_SCHEDULER_DATA")
def test_the_log_has_the_weeks_of_the_dissertation() -> None:
    """dfrs F54: 202,876 jobs in 182 weeks, of which 57.4 % have whole nodes; 43 to 4,507 a week."""
    weeks = log_weeks(Path(_DATA or "") / "pwa" / "HPC2N-2002-2.1-cln.swf.gz")
    sizes = [len(trace.release) for trace in weeks]
    assert (len(weeks), sum(sizes), min(sizes), max(sizes)) == (182, 202_876, 43, 4_507)
    whole = np.concatenate([trace.cpu == 1 for trace in weeks])
    assert whole.mean() == pytest.approx(0.574, abs=0.0005)
