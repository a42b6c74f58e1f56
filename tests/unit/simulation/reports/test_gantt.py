"""The Gantt picture: its content, from the SVG's texts and the PNG's pixels, and its bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.reports.gantt import KIND_COLOURS, draw_gantt
from lease_scheduler.simulation.result import Occupation, RunResult


def texts(path: Path) -> Counter[str]:
    """Return how often each text is in an SVG; matplotlib puts every text that it draws as outlines into a comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return Counter(line.strip().removeprefix("<!-- ").removesuffix(" -->") for line in lines if "<!--" in line)


def share_of(path: Path, colour: str) -> float:
    """Return the share of the pixels of a PNG that have exactly this colour."""
    pixels: NDArray[np.float32] = matplotlib.image.imread(path)[..., :3]
    return float((np.abs(pixels - np.array(to_rgb(colour))).max(axis=-1) < 0.003).mean())


def many_hosts(result: RunResult, count: int) -> RunResult:
    """Return the same run on a larger site, whose other hosts stay idle."""
    return replace(result, site=Site.homogeneous(count, Resources({"VCPU": 100, "MEMORY_MB": 1024})))


def test_few_leases_are_bars_with_their_ids(four_hosts: RunResult, tmp_path: Path) -> None:
    draw_gantt(four_hosts, tmp_path / "gantt.svg")
    shown = texts(tmp_path / "gantt.svg")
    assert {text: shown[text] for text in ("b1", "r1", "d1", "r2")} == {"b1": 2, "r1": 1, "d1": 1, "r2": 0}
    hosts = {f"host-{number}" for number in range(1, 5)}
    kinds = {kind.value for kind in LeaseKind}
    phases = {"resuming", "suspending", "shutting down"}
    assert hosts | kinds | phases | {"utilisation", "queued", "last submission"} <= set(shown)
    assert shown["four hosts: 5 leases on 4 hosts, 2.2 h"] == 1
    assert shown["minutes from the workload's zero"] == 1


@pytest.mark.parametrize("hosts", [4, 200])
def test_every_kind_that_ran_is_seen_in_its_colour(four_hosts: RunResult, tmp_path: Path, hosts: int) -> None:
    """As bars, and as an image."""
    draw_gantt(many_hosts(four_hosts, hosts), tmp_path / "gantt.png")
    assert all(share_of(tmp_path / "gantt.png", colour) > 0.0001 for colour in KIND_COLOURS.values())
    alone = replace(
        four_hosts, leases=four_hosts.leases[:1], occupations=(four_hosts.occupations[1],), site=four_hosts.site
    )
    draw_gantt(many_hosts(alone, hosts), tmp_path / "gantt.png")
    assert share_of(tmp_path / "gantt.png", KIND_COLOURS[LeaseKind.RESERVATION]) == 0


def test_many_hosts_are_numbered_and_have_no_bars(four_hosts: RunResult, tmp_path: Path) -> None:
    draw_gantt(many_hosts(four_hosts, 5_000), tmp_path / "gantt.svg")
    shown = texts(tmp_path / "gantt.svg")
    assert {"host", "1", "5,000", "suspending, resuming, shutting down"} <= set(shown)
    assert shown["b1"] == shown["host-1"] == shown["suspending"] == 0
    assert "<image" in (tmp_path / "gantt.svg").read_text(encoding="utf-8")


def test_many_leases_on_few_hosts_are_an_image(four_hosts: RunResult, tmp_path: Path) -> None:
    occupation = four_hosts.occupations[1]
    slices = tuple(replace(occupation, start=start, end=start + 1) for start in range(10_000, 11_600))
    draw_gantt(replace(four_hosts, occupations=slices), tmp_path / "gantt.svg")
    assert "<image" in (tmp_path / "gantt.svg").read_text(encoding="utf-8")


def test_a_window_shows_what_lies_in_it(four_hosts: RunResult, tmp_path: Path) -> None:
    draw_gantt(four_hosts, tmp_path / "gantt.svg", begin=3_700, end=6_500)
    shown = texts(tmp_path / "gantt.svg")
    assert shown["r1"] == 1
    assert shown["b1"] == shown["d1"] == shown["resuming"] == shown["last submission"] == 0


