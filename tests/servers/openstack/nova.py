"""A real Nova: API, conductor, scheduler, and compute services with fake hypervisors."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.servers.base import OwnProcess, Server
from tests.servers.openstack import environment
from tests.servers.openstack.identity import ServiceUser, login, token_check
from tests.servers.openstack.wsgi import WsgiServer

#: Name of the machine that runs everything but the compute services.
CONTROLLER = "controller"

#: Gives every host the inventory of which each server of a lease takes one unit; shipped for operators.
PROVIDER_CONFIGURATION = Path(__file__).parents[3] / "etc" / "nova" / "provider_config"

FILTER = "lease_scheduler.nova.lease_filter.LeaseFilter"
WEIGHER = "lease_scheduler.nova.lease_weigher.LeaseWeigher"

_FILTERS = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "AggregateInstanceExtraSpecsFilter",
    "LeaseFilter",
)


@dataclass(frozen=True)
class Host:
    """A host with a fake hypervisor.

    :ivar delays: seconds that steps take: spawn, destroy, power_on, power_off, suspend, resume, snapshot,
        live_migration, migrate_disk_and_power_off, finish_revert_migration, cache_image
    :ivar process: hosts that name the same process share it, and so die together
    """

    name: str
    vcpus: int = 8
    memory_mb: int = 16_384
    disk_gb: int = 200
    delays: Mapping[str, float] = field(default_factory=dict)
    process: str = "1"


@dataclass(frozen=True)
class NovaSettings:
    """Settings that the services of a Nova share.

    :ivar folder: for their configuration files
    :ivar user: service user as which they call other services
    :ivar database_url: returns the URL of the database with a given name
    :ivar lines: further lines of the configuration; they override ours
    :ivar python_path: folders with modules of scheduler filters and weighers
    :ivar down_after: seconds without a report after which a host counts as down
    """

    folder: Path
    python: Path
    user: ServiceUser
    transport_url: str
    database_url: Callable[[str], str]
    lines: str = ""
    python_path: Sequence[Path] = ()
    down_after: int = 30

    @property
    def main_file(self) -> Path:
        """The configuration of all services."""
        return self.folder / "nova.conf"

    @property
    def database_file(self) -> Path:
        """The configuration that compute services must not see."""
        return self.folder / "nova-databases.conf"

    def write(self, lines: str = "") -> None:
        """Write the configuration files.

        :param lines: further lines for now; services read them when they start
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.python.parent.parent / "etc" / "nova" / "api-paste.ini", self.folder)
        self.main_file.write_text(environment.ini(self._sections()) + _PLUGINS + self.lines + lines)
        self.database_file.write_text(
            environment.ini(
                {
                    "database": {"connection": self.database_url("nova")},
                    "api_database": {"connection": self.database_url("nova_api")},
                }
            )
        )

    def variables(self, **more: str) -> dict[str, str]:
        """Return the environment variables of a service."""
        path = os.pathsep.join(str(folder) for folder in self.python_path)
        return environment.variables(**more, **({"PYTHONPATH": path} if path else {}))

    def _sections(self) -> dict[str, dict[str, object]]:
        as_nova = login(self.user)
        return {
            "DEFAULT": {
                "use_stderr": True,
                "host": CONTROLLER,
                "my_ip": "127.0.0.1",
                "transport_url": self.transport_url,
                "compute_driver": "fake.LabDriver",
                "shelved_offload_time": 0,
                "running_deleted_instance_action": "noop",
                "allow_resize_to_same_host": False,
                "report_interval": max(1, self.down_after // 5),
                "service_down_time": self.down_after,
                # Otherwise the first run of the periodic tasks, which discover new hosts, is delayed by up to a minute.
                "periodic_fuzzy_delay": 0,
                # Otherwise an orderly end waits for minutes, although no work is in progress here.
                "graceful_shutdown_timeout": 5,
                "manager_shutdown_timeout": 1,
                # How long a caller waits if its request or the reply was lost with the broker, in seconds.
                "rpc_response_timeout": 30,
                "default_log_levels": "neutronclient=ERROR,amqp=WARN,oslo_service=ERROR,urllib3=WARN,"
                "keystoneauth=WARN,oslo.messaging=INFO,stevedore=WARN,sqlalchemy=WARN",
            },
            # Quotas are not tested here.
            "quota": {"instances": -1, "cores": -1, "ram": -1},
            "oslo_messaging_notifications": {"driver": "messagingv2", "topics": "notifications"},
            "notifications": {
                "notification_format": "both",
                "notify_on_state_change": "vm_and_task_state",
                "versioned_notifications_topics": "versioned_notifications",
            },
            "oslo_messaging_rabbit": {"rabbit_interval_max": 2, "kombu_reconnect_delay": 0.2},
            "conductor": {"workers": 1},
            "scheduler": {"workers": 1, "discover_hosts_in_cells_interval": 2},
            "compute": {"provider_config_location": PROVIDER_CONFIGURATION},
            "vnc": {"enabled": False},
            "glance": {"num_retries": 1},
            "cinder": {"catalog_info": "none::none"},
            "placement": as_nova,
            "neutron": as_nova,
            "service_user": as_nova | {"send_service_user_token": True},
            "keystone_authtoken": token_check(self.user),
        }


_PLUGINS = (
    "[filter_scheduler]\n"
    "available_filters = nova.scheduler.filters.all_filters\n"
    f"available_filters = {FILTER}\n"
    f"enabled_filters = {','.join(_FILTERS)}\n"
    f"weight_classes = nova.scheduler.weights.all_weighers,{WEIGHER}\n"
)


class NovaApi(WsgiServer):
    """Nova's REST interface."""

    name = "nova-api"
    module = "nova.wsgi.osapi_compute"

    def __init__(self, folder: Path, settings: NovaSettings) -> None:
        super().__init__(folder, settings.python)
        self._settings = settings

    def _prepare(self) -> None:
        (self.folder / "own.conf").write_text(_own_lines(self.folder))

    def _variables(self) -> dict[str, str]:
        files = ("api-paste.ini", self._settings.main_file.name, self._settings.database_file.name)
        return self._settings.variables(
            OS_NOVA_CONFIG_DIR=str(self._settings.folder),
            OS_NOVA_CONFIG_FILES=";".join((*files, str(self.folder / "own.conf"))),
        )


class NovaWorker(Server):
    """A service of Nova that is reached by messages only.

    :param settings: what it shares with the other services
    """

    def __init__(self, folder: Path, settings: NovaSettings) -> None:
        super().__init__(folder)
        self._settings = settings

    @property
    def url(self) -> str:
        return self._settings.transport_url

    @property
    def _ready(self) -> Path:
        """Folder with a file for each host that is ready."""
        return self.folder / "ready"

    @property
    def _hosts(self) -> Sequence[str]:
        """Names of the hosts whose service this is."""
        return (CONTROLLER,)

    def _prepare(self) -> None:
        (self.folder / "own.conf").write_text(_own_lines(self.folder))
        (self.folder / "instances").mkdir(exist_ok=True)

    def _start_program(self, program: str, *words: str | Path) -> list[OwnProcess]:
        shutil.rmtree(self._ready, ignore_errors=True)
        self._ready.mkdir()
        command = [self._settings.python, environment.PROGRAMS / program, *words]
        return [OwnProcess(self.name, [str(word) for word in command], self.log, self._settings.variables())]

    def _answers(self) -> bool:
        return all((self._ready / host).exists() for host in self._hosts)

    def _end(self, process: OwnProcess) -> None:
        # Long enough for work in progress; idle connections would never close.
        process.end(signal.SIGTERM, 10)


class NovaController(NovaWorker):
    """A conductor or a scheduler.

    :param service: ``conductor`` or ``scheduler``
    """

    def __init__(self, folder: Path, settings: NovaSettings, service: str) -> None:
        super().__init__(folder, settings)
        self.name = f"nova-{service}"
        self._service = service

    @property
    def ready_file(self) -> Path:
        """A file that exists when the service is ready."""
        return self._ready / CONTROLLER

    def _launch(self) -> list[OwnProcess]:
        files = (self._settings.main_file, self._settings.database_file, self.folder / "own.conf")
        options = [word for path in files for word in ("--config-file", path)]
        return self._start_program("run_nova.py", self._service, self._ready, *options)


class NovaComputes(NovaWorker):
    """The compute services of some hosts, in one process.

    :param conductor: the service that they wait for when they start
    """

    def __init__(
        self, folder: Path, settings: NovaSettings, process: str, hosts: Sequence[Host], conductor: NovaController
    ) -> None:
        super().__init__(folder, settings)
        self.name = f"nova-compute-{process}"
        self.hosts = {host.name: host for host in hosts}
        self._delays = {host.name: dict(host.delays) for host in hosts}
        self._turns = dict.fromkeys(self.hosts, "")
        self._conductor = conductor

    def cached_images(self, host: str) -> frozenset[str]:
        """Return the ids of the images in a host's cache: cached on request, or by booting a server."""
        path = self.folder / f"{host}-images.json"
        return frozenset(json.loads(path.read_text())) if path.exists() else frozenset()

    def set_delays(self, host: str, delays: Mapping[str, float], turns: str = "") -> None:
        """Change how long the steps of a host take, from the next step on; steps without a delay take no time.

        :param turns: ``host`` for one step at a time on the host, ``all`` for one at a time in the whole process,
            nothing for steps in parallel
        """
        self._delays[host], self._turns[host] = dict(delays), turns
        self._write_hosts()

    @property
    def _hosts(self) -> Sequence[str]:
        return tuple(self.hosts)

    @property
    def _hosts_file(self) -> Path:
        return self.folder / "hosts.json"

    def _prepare(self) -> None:
        super()._prepare()
        self._write_hosts()

    def _write_hosts(self) -> None:
        unfinished = self._hosts_file.with_suffix(".new")
        document = {
            name: asdict(host) | {"delays": self._delays[name], "turns": self._turns[name]}
            for name, host in self.hosts.items()
        }
        unfinished.write_text(json.dumps(document))
        unfinished.rename(self._hosts_file)

    def _launch(self) -> list[OwnProcess]:
        options = ("--config-file", self._settings.main_file, "--config-file", self.folder / "own.conf")
        words = (self.folder, self._hosts_file, self._conductor.ready_file)
        return self._start_program("run_computes.py", *words, *options)


def _own_lines(folder: Path) -> str:
    return environment.ini({"DEFAULT": {"state_path": folder}, "oslo_concurrency": {"lock_path": folder / "locks"}})
