"""The lab: Keystone, Placement, Glance and Nova with MariaDB and RabbitMQ, all real, on free loopback ports."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path

import requests
from keystoneauth1.exceptions import ClientException

import lease_scheduler
from tests.servers.base import Server, ServerError, wait_until
from tests.servers.keystone import Keystone, User
from tests.servers.mariadb import MariaDB
from tests.servers.openstack import databases, environment
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.glance import Glance
from tests.servers.openstack.identity import SERVICE_PROJECT, ServiceUser
from tests.servers.openstack.network import Network
from tests.servers.openstack.nova import Host, NovaApi, NovaComputes, NovaController, NovaSettings
from tests.servers.openstack.placement import Placement
from tests.servers.rabbitmq import RabbitMQ

#: The user as which our own service logs in.
OUR_USER = "lease-scheduler"

#: A tenant's project, and the user in it.
TENANT = "demo"

#: Name, VCPUs, MiB of memory and GB of disk of the initial flavors.
FLAVORS = (("small", 1, 512, 1), ("medium", 2, 2_048, 10), ("large", 4, 8_192, 40))

FOUR_HOSTS = tuple(Host(f"node{number}") for number in range(1, 5))

_SERVICE_USERS = ("nova", "placement", "glance", OUR_USER)
_IMAGE = "tiny"
_HOSTS_LIMIT_SECONDS = 180.0


class Lab:
    """An OpenStack cloud without networks and with fake hypervisors.

    Each of its servers can be killed and started again by its own methods. A server that is started again ends with the
    thread that started it.

    :param folder: for all its files; an empty one, or that of a lab that has run before
    :param cache: folder that is kept from run to run, for packages and initial databases
    :param nova_lines: further lines of Nova's configuration; they override ours
    :param python_path: folders with further modules for Nova's scheduler; our filter and weigher are found anyway
    :param down_after: seconds without a report after which a host counts as down
    :param report: called with a description of each completed step
    :ivar keystone: creates users, tokens and entries in the catalogue
    :ivar computes: the processes of the compute services
    """

    def __init__(
        self,
        folder: Path,
        cache: Path,
        hosts: Sequence[Host] = FOUR_HOSTS,
        *,
        nova_lines: str = "",
        python_path: Sequence[Path] = (),
        down_after: int = 30,
        report: Callable[[str], None] = lambda step: None,
    ) -> None:
        self.folder, self.hosts = folder, tuple(hosts)
        self.logs = folder / "logs"
        self._cache, self._report = cache, report
        self._pool: ThreadPoolExecutor | None = None
        python = environment.interpreter(cache)
        self.mariadb = MariaDB(self._subfolder(databases.MARIADB))
        self.rabbitmq = RabbitMQ(self._subfolder("rabbitmq"))
        self.keystone = Keystone(self._subfolder(databases.KEYSTONE), python)
        self.network = Network(self._subfolder("network"), python)
        users = {name: ServiceUser(name, self.keystone.url) for name in _SERVICE_USERS}
        database_url = self.mariadb.database_url
        # As we recommend: Placement's own retries grant more than there is.
        self.placement = Placement(
            self._subfolder("placement"), python, database_url("placement"), users["placement"], retries=1
        )
        self.glance = Glance(self._subfolder("glance"), python, database_url("glance"), users["glance"])
        self.nova_settings = NovaSettings(
            self._subfolder("nova"),
            python,
            users["nova"],
            self.transport_url,
            database_url,
            nova_lines,
            (folder / "plugins", *python_path),
            down_after,
        )
        self.nova_api = NovaApi(self._subfolder("nova-api"), self.nova_settings)
        self.conductor, self.scheduler = (
            NovaController(self._subfolder(f"nova-{service}"), self.nova_settings, service)
            for service in ("conductor", "scheduler")
        )
        self.computes = tuple(self._computes(process) for process in sorted({host.process for host in self.hosts}))
        self.flavors: dict[str, str] = {}
        self._image = ""

    @property
    def transport_url(self) -> str:
        """URL of the broker on which the services exchange messages."""
        return self.rabbitmq.url

    @property
    def urls(self) -> dict[str, str]:
        """Type and URL of the services in Keystone's catalogue."""
        return {
            "identity": self.keystone.url,
            "placement": self.placement.url,
            "image": self.glance.url,
            "network": self.network.url,
            "compute": f"{self.nova_api.url}/v2.1",
        }

    @property
    def servers(self) -> dict[str, Server]:
        """All servers by name, in start order: each comes after those that it needs."""
        found: tuple[Server, ...] = (
            self.mariadb,
            self.rabbitmq,
            self.keystone,
            self.network,
            self.placement,
            self.glance,
            self.nova_api,
            self.conductor,
            self.scheduler,
            *self.computes,
        )
        return {server.name: server for server in found}

    def start(self) -> None:
        """Start everything that does not run, and return when servers can be booted.

        :raises MissingServerError: a program is not installed and cannot be
        :raises ServerError: a part did not start; names it, with the end of its log
        """
        python = environment.install(self._cache)
        self._report("packages are installed")
        self._link_logs_and_plugins()
        self.nova_settings.write()
        if not (self.mariadb.folder / "data").exists() or not (self.keystone.folder / "done").exists():
            with databases.made(self._cache, python) as made:
                for part in (databases.MARIADB, databases.KEYSTONE):
                    shutil.rmtree(self.folder / part, ignore_errors=True)
                    shutil.copytree(made / part, self.folder / part)
            self._report("databases are copied")
        if self._pool is None:
            # The kernel ends a program with the thread that started it, so these threads have to stay.
            self._pool = ThreadPoolExecutor(len(self.servers) + 1)
        try:
            self._start_servers(self._pool)
            self._wait_for_hosts()
        except BaseException:
            self.stop()
            raise
        self._report("hosts are up")

    def stop(self) -> None:
        """Kill everything; the stored data stay, so the lab can be started again."""
        for server in reversed(self.servers.values()):
            server.kill()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
        # This includes servers whose start was under way.
        for server in reversed(self.servers.values()):
            server.kill()

    kill = stop

    def ensure_running(self) -> None:
        """Restart what has been killed or has ended, and wait until all hosts are up."""
        if all(server.is_running() for server in self.servers.values()):
            self._wait_for_hosts()
        else:
            self.start()

    def client(self, user: User) -> CloudClient:
        """Return a client of Nova, Placement and Glance for a user of Keystone."""
        return CloudClient(self.keystone.url, user.name, user.project, self._image)

    @property
    def admin(self) -> CloudClient:
        """Client of the administrator."""
        return CloudClient(self.keystone.url, "admin", "admin", self._image)

    def tenant(self) -> CloudClient:
        """Return a client of the initial tenant, an ordinary member of a project."""
        return CloudClient(self.keystone.url, TENANT, TENANT, self._image)

    def computes_of(self, host: str) -> NovaComputes:
        """Return the process that runs a host's compute service."""
        return next(each for each in self.computes if host in each.hosts)

    def set_delays(self, host: str, delays: Mapping[str, float], turns: str = "") -> None:
        """Change how long the steps of a host take, from the next step on; see ``NovaComputes.set_delays``."""
        self.computes_of(host).set_delays(host, delays, turns)

    def hosts_up(self, admin: CloudClient | None = None) -> set[str]:
        """Return the names of the hosts that are up according to Nova."""
        found = (admin or self.admin).compute("GET", "/os-hypervisors/detail")["hypervisors"]
        return {each["hypervisor_hostname"] for each in found if each["state"] == "up"}

    def _subfolder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _computes(self, process: str) -> NovaComputes:
        hosts = [host for host in self.hosts if host.process == process]
        folder = self._subfolder(f"nova-compute-{process}")
        return NovaComputes(folder, self.nova_settings, process, hosts, self.conductor)

    def _link_logs_and_plugins(self) -> None:
        """Make one folder with all logs, and one with our package and nothing else of ours."""
        links = {self.logs / server.log.name: server.log for server in self.servers.values()}
        (package,) = lease_scheduler.__path__
        links[self.folder / "plugins" / "lease_scheduler"] = Path(package)
        for link, target in links.items():
            link.parent.mkdir(exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(target)

    def _start_servers(self, pool: ThreadPoolExecutor) -> None:
        """Start the servers in parallel, each as soon as the servers that it needs are up."""

        def after(needed: Iterable[Future[None]], what: str, *actions: Callable[[], None]) -> Future[None]:
            waiting = tuple(needed)

            def run() -> None:
                for future in waiting:
                    future.result()
                try:
                    for action in actions:
                        action()
                except (ClientException, requests.RequestException) as error:
                    raise ServerError(f"{what} is not to be had: {error}; the logs are in {self.logs}") from error
                self._report(f"{what} is up")

            future = pool.submit(run)
            begun.append(future)
            return future

        begun: list[Future[None]] = []
        mariadb = after([], "MariaDB", self.mariadb.ensure_running)
        rabbitmq = after([], "RabbitMQ", self.rabbitmq.ensure_running)
        keystone = after([], "Keystone", self.keystone.ensure_running, self._enter_services_and_users)
        network = after([], "the stand-in for Neutron", self.network.ensure_running)
        placement = after([mariadb], "Placement", self.placement.ensure_running)
        glance = after([mariadb], "Glance", self.glance.ensure_running)
        after([glance, keystone], "the image", self._enter_image)
        # Conductor and scheduler give up if Placement does not answer when they start.
        ready = (mariadb, rabbitmq, keystone, network, placement)
        for controller in (self.conductor, self.scheduler):
            after(ready, controller.name, controller.ensure_running)
        for computes in self.computes:
            after(ready, computes.name, computes.ensure_running)
        nova_api = after(ready, "nova-api", self.nova_api.ensure_running)
        after([nova_api], "a choice of flavors", self._enter_flavors)
        done, _ = wait(begun, return_when=FIRST_EXCEPTION)
        for future in begun:
            if future in done:
                future.result()

    def _enter_services_and_users(self) -> None:
        for name in _SERVICE_USERS:
            self.keystone.ensure_user(name, SERVICE_PROJECT, ("admin", "service"))
        self.keystone.ensure_user(TENANT, TENANT, ("member",))
        for kind, url in self.urls.items():
            self.keystone.ensure_service(kind, url)

    def _enter_image(self) -> None:
        found = self.admin.image("GET", f"/v2/images?name={_IMAGE}&status=active")["images"]
        if found:
            self._image = found[0]["id"]
            return
        description = {"name": _IMAGE, "disk_format": "raw", "container_format": "bare", "visibility": "public"}
        self._image = self.admin.image("POST", "/v2/images", description)["id"]
        self.admin.upload(self._image, bytes(1024))

    def _enter_flavors(self) -> None:
        admin = self.admin
        self.flavors = {each["name"]: each["id"] for each in admin.compute("GET", "/flavors")["flavors"]}
        for name, vcpus, memory_mb, disk_gb in FLAVORS:
            if name not in self.flavors:
                body = {"flavor": {"name": name, "vcpus": vcpus, "ram": memory_mb, "disk": disk_gb}}
                self.flavors[name] = admin.compute("POST", "/flavors", body)["flavor"]["id"]

    def _wait_for_hosts(self) -> None:
        def all_up() -> bool:
            try:
                missing.intersection_update(wanted - self.hosts_up(admin))
            except ClientException:
                return False
            return not missing

        admin, wanted = self.admin, {host.name for host in self.hosts}
        missing = set(wanted)
        if not wait_until(all_up, _HOSTS_LIMIT_SECONDS):
            raise ServerError(f"Nova does not see these hosts up: {', '.join(sorted(missing))}; logs: {self.logs}")
