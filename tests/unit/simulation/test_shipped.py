"""The workloads that come with the package."""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.simulation.formats.lwf import read_lwf, write_lwf
from lease_scheduler.simulation.formats.swf import SwfOptions
from lease_scheduler.simulation.generators.reservations import generate_reservations, preset_by_name
from lease_scheduler.simulation.shipped import (
    SHIPPED_SEED,
    find_workload,
    load_workload,
    shipped_names,
    shipped_path,
)

BLUE1_SHA256 = "04c6c1795e1c8ce7ebb8f7beb1a403c2cd954c12e608a174f0b9cf003412307e"


def test_every_name_has_its_file() -> None:
    assert shipped_names() == ("blue1", "t10", "t20", "t30")
    for name in shipped_names():
        assert load_workload(name).leases


@pytest.mark.parametrize(("name", "leases"), [("t10", 71), ("t20", 191), ("t30", 433)])
def test_reservation_sets_are_what_the_generator_makes(tmp_path: Path, name: str, leases: int) -> None:
    """Byte for byte after decompression; compressed bytes depend on the version of the library."""
    write_lwf(generate_reservations(preset_by_name(name), SHIPPED_SEED), tmp_path / "again.lwf")
    shipped = shipped_path(name).read_bytes()
    assert gzip.decompress(shipped) == (tmp_path / "again.lwf").read_bytes()
    assert shipped[4:8] == bytes(4), "the compressed file has a time stamp"
    assert len(read_lwf(shipped_path(name)).leases) == leases


@pytest.mark.skipif(
    "LEASE_SCHEDULER_DATA" not in os.environ, reason="needs the recorded data; set LEASE_SCHEDULER_DATA to its folder"
)
def test_blue1_is_a_copy_of_its_source() -> None:
    source = Path(os.environ["LEASE_SCHEDULER_DATA"]) / "haizea" / "blue-30days.swf.gz"
    assert shipped_path("blue1").read_bytes() == source.read_bytes()


def test_blue1_is_unchanged() -> None:
    content = gzip.decompress(shipped_path("blue1").read_bytes())
    assert hashlib.sha256(content).hexdigest() == BLUE1_SHA256


def test_blue1_has_144_hosts() -> None:
    site = load_workload("blue1").site
    assert site is not None
    assert len(site) == 144
    smaller = load_workload("blue1", SwfOptions(nodes=100)).site
    assert smaller is not None
    assert len(smaller) == 100


def test_a_file_goes_before_a_shipped_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_workload("t20") == shipped_path("t20")
    Path("t20").write_text("not a workload\n")
    assert find_workload("t20") == Path("t20")
    with pytest.raises(InputFileError, match="t20:1: "):
        load_workload("t20")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="there is no shipped workload 't40'; known are blue1, t10, t20, t30"):
        shipped_path("t40")
    with pytest.raises(InputFileError, match="t40: cannot be read"):
        load_workload("t40")
