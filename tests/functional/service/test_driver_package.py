"""The driver of another package that the documentation prints: an engine in this process leases with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.cmd import configuration, wiring
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.service.leading import EngineService
from lease_scheduler.store.sql import migrate
from tests.functional.lease_document import lease_document
from tests.functional.service.package import install
from tests.servers.base import wait_until

_LIMIT = 60.0
_PACKAGE = Path(__file__).parents[2] / "plugins" / "rack_driver"
_MACHINES = {f"rack-{number}": {"vcpus": 16, "memory_mb": 65_536} for number in (1, 2, 3)}

Lead = Callable[[], EngineService]


@pytest.fixture
def rack(tmp_path: Path) -> Path:
    folder = tmp_path / "rack"
    folder.mkdir()
    (folder / "machines.json").write_text(json.dumps(_MACHINES))
    return folder


@pytest.fixture
def lead(tmp_path: Path, rack: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lead]:
    """Starts an engine, which takes over from the one before."""
    install(_PACKAGE, tmp_path / "installed", monkeypatch)
    options = tmp_path / "rack.conf"
    options.write_text(f"[service]\ncloud = rack\n[rack]\nfolder = {rack}\n")
    conf = configuration.load(
        ["--config-file", str(options)],
        {
            ("database", "connection"): f"sqlite:///{tmp_path}/service.sqlite",
            ("service", "site"): "driver-package",
            ("service", "state_path"): str(tmp_path),
        },
    )
    wiring.default_transport(conf, "fake://")
    migrate.upgrade(wiring.database(conf))
    engines: list[EngineService] = []

    def start() -> EngineService:
        for engine in engines:
            engine.stop()
        engines[:] = [wiring.engine_service(conf, "engine")]
        engines[0].start()
        assert engines[0].leadership.is_leading.wait(_LIMIT)
        return engines[0]

    yield start
    for engine in engines:
        engine.stop()


def _whole(count: int, kind: str = "immediate", **terms: Any) -> dict[str, Any]:
    """Return a lease of whole machines for an hour."""
    reservation = {
        "id": str(uuid4()),
        "resource_type": "physical:host",
        "min": count,
        "max": count,
        "hypervisor_properties": "",
        "resource_properties": "",
    }
    return lease_document("machines", kind, duration=3_600, **{"reservations": [reservation], **terms})


def _leased(rack: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in (rack / "leased").iterdir():
        # The driver may remove it meanwhile.
        with suppress(FileNotFoundError):
            found[path.name] = json.loads(path.read_text())["lease_id"]
    return found


def test_a_lease_has_its_machines_until_its_end(lead: Lead, rack: Path) -> None:
    engine = lead()
    engine.methods["create_hosts"]({}, sorted(_MACHINES))
    first, second = _whole(2), _whole(1)
    for lease in (first, second):
        engine.methods["create_lease"]({}, lease)
    expected = sorted([first["id"], first["id"], second["id"]])
    assert wait_until(lambda: sorted(_leased(rack).values()) == expected, _LIMIT)

    engine.methods["delete_lease"]({}, first["id"], "not needed")
    assert wait_until(lambda: set(_leased(rack).values()) == {second["id"]}, _LIMIT)


def test_the_next_engine_knows_what_leases_have_and_removes_the_rest(lead: Lead, rack: Path) -> None:
    engine = lead()
    engine.methods["create_hosts"]({}, sorted(_MACHINES))
    lease = _whole(1)
    engine.methods["create_lease"]({}, lease)
    assert wait_until(lambda: list(_leased(rack).values()) == [lease["id"]], _LIMIT)
    (machine,) = _leased(rack)
    free = next(name for name in _MACHINES if name != machine)
    (rack / "leased" / free).write_text(json.dumps({"lease_id": "of nobody", "project_id": None}))

    lead()

    assert wait_until(lambda: _leased(rack) == {machine: lease["id"]}, _LIMIT)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"reservations": lease_document("part", "immediate")["reservations"]}, "nodes.exclusive.*whole hosts only"),
        ({"on_end": "snapshot"}, "on_end.*no images"),
        ({"preemption_mode": "shelve"}, "preemption_mode.*suspends no servers"),
    ],
)
def test_what_the_driver_cannot_do_is_refused(lead: Lead, terms: dict[str, Any], message: str) -> None:
    engine = lead()
    engine.methods["create_hosts"]({}, sorted(_MACHINES))
    with pytest.raises(RefusedError, match=message):
        engine.methods["create_lease"]({}, _whole(1, "best-effort", **{"preemption_mode": "delete", **terms}))
