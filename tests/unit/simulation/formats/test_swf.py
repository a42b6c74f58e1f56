"""SWF logs as leases (haizea F86, section 4.20; the windows of section 6.1)."""

import bz2
import gzip
import lzma
import os
import zipfile
from collections.abc import Callable
from importlib import resources as package_resources
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.formats.swf import SwfOptions, left_out, read_swf
from lease_scheduler.simulation.formats.workload_file import read_workload
from lease_scheduler.simulation.workload import Workload, WorkloadLease

MONTH = 30 * 86_400

_FIELDS = {
    "job": 1,
    "submit": 0,
    "wait": 22,
    "run": 43,
    "allocated": 32,
    "cpu_time": 0.03,
    "used_kb": -1,
    "requested": 32,
    "time": 3600,
    "requested_kb": -1,
    "status": 1,
    "user": 96,
    "group": 7,
    "executable": 5,
    "queue": 3,
    "partition": -1,
    "preceding": -1,
    "think": -1,
}


def _job(**fields: object) -> str:
    return " ".join(str(value) for value in {**_FIELDS, **fields}.values())


def _read(tmp_path: Path, *lines: str, options: SwfOptions | None = None) -> Workload:
    path = tmp_path / "log.swf"
    path.write_text("\n".join(lines))
    return read_swf(path, options)


def _only(tmp_path: Path, options: SwfOptions | None = None, **fields: object) -> WorkloadLease:
    (lease,) = _read(tmp_path, _job(**fields), options=options).leases
    return lease


def test_a_job_is_a_best_effort_lease(tmp_path: Path) -> None:
    """haizea F86"""
    workload = _read(
        tmp_path, "; Version: 2.2", "", f"  {_job(job=13, submit=440070)}", options=SwfOptions(440_000, scale=8)
    )
    request = LeaseRequest(
        lease_id="13",
        kind=LeaseKind.BEST_EFFORT,
        nodes=(NodeSet(4, Resources({"VCPU": 100, "MEMORY_MB": 1024})),),
        submitted=70,
        duration=3_600,
        preemptible=True,
        user="96",
        extras={
            "SWF_waittime": "22",
            "SWF_runtime": "43",
            "SWF_avgcputime": "0.03",
            "SWF_queue": "3",
            "SWF_group": "7",
            "SWF_execnumber": "5",
        },
    )
    attributes = {
        "swf_jobs": "1",
        "swf_cancelled": "0",
        "swf_unknown_size": "0",
        "swf_without_requested_time": "0",
        "swf_last_submission": "70",
    }
    assert workload == Workload("log", (WorkloadLease(request, 43),), None, attributes)


@pytest.mark.parametrize(
    ("fields", "scale", "prefer", "nodes"),
    [
        ({"requested": 16, "allocated": 32}, 8, "requested", 2),
        ({"requested": 16, "allocated": 32}, 8, "allocated", 4),
        ({"requested": -1, "allocated": 32}, 8, "requested", 4),
        ({"requested": 16, "allocated": -1}, 8, "allocated", 2),
        ({"requested": 15}, 8, "requested", 1),
        ({"requested": 1}, 8, "requested", 1),
        ({"requested": "5.0"}, 1, "requested", 5),
    ],
)
def test_the_size_of_a_job_follows_from_its_processors(
    tmp_path: Path, fields: dict[str, object], scale: int, prefer: str, nodes: int
) -> None:
    """haizea F86: rounded down to nodes, but never to none"""
    options = SwfOptions(scale=scale, processors_field=prefer)  # type: ignore[arg-type]
    assert _only(tmp_path, options, **fields).request.node_count == nodes


@pytest.mark.parametrize(("run", "real"), [(0, 1), (43, 43), (3_599, 3_599), (3_600, None), (9_999, None), (-1, None)])
def test_a_real_duration_counts_only_if_shorter_than_the_requested(tmp_path: Path, run: int, real: int | None) -> None:
    assert _only(tmp_path, run=run).real_duration == real


