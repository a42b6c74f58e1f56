"""Modules by Nova's names, with the stand-ins."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from tests.functional.rehearsal.stand_ins import drivers, services


class NovaException(Exception):
    """Stands for Nova's error."""


class AllocationDeleteFailed(NovaException):
    """Stands for Nova's error."""

    def __init__(self, **said: Any) -> None:
        super().__init__(str(said))


class SchedulerReportClient:
    """What Nova calls to release allocations; tests replace its method."""

    def delete_allocation_for_instance(
        self, context: Any, uuid: str, consumer_type: str = "instance", force: bool = False
    ) -> bool:
        return True


def releases(consumer_id: str, consumer_type: str) -> bool:
    """Return whether Nova may release what a consumer has."""
    try:
        SchedulerReportClient().delete_allocation_for_instance(None, consumer_id, consumer_type)
    except AllocationDeleteFailed:
        return False
    return True


_ARRIVES = object()


def _arrives(*_: Any, **__: Any) -> object:
    return _ARRIVES


_MESSAGES = (
    "shelve_instance",
    "unshelve_instance",
    "stop_instance",
    "start_instance",
    "terminate_instance",
    "snapshot_instance",
)


class ComputeAPI:
    """The messages to nova-compute; those whose method is replaced are lost."""


class ComputeManager:
    """What nova-compute does with messages; what is replaced is not done."""


for _name in _MESSAGES:
    setattr(ComputeAPI, _name, _arrives)
    setattr(ComputeManager, _name, _arrives)


def delivers(method: str, server_id: str) -> bool:
    """Return whether a message arrives and is heeded."""
    return all(getattr(kind, method, _arrives)() is _ARRIVES for kind in (ComputeAPI, ComputeManager))


class CinderFixture:
    """Stands for Nova's."""

    IMAGE_BACKED_VOL = "6ca404f3-d844-4169-bb96-bc792f37de98"


CINDER = SimpleNamespace(create=mock.Mock())


def create_volumes(server: Any) -> None:
    """Create the volumes that a server is to have of its image."""
    for each in server.volumes:
        if each.size_gb is not None:
            CINDER.create(None, each.size_gb, "", "", volume_type=each.volume_type)


class _Configuration:
    """Nova's options, as the present test has set them."""

    def __getattr__(self, name: str) -> Any:
        return _case().conf[name]


def _case() -> Any:
    from tests.functional.rehearsal.stand_ins.case import ModelTestCase

    return ModelTestCase.current


@contextmanager
def _target_cell(context: Any, store: Any) -> Iterator[Any]:
    yield store


class _Instances:
    @staticmethod
    def get_by_uuid(store: Any, server_id: str) -> services.InstanceRecord:
        return services.InstanceRecord(store.servers[server_id])


class _BlockDevices:
    @staticmethod
    def get_by_instance_uuid(store: Any, server_id: str) -> list[Any]:
        return [
            SimpleNamespace(
                volume_id=each.id,
                boot_index=0 if each.is_root else None,
                delete_on_termination=each.delete_on_termination,
                image_id=each.image_id,
            )
            for each in store.servers[server_id].volumes
        ]


class _PciDevices:
    @staticmethod
    def get_by_instance_uuid(context: Any, server_id: str) -> list[Any]:
        cloud = _case().cloud
        held = cloud.placement.held(server_id)
        named = [cloud.placement.providers[each].name for each in held]
        return [SimpleNamespace(address=name.partition("_")[2]) for name in named if ":" in name]


FAKE = ModuleType("nova.virt.fake")
vars(FAKE).update(
    FakeDriver=drivers.FakeDriver,
    MediumFakeDriver=drivers.MediumFakeDriver,
    FakeDriverWithCaching=drivers.FakeDriverWithCaching,
)


def install() -> None:
    """Make the stand-ins importable by Nova's names."""
    from tests.functional.rehearsal.stand_ins.case import ModelTestCase

    def no_cache() -> None:
        return None

    devices = SimpleNamespace(BlockDeviceMappingList=_BlockDevices)
    named: dict[str, Any] = {
        "nova.tests.functional.integrated_helpers": {"ProviderUsageBaseTestCase": ModelTestCase},
        "nova.tests.fixtures": {"CinderFixture": CinderFixture},
        "nova.exception": {"NovaException": NovaException, "AllocationDeleteFailed": AllocationDeleteFailed},
        "nova.scheduler.client.report": {"SchedulerReportClient": SchedulerReportClient},
        "nova.conf": {"CONF": _Configuration()},
        "nova.context": {"get_admin_context": lambda: None, "target_cell": _target_cell},
        "nova.objects.block_device": vars(devices),
        "nova.objects.diagnostics": {"Diagnostics": drivers.Diagnostics},
        "nova.objects": {"Instance": _Instances, "PciDeviceList": _PciDevices},
        "nova.db.main.api": {"get_engine": lambda context: services.Database(context)},
        "nova.pci.request": {"get_alias_from_config": SimpleNamespace(cache_clear=no_cache)},
        "nova.volume.cinder": {"API": CINDER},
        "nova.compute.rpcapi": {"ComputeAPI": ComputeAPI},
        "nova.compute.manager": {"ComputeManager": ComputeManager},
    }
    sys.modules["nova.virt.fake"] = FAKE
    for name, contents in named.items():
        vars(_module(name)).update(contents)
    _module("nova.virt.fake")


def _module(name: str) -> ModuleType:
    """Return a module, which is made with the packages above it unless it is there."""
    if name not in sys.modules:
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = []
    above, _, last = name.rpartition(".")
    if above:
        setattr(_module(above), last, sys.modules[name])
    return sys.modules[name]