def test_ids_that_do_not_fit_are_left_out(four_hosts: RunResult, tmp_path: Path) -> None:
    name = "a-lease-whose-name-is-far-too-long-for-a-bar-of-a-thousand-seconds"
    deadline = replace(four_hosts.leases[2].request, lease_id=name)
    occupation = replace(four_hosts.occupations[0], lease_id=name)
    result = replace(four_hosts, leases=(Lease(deadline, 1),), occupations=(occupation,))
    draw_gantt(result, tmp_path / "gantt.svg")
    assert texts(tmp_path / "gantt.svg")[name] == 0
    draw_gantt(result, tmp_path / "gantt.svg", begin=900, end=1_900)
    assert texts(tmp_path / "gantt.svg")[name] == 1


@pytest.mark.parametrize("hosts", [4, 200])
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_same_run_gives_the_same_bytes(four_hosts: RunResult, tmp_path: Path, hosts: int, suffix: str) -> None:
    result = many_hosts(four_hosts, hosts)
    paths = [tmp_path / f"{name}.{suffix}" for name in ("first", "second")]
    for path in paths:
        draw_gantt(result, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    draw_gantt(replace(result, workload_name="another"), paths[1])
    assert paths[0].read_bytes() != paths[1].read_bytes()


def test_every_process_draws_the_same_bytes(tmp_path: Path) -> None:
    """Neither on the hash seed nor on the time of day."""
    program = (
        "import sys\n"
        "from lease_scheduler.model.host import Site\n"
        "from lease_scheduler.model.lease import Lease, LeaseKind, LeaseRequest, NodeSet\n"
        "from lease_scheduler.model.resources import Resources\n"
        "from lease_scheduler.simulation.reports.gantt import draw_gantt\n"
        "from lease_scheduler.simulation.result import Occupation, Phase, RunResult\n"
        "vm = Resources({'VCPU': 1})\n"
        "kinds = (LeaseKind.BEST_EFFORT, LeaseKind.IMMEDIATE)\n"
        "leases = tuple(Lease(LeaseRequest(k.value, k, (NodeSet(1, vm),), 0, 9), 0) for k in kinds)\n"
        "held = tuple(Occupation(k.value, p, 3 * i, 3 * i + 3, (j,)) for j, k in enumerate(kinds)\n"
        "             for i, p in enumerate(Phase))\n"
        "run = RunResult('run', Site.homogeneous(2, vm), leases, held, {}, 0, 12, 0, 0.0, 0)\n"
        "draw_gantt(run, sys.argv[1])\n"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", program, tmp_path / f"{seed}.svg"], env=environment, check=True)
    assert (tmp_path / "1.svg").read_bytes() == (tmp_path / "2.svg").read_bytes()


def test_a_run_of_no_length_is_drawn(four_hosts: RunResult, tmp_path: Path) -> None:
    empty = replace(four_hosts, leases=(), occupations=(), end=four_hosts.start, last_submission=four_hosts.start)
    draw_gantt(empty, tmp_path / "gantt.svg")
    assert texts(tmp_path / "gantt.svg")["four hosts: 0 leases on 4 hosts, 0 s"] == 1
    draw_gantt(many_hosts(empty, 200), tmp_path / "gantt.svg")
    assert texts(tmp_path / "gantt.svg")["host"] == 1


@pytest.mark.parametrize(("begin", "end"), [(10, 10), (20, 10), (8_000, None)])
def test_an_empty_window_is_refused(four_hosts: RunResult, tmp_path: Path, begin: int, end: int | None) -> None:
    with pytest.raises(InvalidValueError, match="begin: must be before the end"):
        draw_gantt(four_hosts, tmp_path / "gantt.png", begin=begin, end=end)
    assert list(tmp_path.iterdir()) == []


def test_leases_of_one_kind_beside_each_other_differ(four_hosts: RunResult, tmp_path: Path) -> None:
    """In an image, where bars have no edges."""
    lease = four_hosts.leases[0]
    vms = replace(lease.request.nodes[0], count=100)
    leases = tuple(
        replace(lease, sequence=number, request=replace(lease.request, lease_id=str(number), nodes=(vms,)))
        for number in range(2)
    )
    occupations = tuple(
        Occupation(str(number), four_hosts.occupations[1].phase, 10_000, 18_000, tuple(range(number, 200, 2)))
        for number in range(2)
    )
    draw_gantt(replace(many_hosts(four_hosts, 200), leases=leases, occupations=occupations), tmp_path / "gantt.png")
    pixels: NDArray[np.float32] = matplotlib.image.imread(tmp_path / "gantt.png")[200:600, 900, :3]
    assert len(np.unique(pixels.round(2), axis=0)) == 2