def test_jobs_that_never_ran_are_left_out_and_counted(tmp_path: Path) -> None:
    workload = _read(
        tmp_path,
        _job(job=1, run=-1, status=5, submit=50),
        _job(job=2, run=10, status=5),
        _job(job=3, run=-1, status=0),
        _job(job=4, requested=-1, allocated=-1),
        _job(job=5, time=-1, run=-1),
        _job(job=6, submit=-1),
    )
    assert [lease.request.lease_id for lease in workload.leases] == ["2", "3"]
    assert workload.attributes == {
        "swf_jobs": "6",
        "swf_cancelled": "1",
        "swf_unknown_size": "1",
        "swf_unknown_submission": "1",
        "swf_without_requested_time": "1",
        "swf_last_submission": "50",
    }


def test_a_run_time_stands_in_for_a_requested_time(tmp_path: Path) -> None:
    lease = _only(tmp_path, time=-1, run=43)
    assert (lease.request.duration, lease.real_duration) == (43, None)


@pytest.mark.parametrize(
    ("line", "options", "problem"),
    [
        (_job(time=-1, run=-1), SwfOptions(), "1 without a requested time or run time"),
        (_job(time=-1), SwfOptions(without_requested_time="skip"), "1 without a requested time or run time"),
        (_job(submit=-1), SwfOptions(), "1 without a time of submission"),
        (_job(run=-1, status=5), SwfOptions(), "1 cancelled in the queue"),
        (_job(), SwfOptions(begin=1), "no jobs in the window"),
    ],
)
def test_a_log_without_usable_jobs_is_an_error(tmp_path: Path, line: str, options: SwfOptions, problem: str) -> None:
    with pytest.raises(InputFileError) as raised:
        _read(tmp_path, line, options=options)
    assert problem in raised.value.problem


def test_the_line_for_the_whole_of_a_checkpointed_job_counts(tmp_path: Path) -> None:
    whole, part, last = _job(run=100), _job(run=40, status=2), _job(run=60, status=3, submit=-1)
    for lines in ((whole, part, last), (part, last, whole)):
        workload = _read(tmp_path, *lines)
        assert [lease.real_duration for lease in workload.leases] == [100]
        assert (workload.attributes["swf_jobs"], workload.attributes["swf_parts"]) == ("1", "2")
        assert left_out(workload.attributes) == ["2 parts of jobs that have a line for the whole"]


def test_parts_without_a_line_for_the_whole_are_one_job(tmp_path: Path) -> None:
    workload = _read(tmp_path, _job(run=40, status=2), _job(run=60, status=4, submit=-1))
    assert [lease.real_duration for lease in workload.leases] == [100]


@pytest.mark.parametrize(
    ("header", "options", "hosts"),
    [
        (("; MaxProcs: 128", "; MaxNodes: 16"), SwfOptions(), 128),
        (("; MaxProcs: 128", "; MaxNodes: 16"), SwfOptions(scale=8), 16),
        ((";MaxNodes: 16 (of 8)",), SwfOptions(), 16),
        (("; MaxProcs: 128",), SwfOptions(nodes=3), 3),
    ],
)
def test_the_header_gives_the_site(tmp_path: Path, header: tuple[str, ...], options: SwfOptions, hosts: int) -> None:
    site = _read(tmp_path, *header, _job(), options=options).site
    assert site is not None
    assert len(site.hosts) == hosts


def test_a_window_and_queues_select_jobs(tmp_path: Path) -> None:
    """The window includes both ends, and a queue is compared as a whole number, not by its first digits."""
    jobs = [_job(job=number, submit=submit) for number, submit in enumerate((99, 100, 150, 200, 201), start=1)]
    others = [_job(job=10, submit=120, queue=33), _job(job=11, submit=120, queue=-1)]
    options = SwfOptions(begin=100, length=100, queues=frozenset({3}))
    workload = _read(tmp_path, *jobs, *others, options=options)
    assert [(lease.request.lease_id, lease.request.submitted) for lease in workload.leases] == [
        ("2", 0),
        ("3", 50),
        ("4", 100),
    ]


