"""The watcher that the options describe."""

from __future__ import annotations

from pathlib import Path

import pytest
from oslo_config import cfg

from lease_scheduler.cloud.nova.api.flavors import FlavorCatalogue
from lease_scheduler.cloud.nova.api.hosts import Hosts
from lease_scheduler.cloud.nova.api.pci_aliases import PciAliases
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.cloud.nova.watch.watcher import Watcher
from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.clouds.nova import ConfiguredNova
from lease_scheduler.model.errors import InvalidValueError


def _load(path: Path, lines: str = "") -> cfg.ConfigOpts:
    path.write_text(
        "[service]\nsite = west\n[nova]\nauth_type = password\nauth_url = http://127.0.0.1:1/\nusername = us\n"
        "password = p\nproject_name = service\nuser_domain_id = default\nproject_domain_id = default\n" + lines
    )
    return configuration.load(["--config-file", str(path)])


def _make(conf: cfg.ConfigOpts) -> Watcher:
    cloud = ConfiguredNova(conf)
    connection = cloud.connection()
    hosts = Hosts(connection.nova_with_facts, Placement(connection.placement))
    return cloud.watching(connection)(
        hosts, FlavorCatalogue(connection.nova, PciAliases()), lambda lease_id: True, lambda: ()
    )


@pytest.mark.parametrize(
    "line",
    ["a100", '{"name": "a100"}', '{"name": "fpga", "resource_class": "fpga"}', '{"resource_class": "CUSTOM_FPGA"}'],
)
def test_pci_aliases_that_nova_would_not_accept_are_refused_at_start(tmp_path: Path, line: str) -> None:
    with pytest.raises(InvalidValueError, match=r"nova\.pci_alias"):
        ConfiguredNova(_load(tmp_path / "service.conf", f"pci_alias = {line}\n"))


def test_by_default_nova_is_listened_to(tmp_path: Path) -> None:
    watcher = _make(_load(tmp_path / "service.conf"))
    listener = watcher._listener
    assert listener is not None
    described = vars(listener)
    assert described["_queue"] == "lease-scheduler.west"
    assert [(target.exchange, target.topic) for target in described["_targets"]] == [
        ("nova", "versioned_notifications")
    ]
    assert watcher._inspector is not None and watcher._inspector._interval == 60


@pytest.mark.parametrize("topics", ["", "one, two"])
def test_topics(tmp_path: Path, topics: str) -> None:
    lines = f"notification_topics = {topics}\nnotification_exchange = cell\ninspect_interval = 5\n"
    watcher = _make(_load(tmp_path / "service.conf", lines))
    assert watcher._inspector is not None and watcher._inspector._interval == 5
    if not topics:
        assert watcher._listener is None
        return
    targets = vars(watcher._listener)["_targets"]
    assert [(target.exchange, target.topic) for target in targets] == [("cell", "one"), ("cell", "two")]
