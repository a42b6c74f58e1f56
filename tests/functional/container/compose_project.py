"""``container/compose.yaml`` with the changes that its first lines ask for, and names and ports of its own."""

from __future__ import annotations

import os
import random
import re
import secrets
import shlex
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.functional.container.podman import Podman, run_program
from tests.servers.base import find_program, free_port

#: Names another program and its arguments, for example ``podman compose``.
PROGRAM = "LEASE_SCHEDULER_COMPOSE"

_ROOT = Path(__file__).parents[3]
_CONTAINER = _ROOT / "container"


class ComposeProject:
    """The four containers, on a network of their own.

    :param folder: empty, for the changed files
    :ivar name: of the project, with which the names of its containers, networks and volumes begin
    :ivar gateway: address of the machine on the network of the containers
    :raises tests.servers.base.MissingServerError: no program for compose files is installed
    """

    def __init__(self, folder: Path, podman: Podman) -> None:
        self._podman = podman
        self._program = shlex.split(os.environ.get(PROGRAM, "")) or [str(find_program("podman-compose"))]
        self._folder = folder
        self.name = f"lease-test-{secrets.token_hex(4)}"
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.gateway = f"10.{random.randrange(200, 250)}.{random.randrange(256)}.1"

    def write(self, cloud: dict[str, dict[str, str]]) -> None:
        """Write the files.

        :param cloud: options of the configuration, by group, that say which cloud it is
        """
        password = secrets.token_hex(8)
        for name in ("compose.yaml", "lease-scheduler.conf"):
            (self._folder / name).write_text((_CONTAINER / name).read_text().replace("secret", password))
        conf = ConfigParser(interpolation=None)
        conf.read(self._folder / "lease-scheduler.conf")
        conf.read_dict(cloud)
        with (self._folder / "lease-scheduler.conf").open("w") as written:
            conf.write(written)
        document: dict[str, Any] = yaml.safe_load((self._folder / "compose.yaml").read_text())
        document["name"] = self.name
        for service in document["services"].values():
            if "build" in service:
                service["build"]["context"] = str(_ROOT)
        document["services"]["api"]["ports"] = [f"127.0.0.1:{self._port}:1234"]
        subnet = f"{self.gateway.rpartition('.')[0]}.0/24"
        document["networks"] = {"default": {"ipam": {"config": [{"subnet": subnet, "gateway": self.gateway}]}}}
        (self._folder / "compose.yaml").write_text(yaml.safe_dump(document, sort_keys=False))

    def compose(self, *arguments: str) -> str:
        """Run a command of the program for compose files and return its output."""
        command = [*self._program, "--file", str(self._folder / "compose.yaml"), *arguments]
        return run_program(command, self._podman.environment)

    def in_engine(self, *command: str) -> str:
        """Run a program in the engine's container and return its output."""
        return self.compose("exec", "-T", "engine", *command)

    def container(self, service: str) -> str:
        """Return the name of the container of a service."""
        # Programs join project, service and number with hyphens or with underscores.
        pattern = re.compile(rf"{self.name}[-_]{service}[-_]1")
        (found,) = filter(pattern.fullmatch, self._podman.names("container"))
        return found

    def log(self, service: str) -> str:
        """Return what a service has said."""
        return self._podman.run("logs", self.container(service))

    def left(self, *kinds: str) -> set[str]:
        """Return the names of all containers, networks or volumes that there are, but not the default network."""
        return set().union(*(self._podman.names(kind) for kind in kinds)) - {"podman"}

    def answers(self) -> bool:
        """Return whether the API is healthy."""
        try:
            return requests.get(f"{self.url}/healthcheck", timeout=5).ok
        except requests.RequestException:
            return False
