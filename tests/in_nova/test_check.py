"""The check of a nova-scheduler's configuration, as operators run it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nova.conf
import pytest

from lease_scheduler.nova import check

FILTER = "available_filters = lease_scheduler.nova.lease_filter.LeaseFilter\n"
ALL = "available_filters = nova.scheduler.filters.all_filters\n"
ENABLED = "enabled_filters = ComputeFilter,LeaseFilter\n"
WEIGHERS = "weight_classes = nova.scheduler.weights.all_weighers,lease_scheduler.nova.lease_weigher.LeaseWeigher\n"


@pytest.fixture(autouse=True)
def configuration() -> Iterator[None]:
    """Leaves Nova's options as the other tests of the process have them."""
    yield
    nova.conf.CONF.reset()


def _file(folder: Path, text: str) -> list[str]:
    path = folder / "nova.conf"
    path.write_text(text)
    return ["--config-file", str(path)]


def test_a_complete_configuration(tmp_path: Path) -> None:
    """As a program."""
    text = f"[filter_scheduler]\n{ALL}{FILTER}{ENABLED}{WEIGHERS}[lease_scheduler]\nfreepool = mine\n"
    command = [sys.executable, "-W", "ignore", "-m", "lease_scheduler.nova.check", *_file(tmp_path, text)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (said.returncode, said.stderr) == (0, ""), said
    assert said.stdout == "LeaseFilter and LeaseWeigher are loaded; the pool is the aggregate mine\n"


@pytest.mark.parametrize(
    ("lines", "lacking"),
    [
        ("", ["available_filters", "enabled_filters", "weight_classes"]),
        (ALL + ENABLED + WEIGHERS, ["available_filters", "enabled_filters"]),
        (ALL + FILTER + WEIGHERS, ["enabled_filters"]),
        (ALL + FILTER + ENABLED, ["weight_classes"]),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, lacking: list[str]
) -> None:
    assert check.main(_file(tmp_path, f"[filter_scheduler]\n{lines}")) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split()[1] for line in said.err.splitlines()] == lacking


@pytest.mark.parametrize(
    "text", ["[filter_scheduler]\navailable_filters = nowhere.LeaseFilter\n", "this is no configuration\n"]
)
def test_a_configuration_that_nova_cannot_use(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert check.main(_file(tmp_path, text)) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("nova-scheduler cannot use this configuration: ")


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["--config-file", str(tmp_path / "none.conf")]) == 1
    assert "nova-scheduler cannot use this configuration: " in capsys.readouterr().err
