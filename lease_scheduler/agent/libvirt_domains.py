"""The servers of libvirt on this host (extra ``agent``: libvirt-python)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lease_scheduler.agent.hypervisor import HypervisorAwayError, RunningServer, Scale, SharesRefusedError
from lease_scheduler.model.errors import InvalidValueError

#: Weights of cgroups: the lowest, that of one CPU, the highest. A domain without a weight has that of one CPU.
_VERSION_1 = Scale(2, 1024, 262_144)
_VERSION_2 = Scale(1, 100, 10_000)

#: A file that only cgroups version 2 has.
_CONTROLLERS = Path("/sys/fs/cgroup/cgroup.controllers")

_SHARES = "cpu_shares"


class Libvirt:
    """The running domains of a libvirt, to which it connects again whenever the connection is lost.

    Only weights of running domains are changed: the definition of a domain keeps the weight that Nova gave it, which is
    what counts when the domain is started again.

    :param uri: such as ``qemu:///system``
    :param load: returns the module of libvirt-python
    :param controllers: exists where cgroups have version 2
    :raises InvalidValueError: libvirt-python is not installed
    """

    def __init__(
        self,
        uri: str,
        load: Callable[[], Any] = lambda: importlib.import_module("libvirt"),
        controllers: Path = _CONTROLLERS,
    ) -> None:
        try:
            self._libvirt = load()
        except ImportError as error:
            raise InvalidValueError(
                "agent.hypervisor", "libvirt needs libvirt-python: pip install lease-scheduler[agent]"
            ) from error
        # Otherwise libvirt prints every error to standard error by itself, too.
        self._libvirt.registerErrorHandler(lambda context, error: None, None)
        self._uri = uri
        self._connection: Any = None
        self.scale = _VERSION_2 if controllers.exists() else _VERSION_1

    def cpus(self) -> int:
        """See ``Hypervisor.cpus``."""
        with self._connected() as connection:
            return int(connection.getInfo()[2])

    def servers(self) -> Mapping[str, RunningServer]:
        """See ``Hypervisor.servers``."""
        with self._connected() as connection:
            running = connection.listAllDomains(self._libvirt.VIR_CONNECT_LIST_DOMAINS_ACTIVE)
            found = {domain.UUIDString(): self._read(domain) for domain in running}
        return {server_id: server for server_id, server in found.items() if server is not None}

    def set_shares(self, server_id: str, shares: int) -> None:
        """See ``Hypervisor.set_shares``."""
        with self._connected() as connection:
            try:
                domain = connection.lookupByUUIDString(server_id)
            except self._libvirt.libvirtError as error:
                if error.get_error_code() != self._libvirt.VIR_ERR_NO_DOMAIN:
                    raise
                return
            try:
                domain.setSchedulerParametersFlags({_SHARES: shares}, self._libvirt.VIR_DOMAIN_AFFECT_LIVE)
            except self._libvirt.libvirtError as error:
                if not self._is_alive():
                    raise
                if domain.isActive():
                    raise SharesRefusedError(str(error)) from error

    def _read(self, domain: Any) -> RunningServer | None:
        """Return what is known of a running domain, or None if it has ended meanwhile."""
        libvirt = self._libvirt
        try:
            _, _, _, vcpus, nanoseconds = domain.info()
            live = domain.schedulerParametersFlags(libvirt.VIR_DOMAIN_AFFECT_LIVE)
            defined = {}
            if domain.isPersistent():
                defined = domain.schedulerParametersFlags(libvirt.VIR_DOMAIN_AFFECT_CONFIG)
        except libvirt.libvirtError:
            if not self._is_alive() or domain.isActive():
                raise
            return None
        # libvirt says 0 where the definition says nothing.
        usual = defined.get(_SHARES) or self.scale.cpu
        return RunningServer(vcpus, live.get(_SHARES, usual), usual, nanoseconds / 1e9)

    def _is_alive(self) -> bool:
        try:
            return bool(self._connection.isAlive())
        except self._libvirt.libvirtError:
            return False

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """Give the connection to the block; after an error of libvirt, the next block makes a new one."""
        try:
            if self._connection is None or not self._is_alive():
                self._connection = self._libvirt.open(self._uri)
            yield self._connection
        except self._libvirt.libvirtError as error:
            self._connection = None
            raise HypervisorAwayError(f"libvirt at {self._uri} does not answer: {error}") from error
