"""Haizea's interactive simulation: the embedded service on a simulated cloud and the real clock (haizea F19).

A haizea.conf configures it. Besides the REST API and the calendar page, it answers Haizea's clients over XML-RPC.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions import ClientException
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session
from osc_lib.exceptions import CommandError
from oslo_config import cfg

from lease_scheduler.client.rest import SERVICE_TYPE, LeaseClient
from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cmd import configuration, wiring
from lease_scheduler.cmd.embedded import Embedded
from lease_scheduler.cmd.haizea.front import front_server
from lease_scheduler.cmd.haizea.logs import configure_service_log
from lease_scheduler.cmd.haizea.service_options import service_configuration
from lease_scheduler.cmd.signals import EndingSignals
from lease_scheduler.haizea.configuration.haizea_conf import InteractiveConf
from lease_scheduler.haizea.frontend.documents import Translation
from lease_scheduler.haizea.frontend.methods import Methods
from lease_scheduler.haizea.log_levels import STATUS
from lease_scheduler.haizea.status import StatusMessages
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.resources import DISK_GB, HOST_SHARE, MEMORY_MB, VCPU, WHOLE_HOST
from lease_scheduler.rpc.client import RpcEngineClient
from lease_scheduler.service.leading import EngineService
from lease_scheduler.simulation.shipped import load_workload

LOG = logging.getLogger(__name__)

_PERSISTENCE_FILE = "[general] persistence-file"
_SQLITE = b"SQLite format 3\0"

#: Number of XML-RPC calls that are answered at the same time.
_THREADS = 4

#: One VCPU stands for one of Haizea's units of CPU, a hundredth of a core, so that leases can have shares of cores. As
#: in Haizea, preemption saves the memory.
_TRANSLATION = Translation(cpu_units=1, preemption_mode="suspend")

#: Context of the requests that fill the pool, and maximum number of hosts in each of them.
_CONTEXT = {"request_id": "haizea", "project_id": None, "user_id": None}
_HOSTS_AT_ONCE = 500

#: Haizea's disks are in MB.
_DISK = "Disk"
_MB_IN_GB = 1_024


def run_interactive(
    haizea: InteractiveConf, port: int, api_port: int, log_file: Path | None, on_ready: Callable[[], None]
) -> None:
    """Run until a signal comes.

    :param port: port of XML-RPC, on loopback
    :param api_port: port of the REST API and the calendar page, on loopback; 0 for any free one
    :param log_file: file that the log goes to; None for standard error
    :param on_ready: called once the service answers
    :raises InvalidValueError: an option has a value that the service does not support
    """
    site = _site(haizea)
    if haizea.persistence_file is None:
        folder = Path(tempfile.mkdtemp(prefix="haizea-"))
        try:
            _run(haizea, site, folder / "leases", port, api_port, log_file, on_ready)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    else:
        _run(haizea, site, _checked(haizea.persistence_file.resolve()), port, api_port, log_file, on_ready)


def _run(
    haizea: InteractiveConf,
    site: Site,
    database: Path,
    port: int,
    api_port: int,
    log_file: Path | None,
    on_ready: Callable[[], None],
) -> None:
    conf = service_configuration(haizea, database, api_port)
    wiring.default_transport(conf, "fake://")
    configure_service_log(conf, configuration.PROJECT, haizea.log_level, log_file)

    def companion(conf: cfg.ConfigOpts, url: str, engine: EngineService) -> _Front:
        minutes = haizea.status_message_interval
        return _Front(
            site, url, engine, wiring.engine_client(conf), port, None if minutes is None else minutes * 60, on_ready
        )

    Embedded(conf, companion, _PERSISTENCE_FILE).run(EndingSignals())


def _site(haizea: InteractiveConf) -> Site:
    site = haizea.site
    if site is None and haizea.tracefile is not None:
        site = load_workload(str(haizea.tracefile)).site
    if site is None:
        raise InvalidValueError(
            "[simulation] resources", "no trace file names the hosts; write them as '4 CPU:100,Memory:1024'"
        )
    return site


def _checked(file: Path) -> Path:
    """Return the file if it is new, empty or an SQLite database; otherwise refuse it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size:
            with file.open("rb") as stream:
                if stream.read(len(_SQLITE)) != _SQLITE:
                    problem = f"{file} is not of this service; Haizea's own cannot be read, name a new file"
                    raise InvalidValueError(_PERSISTENCE_FILE, problem)
    except OSError as error:
        raise InvalidValueError(_PERSISTENCE_FILE, f"{file} cannot be used: {error.strerror}") from error
    return file


