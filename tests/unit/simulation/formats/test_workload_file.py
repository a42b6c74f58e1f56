"""One function to read all workload formats."""

import gzip
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats.swf import SwfOptions
from lease_scheduler.simulation.formats.workload_file import read_workload

SWF = "13 0 22 43 32 0.03 -1 4 64800 -1 1 96 -1 -1 3 -1 -1 -1\n"
OLD_LWF = "0 10233 10233 10233 39 1 1024 0 'NONE.img' 600\n"
LWF = (
    '<lease-workload><lease-requests><lease-request arrival="0"><lease preemptible="true"><nodes>'
    '<node-set numnodes="1"><res type="CPU" amount="100"/></node-set></nodes><start/><duration time="9"/></lease>'
    "</lease-request></lease-requests></lease-workload>"
)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    ("text", "lease_id", "nodes"),
    [
        (SWF, "13", 4),
        (f"; a header\n\n{SWF}", "13", 4),
        (OLD_LWF, "1", 39),
        (f"\n# a comment\n{OLD_LWF}", "1", 39),
        (LWF, "1", 1),
        (f"\ufeff{LWF}", "1", 1),
        (f'<?xml version="1.0"?>\n{LWF}', "1", 1),
    ],
)
def test_the_content_tells_the_format(tmp_path: Path, text: str, lease_id: str, nodes: int, compress: bool) -> None:
    path = tmp_path / "misleading.txt"
    path.write_bytes(gzip.compress(text.encode()) if compress else text.encode())
    (lease,) = read_workload(path).leases
    assert (lease.request.lease_id, lease.request.node_count) == (lease_id, nodes)


def test_options_reach_the_swf_reader(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(SWF)
    assert read_workload(path, SwfOptions(scale=2)).leases[0].request.node_count == 2


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [("", None, "is empty"), ("\n\n", None, "is empty"), ("\nhello world\n", 2, "neither XML (LWF) nor 18 columns")],
)
def test_files_of_unknown_format_are_named(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = tmp_path / "in"
    path.write_text(text)
    with pytest.raises(InputFileError) as error:
        read_workload(path)
    assert (error.value.path, error.value.line) == (str(path), line)
    assert problem in error.value.problem