def test_the_order_is_that_of_submission_then_job_number(tmp_path: Path) -> None:
    workload = _read(tmp_path, *(_job(job=job, submit=at) for job, at in ((10, 5), (9, 5), (1, 9), (2, 0))))
    assert [lease.request.lease_id for lease in workload.leases] == ["2", "9", "10", "1"]


@pytest.mark.parametrize(
    ("fields", "scale", "memory"),
    [
        ({"requested_kb": 2048, "used_kb": 1024}, 1, 2),
        ({"requested_kb": 2049}, 1, 3),
        ({"requested_kb": 2048}, 8, 16),
        ({"requested_kb": -1, "used_kb": 5120}, 1, 5),
        ({"requested_kb": 0, "used_kb": 0}, 1, 1024),
        ({"requested_kb": 1}, 1, 1),
    ],
)
def test_memory_may_come_from_the_log(tmp_path: Path, fields: dict[str, object], scale: int, memory: int) -> None:
    """haizea, section 4.20: KB per processor, rounded up"""
    lease = _only(tmp_path, SwfOptions(memory_mb=None, scale=scale), **fields)
    assert lease.request.nodes[0].resources["MEMORY_MB"] == memory


def test_a_site_follows_from_the_options(tmp_path: Path) -> None:
    def site(options: SwfOptions) -> Site | None:
        return _read(tmp_path, _job(requested_kb=4096 * 1024), options=options).site

    assert site(SwfOptions(nodes=144)) == Site.homogeneous(144, Resources({"VCPU": 100, "MEMORY_MB": 1024}))
    assert site(SwfOptions(nodes=2, memory_mb=512, node_memory_mb=1024)) == Site.homogeneous(
        2, Resources({"VCPU": 100, "MEMORY_MB": 1024})
    )
    assert site(SwfOptions(nodes=2, memory_mb=None)) == Site.homogeneous(2, Resources({"VCPU": 100, "MEMORY_MB": 4096}))
    assert site(SwfOptions()) is None


