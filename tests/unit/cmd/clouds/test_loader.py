"""Which cloud the options select, and its description of itself."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from oslo_config import cfg

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.clouds.loader import configured_cloud, warn_of_simulation
from lease_scheduler.cmd.options.service import service_options
from lease_scheduler.model.errors import InvalidValueError

_PACKAGE = """
from lease_scheduler.cloud.configured import ConfiguredCloud


class Slow(ConfiguredCloud):
    preparation_time = 77

    def driver(self, clock):
        return "the driver"

    def upgrade_warning(self):
        return "set x = 1"


def from_configuration(conf, clock):
    return "the driver"
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with third-party clouds."""
    metadata = tmp_path / "clouds_of_others-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: clouds-of-others\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        "[lease_scheduler.cloud]\nslow = clouds_of_others:Slow\nold = clouds_of_others:from_configuration\n"
    )
    (tmp_path / "clouds_of_others.py").write_text(_PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("stevedore.extension.ExtensionManager.ENTRY_POINT_CACHE", {})
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "clouds_of_others", raising=False)


def _load(tmp_path: Path, name: str) -> cfg.ConfigOpts:
    path = tmp_path / "service.conf"
    path.write_text(f"[service]\ncloud = {name}\n[nova]\npreparation_time = 33\n")
    return configuration.load(["--config-file", str(path)])


@pytest.mark.parametrize(("name", "seconds"), [("simulated", 0), ("nova", 33)])
def test_preparation_time(tmp_path: Path, name: str, seconds: int) -> None:
    conf = _load(tmp_path, name)
    assert configured_cloud(conf).preparation_time == seconds
    assert service_options(conf).engine.preparation_time == seconds


def test_the_simulated_cloud_trusts_everybody_and_warns_of_nothing(tmp_path: Path) -> None:
    cloud = configured_cloud(_load(tmp_path, "simulated"))
    assert cloud.trustee() is None
    assert cloud.upgrade_warning() is None


@pytest.mark.parametrize(
    ("name", "warning"), [("simulated", ["the 144 hosts of the cloud are invented"]), ("nova", []), ("slow", [])]
)
def test_a_simulated_cloud_is_reported_at_start(
    tmp_path: Path, plugin: None, caplog: pytest.LogCaptureFixture, name: str, warning: list[str]
) -> None:
    with caplog.at_level("WARNING"):
        warn_of_simulation(_load(tmp_path, name))
    assert len(caplog.messages) == len(warning)
    assert all(part in message for part, message in zip(warning, caplog.messages, strict=True))


def test_a_cloud_must_be_named() -> None:
    with pytest.raises(InvalidValueError, match="service.cloud: is needed: nova, or simulated"):
        configured_cloud(configuration.load([], find_files=False))


def test_a_cloud_of_others_has_a_preparation_time_too(tmp_path: Path, plugin: None) -> None:
    conf = _load(tmp_path, "slow")
    assert service_options(conf).engine.preparation_time == 77
    assert configured_cloud(conf).upgrade_warning() == "set x = 1"


@pytest.mark.parametrize(
    ("name", "problem"), [("absent", "there is no cloud driver 'absent'"), ("old", "must be a subclass of Configured")]
)
def test_what_is_no_cloud(tmp_path: Path, plugin: None, name: str, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        configured_cloud(_load(tmp_path, name))