class _Front:
    """Companion of the embedded service, which fills the pool, answers XML-RPC and logs status messages.

    :param url: URL of the REST service
    :param engine: engine of the service, which does not run yet
    :param rpc: client of the engine
    :param status_interval: seconds between status messages; None for no messages
    """

    def __init__(
        self,
        site: Site,
        url: str,
        engine: EngineService,
        rpc: RpcEngineClient,
        port: int,
        status_interval: int | None,
        on_ready: Callable[[], None],
    ) -> None:
        self._url = url
        self._names = [host.name for host in site.hosts]
        self._rpc = rpc
        cloud = engine.driver
        assert isinstance(cloud, SimulatedCloud)
        cloud.add_hypervisors(_hypervisor(host) for host in site.hosts)
        adapter = Adapter(Session(auth=NoAuth()), service_type=SERVICE_TYPE, endpoint_override=f"{url}/v1")
        self._client = LeaseClient(adapter)
        self._methods = Methods(self._client, engine.clock.now, _TRANSLATION, all_projects=True)
        self._server = front_server(self._methods, "127.0.0.1", port, _THREADS)
        self._is_serving = False
        self._status: StatusMessages | None = None
        if status_interval is not None:
            self._status = StatusMessages(self._methods.live_leases, status_interval)
        self._on_ready = on_ready

    def start(self) -> None:
        """Fill the pool and start answering calls.

        :raises InvalidValueError: the pool of an earlier run has hosts that the site lacks, or hosts cannot be added
        """
        try:
            self._fill_pool()
        except (ClientException, CommandError, RefusedError) as error:
            raise InvalidValueError("[simulation] resources", f"cannot make these hosts: {error}") from error
        self._server.start()
        self._is_serving = True
        if self._status is not None:
            self._status.start()
        LOG.log(STATUS, "XML-RPC: %s   calendar page and API: %s", self._server.url, self._url)
        print(f"XML-RPC: {self._server.url}", flush=True)
        self._on_ready()

    def stop(self) -> None:
        """Stop answering calls."""
        if self._status is not None:
            self._status.stop()
        if self._is_serving:
            self._server.stop()

    def _fill_pool(self) -> None:
        there = {str(host["hypervisor_hostname"]) for host in self._client.request("GET", "/os-hosts", "1.0")["hosts"]}
        strange = sorted(there - set(self._names))
        if strange:
            problem = f"it knows hosts that [simulation] resources has not: {', '.join(strange[:5])}; name a new file"
            raise InvalidValueError(_PERSISTENCE_FILE, problem)
        missing = [name for name in self._names if name not in there]
        for first in range(0, len(missing), _HOSTS_AT_ONCE):
            self._rpc.create_hosts(_CONTEXT, missing[first : first + _HOSTS_AT_ONCE])


def _hypervisor(host: Host) -> Hypervisor:
    """Return the simulated compute host for a host of the site."""
    capacity = _amounts(host.capacity)
    return Hypervisor(
        name=host.name,
        vcpus=capacity.get(VCPU, 0),
        memory_mb=capacity.get(MEMORY_MB, 0),
        local_gb=capacity.get(DISK_GB, 0),
        capacity={**capacity, HOST_SHARE: WHOLE_HOST},
        max_unit=_amounts(host.max_unit),
        traits=tuple(sorted(host.traits)),
        hypervisor_type="simulated",
        hypervisor_version=1,
        service_name=host.name,
    )


def _amounts(of: Any) -> dict[str, int]:
    """Return the amounts that the service plans with. Others, such as bandwidths, cannot be requested here."""
    amounts = {name: amount for name, amount in of.items() if name.isupper()}
    if _DISK in of:
        amounts[DISK_GB] = of[_DISK] // _MB_IN_GB
    return {name: amount for name, amount in amounts.items() if amount}
