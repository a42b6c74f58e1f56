"""Podman with images, containers, volumes and networks of its own, apart from those of the machine."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.servers.base import ServerError, find_program

#: Building our image downloads some 150 MB.
LIMIT_SECONDS = 1_800.0

_HEALTH_SECONDS = 5.0


class Podman:
    """Podman on storage of its own.

    :param images: folder in which images are kept from run to run; one run at a time uses it
    :ivar environment: variables with which other programs use the same storage
    :raises tests.servers.base.MissingServerError: Podman is not installed
    """

    def __init__(self, images: Path) -> None:
        self._program = str(find_program("podman"))
        # Paths of sockets have to be short.
        self._run = tempfile.TemporaryDirectory(prefix="lease-podman-")
        run = Path(self._run.name)
        storage, settings = run / "storage.conf", run / "containers.conf"
        # Podman lowers its own limit of processes to the kernel's, and what it starts can have no higher one.
        processes = int(Path("/proc/sys/kernel/pid_max").read_text())
        limits = [_limit("nofile", resource.RLIMIT_NOFILE), _limit("nproc", resource.RLIMIT_NPROC, processes)]
        storage.write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{images}/storage"\nrunroot = "{run}/storage"\n'
        )
        settings.write_text(
            f'[engine]\ntmp_dir = "{run}/engine"\nevents_logger = "file"\n'
            f'volume_path = "{run}/volumes"\n'
            # These work on a machine without systemd, too.
            'cgroup_manager = "cgroupfs"\n[containers]\nlog_driver = "k8s-file"\n'
            # Podman's own limits may be above those of the machine, which not every root may raise.
            f"default_ulimits = {json.dumps(limits)}\n"
            f'[network]\nnetwork_config_dir = "{run}/networks"\n'
        )
        # The database notes the folders of a run, and Podman refuses others. It has to be where Podman expects it: the
        # command with which conmon restarts a container names only the storage.
        shutil.rmtree(images / "storage/libpod", ignore_errors=True)
        self.environment = dict(
            os.environ, CONTAINERS_STORAGE_CONF=str(storage), CONTAINERS_CONF=str(settings), PYTHONUNBUFFERED="1"
        )
        self._ended = threading.Event()
        self._health: threading.Thread | None = None
        if not Path("/run/systemd/system").exists():
            # Podman leaves it to timers of systemd when a container's health is checked.
            self.environment["DISABLE_HC_SYSTEMD"] = "true"
            self._health = threading.Thread(target=self._check_health)
            self._health.start()

    def run(self, *arguments: str, stdin: int | None = None) -> str:
        """Run a command of Podman and return its output.

        :raises ServerError: it failed
        """
        return run_program([self._program, *arguments], self.environment, stdin)

    def inspect(self, container: str) -> dict[str, Any]:
        """Return what Podman knows about a container."""
        found: list[dict[str, Any]] = json.loads(self.run("container", "inspect", container))
        return found[0]

    def names(self, kind: str) -> set[str]:
        """Return the names of all containers, networks or volumes.

        :param kind: ``container``, ``network`` or ``volume``
        """
        key = "{{.Names}}" if kind == "container" else "{{.Name}}"
        every = ["--all"] if kind == "container" else []
        return set(self.run(kind, "ls", *every, "--format", key).split())

    def has_image(self, name: str) -> bool:
        """Return whether there is an image of this name."""
        return bool(self.run("image", "ls", "--quiet", name).strip())

    def close(self) -> None:
        """Remove all containers, networks and volumes; images stay."""
        self._ended.set()
        if self._health is not None:
            self._health.join()
        self.run("container", "rm", "--all", "--force", "--volumes")
        self.run("network", "prune", "--force")
        self.run("volume", "prune", "--force")
        for where in self._mounts():
            subprocess.run(["umount", "--lazy", where], check=True)
        self._run.cleanup()

    def _mounts(self) -> list[str]:
        """Return the mounts that Podman makes for itself."""
        lines = Path("/proc/self/mounts").read_text().splitlines()
        return [where for where in (line.split()[1] for line in lines) if where.startswith(self._run.name)]

    def _check_health(self) -> None:
        while not self._ended.wait(_HEALTH_SECONDS):
            # Whatever fails here, as while a container is removed, must not end the checks of the others.
            with suppress(ServerError):
                for name in self.run("container", "ls", "--format", "{{.Names}}").split():
                    # Most containers have no check.
                    with suppress(ServerError, subprocess.TimeoutExpired):
                        self.run("healthcheck", "run", name)


def _limit(name: str, kind: int, highest: int = resource.RLIM_INFINITY) -> str:
    """Return this process's soft and hard limit, but no higher ones, as ``containers.conf`` writes them."""
    # There, too, -1 is no limit.
    soft, hard = (
        highest if each == resource.RLIM_INFINITY else each if highest == resource.RLIM_INFINITY else min(each, highest)
        for each in resource.getrlimit(kind)
    )
    return f"{name}={soft}:{hard}"


def run_program(command: Sequence[str], environment: dict[str, str], stdin: int | None = None) -> str:
    """Run a program and return its output.

    :raises ServerError: it failed
    """
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )
    if done.returncode:
        raise ServerError(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-8_000:]}")
    return done.stdout
