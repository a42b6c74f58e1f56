"""Papers that other packages bring along."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "doc" / "source" / "contributor"


def test_the_experiment_of_the_documentation_is_found_by_its_entry_point(tmp_path: Path) -> None:
    package = tmp_path / "example-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[lease_scheduler.papers]\nqueue = experiment_paper:PAPER\n")
    for name in ("experiment_example.py", "experiment_paper.py"):
        (tmp_path / name).write_text((PAGES / name).read_text())
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    words = ["experiment", "queue-1", "--seeds", "2", "--quiet", "--output", "out"]
    found = subprocess.run(
        [sys.executable, "-m", "lease_scheduler.cmd.lease_sim", *words],
        cwd=tmp_path,
        env=environment,
        check=True,
        timeout=120,
        capture_output=True,
        text=True,
    )
    assert "1 of 1 figures lie in their bands." in found.stdout
    assert len((tmp_path / "out" / "runs.jsonl").read_text().splitlines()) == 4


def test_the_example_is_short() -> None:
    lines = [(PAGES / name).read_text().count("\n") for name in ("experiment_example.py", "experiment_paper.py")]
    assert sum(lines) < 120
