"""Leases the machines of a rack. Each leased machine has a file that names its project, for the server that boots it.

The folder contains ``machines.json``, which the operator writes, and what the driver writes: ``leased/<machine>``, and
``pool.json`` with the machines that leases may use.
"""

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from oslo_config import cfg

from lease_scheduler.cloud.configured import ConfiguredCloud
from lease_scheduler.cloud.driver import Driver
from lease_scheduler.cloud.facts import Footprint, Hypervisor
from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.engine.interfaces import OperationKind, WaitingClock
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST


class RackDriver(Driver):
    """See ``Driver``. It has no ability and no capability beyond the core: whole machines are leased."""

    def __init__(self, folder: Path, clock: WaitingClock) -> None:
        self._folder = folder
        self._clock = clock
        (folder / "leased").mkdir(exist_ok=True)

    def steps(self, order: AnyOrder) -> tuple[str, ...]:
        if isinstance(order, Removal) or order.operation.kind is OperationKind.STOP:
            return ("return",)
        return ("return-others", "take")

    def perform(self, order: AnyOrder, step: str) -> int | None:
        wanted = set(order.hosts) if isinstance(order, Order) else set()
        if step == "take":
            return None if all(self._take(machine, order) for machine in sorted(wanted)) else self._clock.now() + 1
        for machine, lease_id in self._leased().items():
            if lease_id == order.lease_id and (step == "return" or machine not in wanted):
                (self._folder / "leased" / machine).unlink(missing_ok=True)
        return None

    def footprints(self) -> Iterable[Footprint]:
        leased = self._leased()
        for lease_id in set(leased.values()):
            machines = frozenset(machine for machine, other in leased.items() if other == lease_id)
            yield Footprint(lease_id, "active", machines)

    def hypervisors(self, names: Collection[str] | None = None) -> Iterable[Hypervisor]:
        machines = json.loads((self._folder / "machines.json").read_text())
        for name, size in machines.items():
            if names is None or name in names:
                capacity = {"VCPU": size["vcpus"], "MEMORY_MB": size["memory_mb"], HOST_SHARE: WHOLE_HOST}
                yield Hypervisor(name, size["vcpus"], size["memory_mb"], 0, capacity)

    def set_pool(self, names: Collection[str]) -> None:
        self._write("pool.json", sorted(names))

    def pool(self) -> frozenset[str]:
        path = self._folder / "pool.json"
        return frozenset(json.loads(path.read_text())) if path.exists() else frozenset()

    def _leased(self) -> dict[str, str]:
        """Return the machines that leases have, with the ids of the leases."""
        return {path.name: json.loads(path.read_text())["lease_id"] for path in (self._folder / "leased").iterdir()}

    def _take(self, machine: str, order: AnyOrder) -> bool:
        """Let a lease have a machine. Return whether it has it."""
        if machine not in self._leased():
            project_id = order.document.project_id if order.document is not None else None
            self._write(f"leased/{machine}", {"lease_id": order.lease_id, "project_id": project_id})
        return self._leased()[machine] == order.lease_id

    def _write(self, name: str, content: object) -> None:
        # Written beside and moved, so that nobody ever reads a half.
        beside = self._folder / f"{name.replace('/', '-')}.new"
        beside.write_text(json.dumps(content))
        os.replace(beside, self._folder / name)


class ConfiguredRack(ConfiguredCloud):
    """The rack that ``[rack] folder`` names."""

    def driver(self, clock: WaitingClock) -> Driver:
        self.conf.register_opt(cfg.StrOpt("folder", required=True, help="Folder of machines.json"), "rack")
        return RackDriver(Path(self.conf.rack.folder), clock)
