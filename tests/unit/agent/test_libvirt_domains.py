"""A libvirt with faults: away and back, domains that end meanwhile, weights that are refused (issue 22)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.agent.hypervisor import HypervisorAwayError, RunningServer, SharesRefusedError
from lease_scheduler.agent.libvirt_domains import Libvirt
from lease_scheduler.model.errors import InvalidValueError


class LibvirtError(Exception):
    """Stands for ``libvirt.libvirtError``."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self._code = code

    def get_error_code(self) -> int:
        return self._code


class Domain:
    """Stands for ``libvirt.virDomain``."""

    def __init__(self, defined: int = 0) -> None:
        self.live, self.defined = defined or 100, defined
        self.is_active, self.is_persistent, self.fault = True, True, ""

    def UUIDString(self) -> str:
        return "a-server"

    def isActive(self) -> bool:
        return self.is_active

    def isPersistent(self) -> bool:
        return self.is_persistent

    def info(self) -> list[int]:
        self._check()
        return [1, 0, 0, 2, 1_500_000_000]

    def schedulerParametersFlags(self, flags: int) -> dict[str, int]:
        self._check()
        return {"cpu_shares": self.live if flags == Module.VIR_DOMAIN_AFFECT_LIVE else self.defined}

    def setSchedulerParametersFlags(self, values: dict[str, int], flags: int) -> None:
        self._check()
        assert flags == Module.VIR_DOMAIN_AFFECT_LIVE, "what counts at the next start is Nova's"
        self.live = values["cpu_shares"]

    def _check(self) -> None:
        if self.fault or not self.is_active:
            raise LibvirtError(self.fault or "domain is not running", 55)


class Module:
    """Stands for the module of libvirt-python, and for its connections."""

    VIR_CONNECT_LIST_DOMAINS_ACTIVE, VIR_DOMAIN_AFFECT_LIVE, VIR_DOMAIN_AFFECT_CONFIG = 1, 1, 2
    VIR_ERR_NO_DOMAIN = 42
    libvirtError = LibvirtError

    def __init__(self) -> None:
        self.domain = Domain()
        self.is_away = self.is_broken = False
        self.opened = 0

    def registerErrorHandler(self, handler: object, context: object) -> None:
        pass

    def open(self, uri: str) -> Module:
        if self.is_away:
            raise LibvirtError("Failed to connect socket")
        self.opened, self.is_broken = self.opened + 1, False
        return self

    def isAlive(self) -> bool:
        return not self.is_broken

    def getInfo(self) -> list[Any]:
        return ["x86_64", 1024, 8]

    def listAllDomains(self, flags: int) -> list[Domain]:
        if self.is_broken or self.is_away:
            raise LibvirtError("client socket is closed")
        return [self.domain]

    def lookupByUUIDString(self, server_id: str) -> Domain:
        if server_id != "a-server":
            raise LibvirtError("Domain not found", self.VIR_ERR_NO_DOMAIN)
        return self.domain


@pytest.fixture
def module() -> Module:
    return Module()


@pytest.fixture
def libvirt(module: Module, tmp_path: Path) -> Libvirt:
    return Libvirt("qemu:///system", lambda: module, tmp_path)


def test_servers_are_the_running_domains_with_their_weights(module: Module, libvirt: Libvirt, tmp_path: Path) -> None:
    assert libvirt.cpus() == 8
    assert libvirt.servers() == {"a-server": RunningServer(2, 100, 100, 1.5)}
    libvirt.set_shares("a-server", 30)
    assert libvirt.servers() == {"a-server": RunningServer(2, 30, 100, 1.5)}
    module.domain.defined = 200
    assert libvirt.servers()["a-server"].usual_shares == 200
    module.domain.is_persistent = False
    assert libvirt.servers()["a-server"].usual_shares == 100
    assert Libvirt("qemu:///system", lambda: module, tmp_path / "none").scale.cpu == 1024
    assert module.opened == 1


def test_a_lost_connection_is_made_again(module: Module, libvirt: Libvirt) -> None:
    libvirt.servers()
    module.is_broken = module.is_away = True
    for _ in range(2):
        with pytest.raises(HypervisorAwayError, match=r"qemu:///system does not answer: Failed to connect"):
            libvirt.servers()
    module.is_away = False
    assert libvirt.servers()
    assert module.opened == 2


def test_a_domain_that_ends_meanwhile_is_left_out(module: Module, libvirt: Libvirt) -> None:
    module.domain.is_active = False
    assert libvirt.servers() == {}
    libvirt.set_shares("a-server", 30)
    libvirt.set_shares("gone", 30)


def test_a_weight_that_libvirt_refuses_is_an_error(module: Module, libvirt: Libvirt) -> None:
    module.domain.fault = "cgroup CPU controller is not mounted"
    with pytest.raises(SharesRefusedError, match="not mounted"):
        libvirt.set_shares("a-server", 30)
    with pytest.raises(HypervisorAwayError, match="not mounted"):
        libvirt.servers()


def test_without_libvirt_python_the_option_is_named() -> None:
    def missing() -> Any:
        raise ImportError("no module named libvirt")

    with pytest.raises(InvalidValueError, match=r"agent\.hypervisor.*pip install lease-scheduler\[agent\]"):
        Libvirt("qemu:///system", missing)