def test_the_flag_is_an_option_and_an_unknown_user_is_none(tmp_path: Path) -> None:
    request = _only(tmp_path, SwfOptions(preemptible=False), user=-1).request
    assert (request.preemptible, request.user) == (False, None)


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_a_compressed_log_gives_the_same(tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    plain = _read(tmp_path, _job())
    packed = tmp_path / f"log.swf{suffix}"
    packed.write_bytes(compress(_job().encode()))
    assert read_swf(packed) == plain


def test_a_log_in_a_zip_archive_gives_the_same(tmp_path: Path) -> None:
    plain = _read(tmp_path, _job())
    with zipfile.ZipFile(tmp_path / "log.swf.zip", "w") as archive:
        archive.writestr("log.swf", _job())
    assert read_swf(tmp_path / "log.swf.zip") == plain
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a", _job())
        archive.writestr("b", _job())
    with pytest.raises(InputFileError, match="contains 2 files"):
        read_swf(tmp_path / "two.zip")


def test_a_byte_order_mark_and_comments_in_other_encodings_are_ignored(tmp_path: Path) -> None:
    plain = _read(tmp_path, _job())
    path = tmp_path / "log.swf"
    path.write_bytes(b"\xef\xbb\xbf" + "; Größe: groß\n".encode("latin-1") + _job().encode())
    assert read_swf(path) == plain
    assert read_workload(path) == plain
    path.write_bytes(_job().encode() + b" \xe4")
    with pytest.raises(InputFileError, match="is not UTF-8"):
        read_swf(path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 2 3", "has 3 fields; a job of SWF has 18"),
        (_job() + " 19", "has 19 fields"),
        (_job(wait="soon"), "field 3 is 'soon'; it must be a number"),
        (_job(submit="nan"), "field 2 is 'nan'"),
        (_job(time="inf"), "field 9 is 'inf'"),
        (_job(think="1e300"), "field 18 is '1e300'"),
        (_job(job=7), "job number 7 is that of line 2"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(InputFileError) as error:
        _read(tmp_path, "; header", _job(job=7), line)
    assert (error.value.path, error.value.line) == (str(tmp_path / "log.swf"), 3)
    assert problem in error.value.problem


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"begin": -1}, "begin"),
        ({"length": -1}, "length"),
        ({"scale": 0}, "scale"),
        ({"memory_mb": 0}, "memory_mb"),
        ({"nodes": 0}, "nodes"),
        ({"processors_field": "used"}, "processors_field"),
        ({"without_requested_time": "guess"}, "without_requested_time"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{field}: "):
        SwfOptions(**options)  # type: ignore[arg-type]


def _data() -> Path:
    data = os.environ.get("LEASE_SCHEDULER_DATA")
    if not data:
        pytest.skip("LEASE_SCHEDULER_DATA is not set: no logs to read")
    return Path(data)


def _users(workload: Workload) -> int:
    return len({lease.request.user for lease in workload.leases})


def test_blue1_has_the_published_figures() -> None:
    """haizea, section 6.1: 5,108 leases of 5,545 jobs, 93 users, 66.86 % of at most an hour, 64.10 % of at most 4
    nodes.

    The last of the jobs, at 2,590,930 s, was cancelled in the queue; the last lease is submitted at 2,587,918 s.
    """
    shipped = package_resources.files("lease_scheduler.simulation") / "data" / "blue1.swf.gz"
    path = Path(str(shipped))
    workload = read_swf(path if path.exists() else _data() / "haizea" / "blue-30days.swf.gz")
    assert (len(workload.leases), _users(workload), workload.last_submission) == (5_108, 93, 2_587_918)
    assert workload.attributes["swf_jobs"] == "5545"
    assert workload.attributes["swf_cancelled"] == "437"
    assert workload.attributes["swf_last_submission"] == "2590930"
    requests = [lease.request for lease in workload.leases]
    assert round(sum(request.node_count <= 4 for request in requests) / 51.08, 2) == 64.10
    assert round(sum(request.duration <= 3_600 for request in requests) / 51.08, 2) == 66.86
    used = sum(
        lease.request.node_count
        * (min(MONTH, lease.request.submitted + (lease.real_duration or lease.request.duration)))
        - lease.request.node_count * lease.request.submitted
        for lease in workload.leases
    )
    assert round(used / (144 * MONTH), 4) == 0.6960


@pytest.mark.parametrize(
    ("name", "begin", "leases", "cancelled", "users", "last"),
    [
        ("BLUE1", 440_070, 5_113, 432, 93, 2_590_930),
        ("BLUE2", 70_154_553, 4_949, 0, 122, 2_591_876),
        ("DS", 4_293_741, 5_269, 1_887, 118, 2_590_365),
    ],
)
def test_the_windows_of_the_dissertation_have_their_leases(
    name: str, begin: int, leases: int, cancelled: int, users: int, last: int
) -> None:
    """haizea, section 6.1"""
    workload = read_swf(_data() / "windows" / f"{name}.swf.gz", SwfOptions(begin=begin, length=MONTH, scale=8))
    assert (len(workload.leases), _users(workload)) == (leases, users)
    assert workload.attributes["swf_cancelled"] == str(cancelled)
    assert workload.attributes["swf_last_submission"] == str(last)


def test_a_whole_log_is_cut_to_the_same_window() -> None:
    """haizea, section 6.1: DS is queues 2 and 3 of the log's present numbering."""
    data = _data()
    options = SwfOptions(begin=4_293_741, length=MONTH, scale=8, queues=frozenset({2, 3}))
    whole = read_swf(data / "pwa" / "SDSC-DS-2004-2.1-cln.swf.gz", options)
    assert whole.leases == read_swf(data / "windows" / "DS.swf.gz", options).leases
