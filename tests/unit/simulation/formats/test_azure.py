"""Traces of VMs in Azure (workloads 7): what becomes of them, and what is said of bad ones."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.resources import MEMORY_MB, VCPU
from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.simulation.formats.azure import AzureOptions, VmGroup, read_azure, read_vms
from lease_scheduler.simulation.formats.workload_file import read_workload

_FILES: Mapping[str, str] = {
    "v1.dev.txt": "600 b,|,b,g,b,b,|,\n900 g,|,\n1500 b,|,b,|,\n",
    "v1.dev.c7800.txt": "600 U0,|,U1,U2,U1,C2,|,\n900 U2,|,\n1500 C2,|,U1,|,\n",
    "flav_map.txt": "1,1.75 b\n2,3.5 g\n",
    "v1.interval_map.txt": "0 0\n300 1\n600 2\n900 2\n3600 2\n7200 2\n",
}


def _write(folder: Path, changed: Mapping[str, str | None] | None = None, *, is_packed: bool = False) -> Path:
    for name, text in {**_FILES, **(changed or {})}.items():
        if text is not None and is_packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        elif text is not None:
            (folder / name).write_text(text)
    return folder / ("v1.dev.txt.gz" if is_packed else "v1.dev.txt")


@pytest.mark.parametrize("is_packed", [False, True])
def test_alike_vms_of_a_batch_are_a_group(tmp_path: Path, is_packed: bool) -> None:
    assert list(read_vms(_write(tmp_path, is_packed=is_packed))) == [
        VmGroup(600, 1, 1, 1792, 1, 1, 299, True),
        VmGroup(600, 2, 1, 1792, 2, 300, 599, True),
        VmGroup(600, 2, 2, 3584, 1, 600, 7200, True),
        VmGroup(600, 2, 1, 1792, 1, 7200, 7200, False),
        # What ended did so before the cut.
        VmGroup(900, 3, 2, 3584, 1, 600, 6900, True),
        VmGroup(1500, 4, 1, 1792, 1, 6300, 6300, False),
        VmGroup(1500, 5, 1, 1792, 1, 300, 599, True),
    ]


def test_vms_become_immediate_leases(tmp_path: Path) -> None:
    """The content tells the format."""
    workload = read_workload(_write(tmp_path))
    assert (workload.name, workload.site) == ("v1.dev", None)
    assert workload.attributes == {"azure_vms": "8", "azure_batches": "5", "azure_running_at_cut": "2"}
    requests = [lease.request for lease in workload.leases]
    assert [request.lease_id for request in requests] == ["1", "2", "3", "4", "5", "6", "7"]
    assert [request.submitted for request in requests] == [0, 0, 0, 0, 300, 900, 900]
    assert {request.kind for request in requests} == {LeaseKind.IMMEDIATE}
    assert not any(request.preemptible for request in requests)
    (node_set,) = requests[1].nodes
    assert (node_set.count, node_set.resources[VCPU], node_set.resources[MEMORY_MB]) == (2, 100, 1792)
    assert requests[1].extras == {"Azure_batch": "2"}
    for lease, vms in zip(workload.leases, read_vms(tmp_path / "v1.dev.txt"), strict=True):
        assert vms.shortest <= lease.request.duration <= vms.longest
        assert lease.real_duration is None
    assert read_azure(tmp_path / "v1.dev.txt") == workload
    assert read_azure(tmp_path / "v1.dev.txt", AzureOptions(seed=2)) != workload


def test_a_part_of_a_trace_keeps_its_durations(tmp_path: Path) -> None:
    """What is left out changes no duration of the rest."""
    path = _write(tmp_path)
    whole, part = read_azure(path), read_azure(path, AzureOptions(begin=300, length=600))
    assert [(each.request.submitted, each.request.duration) for each in part.leases] == [
        (0, whole.leases[4].request.duration)
    ]
    assert part.attributes == {"azure_vms": "1", "azure_batches": "1", "azure_running_at_cut": "0"}


def test_whole_batches_are_kept_or_left_out(tmp_path: Path) -> None:
    lines = "".join(f"{300 * at} {'b,|,b,b,|,' * 20}\n" for at in range(1, 11))
    lives = "".join(f"{300 * at} {'U0,|,U0,U1,|,' * 20}\n" for at in range(1, 11))
    path = _write(tmp_path, {"v1.dev.txt": lines, "v1.dev.c7800.txt": lives})
    kept = read_azure(path, AzureOptions(sample=0.25))
    assert 60 <= int(kept.attributes["azure_batches"]) <= 140
    whole = {lease.request.extras["Azure_batch"]: 0 for lease in kept.leases}
    for lease in kept.leases:
        whole[lease.request.extras["Azure_batch"]] += lease.request.node_count
    assert all(count == (1 if int(batch) % 2 else 2) for batch, count in whole.items())


@pytest.mark.parametrize(
    ("changed", "at", "problem"),
    [
        ({"v1.dev.txt": "soon b,|,\n"}, "v1.dev.txt:1", "must begin with an instant in whole seconds"),
        ({"v1.dev.txt": "600 b,|,b,g,b,b,|,\n900 x,|,\n"}, "v1.dev.txt:2", "'x' is no flavor of flav_map.txt"),
        ({"v1.dev.txt": "600 b,|,b,g,b,b,|,\n600 g,|,\n"}, "v1.dev.txt:2", "must be later than the line before"),
        ({"v1.dev.txt": "600 b,|,b,g,b,b,|,\n7800 g,|,\n"}, "v1.dev.txt:2", "must be before the cut"),
        ({"v1.dev.txt": "600 b,|,b,g,b,b,|,\n"}, "v1.dev.c7800.txt:2", "has no such line"),
        ({"v1.dev.c7800.txt": "600 U0,|,U1,U2,U1,C2,|,\n"}, "v1.dev.txt:2", "has no such line"),
        ({"v1.dev.c7800.txt": "600 U0,|,\n"}, "v1.dev.c7800.txt:1", "must have the instant 600 and 7 tokens as in"),
        ({"v1.dev.c7800.txt": "600 U0,U0,U1,U2,U1,C2,|,\n"}, "v1.dev.c7800.txt:1", "has 'U0' where"),
        ({"v1.dev.txt": "600 b,|,b\n", "v1.dev.c7800.txt": "600 U0,|,U0\n"}, "v1.dev.txt:1", r"must end with '\|'"),
        ({"v1.dev.c7800.txt": "600 X0,|,U1,U2,U1,C2,|,\n"}, "v1.dev.c7800.txt:1", "token 'X0': must be U or C"),
        ({"v1.dev.c7800.txt": "600 U9,|,U1,U2,U1,C2,|,\n"}, "v1.dev.c7800.txt:1", "token 'U9': must be U or C"),
        ({"v1.dev.c7800.txt": "600 C1,|,U1,U2,U1,C2,|,\n"}, "v1.dev.c7800.txt:1", "token 'C1': means 300 to 599 s"),
        ({"v1.interval_map.txt": "0 0\n300 1\n9000 2\n"}, "v1.dev.c7800.txt:1", "token 'U2': means 9000 to 9299 s"),
        ({"v1.interval_map.txt": "0 0\n300\n"}, "v1.interval_map.txt:2", "must be <seconds> <bin>, not '300'"),
        ({"v1.interval_map.txt": "0 zero\n"}, "v1.interval_map.txt:1", "must be <seconds> <bin>, not '0' 'zero'"),
        ({"flav_map.txt": "1,0 b\n"}, "flav_map.txt:1", "must be <VCPU>,<GiB> <letter>"),
        ({"flav_map.txt": "1,2 b\n1,3 b\n"}, "flav_map.txt:2", "names 'b', which has another meaning"),
        ({"flav_map.txt": None}, "v1.dev.txt", r"needs one file \*flav_map.txt beside it; has none"),
        ({"v1.dev.c7800.txt": None}, "v1.dev.txt", r"needs one file of durations beside it, v1.dev.c<cut>.txt; has no"),
        ({"v1.dev.c9.txt": "\n"}, "v1.dev.txt", "has v1.dev.c7800.txt, v1.dev.c9.txt"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, changed: Mapping[str, str | None], at: str, problem: str) -> None:
    path = _write(tmp_path, changed)
    with pytest.raises(InputFileError, match=f"{at}: .*{problem}"):
        read_azure(path)


def test_the_file_of_durations_is_refused_as_a_trace(tmp_path: Path) -> None:
    _write(tmp_path)
    with pytest.raises(InputFileError, match="needs one file of durations beside it"):
        read_workload(tmp_path / "v1.dev.c7800.txt")


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"begin": -1}, "begin"), ({"length": -1}, "length"), ({"sample": 0.0}, "sample"), ({"sample": 1.1}, "sample")],
)
def test_bad_options_are_named(options: Mapping[str, int], problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        AzureOptions(**options)


@pytest.mark.parametrize("is_packed", [False, True])
def test_progress_is_reported_in_bytes_of_the_file(tmp_path: Path, is_packed: bool) -> None:
    """Up to the end, in bytes of the file as it is."""
    told: list[tuple[int, int]] = []

    def watch(done: int, size: int) -> None:
        told.append((done, size))

    path = _write(tmp_path, is_packed=is_packed)
    read_azure(path, watch=watch)
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert told == sorted(told)


@pytest.mark.data
def test_the_development_split_has_the_published_numbers() -> None:
    """Data README: 259,159 VMs in 53,109 batches, of which 14,317 VMs were running at the cut."""
    folder = data_folder()
    assert folder is not None
    workload = read_azure(folder / "azure-v1" / "v1.dev.txt.gz")
    assert workload.attributes == {"azure_vms": "259159", "azure_batches": "53109", "azure_running_at_cut": "14317"}
    assert sum(lease.request.node_count for lease in workload.leases) == 259_159
    assert (workload.leases[0].request.submitted, workload.last_submission) == (0, 299_700)
    cores = sum(lease.request.nodes[0].resources[VCPU] * lease.request.node_count for lease in workload.leases) / 100
    assert cores / 259_159 == pytest.approx(2.15, abs=0.005)
