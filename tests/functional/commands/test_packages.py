"""The packages that are built from the repository: they are complete, and work where nothing else is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from configparser import ConfigParser
from pathlib import Path

import pytest

from lease_scheduler.store.sql import migrate

_ROOT = Path(__file__).parents[3]
_ENVIRONMENT = {**os.environ, "PBR_VERSION": "0.1.0.dev0"}


def _tracked() -> list[str]:
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=_ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only git knows which files belong to the project")
    # A file that was removed, but not yet from the index, belongs to it no more.
    return [name for name in listed.splitlines() if (_ROOT / name).exists()]


def _run(words: Sequence[str], folder: Path) -> str:
    ended = subprocess.run(
        words, cwd=folder, env=_ENVIRONMENT, capture_output=True, text=True, timeout=1_800, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(name="archive", scope="module")
def _archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked archive of the source. There is no git in it that could tell pbr which files to take."""
    folder = tmp_path_factory.mktemp("archive")
    for name in _tracked():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((_ROOT / name).read_bytes())
    return folder


def _pip(*words: str) -> list[str]:
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", *words]


def test_a_wheel_has_every_file_of_the_package(archive: Path, tmp_path: Path) -> None:
    """The calendar page, templates of mails and recorded workloads are not Python, and needed all the same."""
    _run(_pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), "."), archive)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
        packed = ConfigParser(delimiters="=")
        packed.read_string(opened.read(entry_points).decode())
    assert {name for name in _tracked() if name.startswith("lease_scheduler/")} - names == set()
    setup = ConfigParser()
    setup.read(_ROOT / "setup.cfg")
    programs = {line.partition("=")[0].strip() for line in setup["entry_points"]["console_scripts"].split("\n")} - {""}
    assert set(packed["console_scripts"]) == programs


@pytest.mark.slow
def test_archive_and_wheel_work_in_an_empty_environment(archive: Path, tmp_path: Path) -> None:
    """The wheel comes from the source archive, so it has no more than that. Takes all dependencies from PyPI."""
    build, empty = tmp_path / "build", tmp_path / "empty"
    for folder in (build, empty):
        _run([sys.executable, "-m", "venv", str(folder)], tmp_path)
    # What an isolated build has: [build-system] requires.
    _run([str(build / "bin" / "pip"), "install", "--quiet", "pbr>=7.0.0", "setuptools>=77.0.0"], tmp_path)
    hook = "import sys, pbr.build; getattr(pbr.build, sys.argv[1])(sys.argv[2])"
    _run([str(build / "bin" / "python"), "-c", hook, "build_sdist", str(tmp_path)], archive)
    (packed,) = tmp_path.glob("*.tar.gz")
    _run(["tar", "xzf", str(packed)], tmp_path)
    _run([str(build / "bin" / "python"), "-c", hook, "build_wheel", str(tmp_path)], tmp_path / packed.name[:-7])
    (wheel,) = tmp_path.glob("*.whl")
    _run([str(empty / "bin" / "pip"), "install", "--quiet", str(wheel)], tmp_path)
    _run([str(empty / "bin" / "pip"), "check"], tmp_path)
    installed = {line.partition("==")[0] for line in _run([str(empty / "bin" / "pip"), "freeze"], tmp_path).split("\n")}
    assert not {"cliff", "lxml", "matplotlib", "osc-lib", "statsmodels"} & installed
    refused = subprocess.run([empty / "bin" / "lease-sim"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.endswith("pip install 'lease-scheduler[simulator]'\n")
    path = tmp_path / "service.conf"
    path.write_text(
        f"[database]\nconnection = sqlite:///{tmp_path}/test.sqlite\n"
        f"[service]\ncloud = simulated\nstate_path = {tmp_path}/state\n"
    )
    options = ["--config-file", str(path)]
    told = _run([str(empty / "bin" / "lease-scheduler-manage"), *options, "db", "sync"], tmp_path)
    assert told == f"the tables are at revision {migrate.newest()}\n"
    check = [str(empty / "bin" / "lease-scheduler-status"), *options, "upgrade", "check"]
    ended = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    # Tables and options are right; that the cloud is simulated is worth a warning.
    assert ended.returncode == 1, ended
    assert ended.stdout.count("Result: Success") == 2, ended.stdout
    assert ended.stdout.count("Result: Warning") == 1, ended.stdout
