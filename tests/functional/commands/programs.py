"""The programs, run the way operators run them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.servers.preloaded import run_preloaded

_LIMIT_SECONDS = 120
NAMES = ("api", "embedded", "engine", "manage", "status")


@dataclass(frozen=True)
class Ended:
    """The result of a program."""

    status: int
    output: str
    errors: str


def path_of(name: str) -> str:
    """Return the path of ``lease-scheduler-<name>``."""
    return str(Path(sys.executable).with_name(f"lease-scheduler-{name}"))


def run(name: str, *words: str, folder: Path) -> Ended:
    """Run ``lease-scheduler-<name>`` to completion.

    :param folder: working directory
    """
    ended = run_preloaded(f"lease-scheduler-{name}", *words, folder=folder, limit=_LIMIT_SECONDS)
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def run_afresh(name: str, *words: str, folder: Path) -> Ended:
    """Do the same with the installed program, which loads its modules itself."""
    ended = subprocess.run(
        [path_of(name), *words], capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False, cwd=folder
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def write_configuration(folder: Path, database_url: str, transport_url: str = "fake://", lines: str = "") -> Path:
    """Write a configuration file into a folder; everything that the programs store goes there too.

    :param lines: of further groups
    """
    path = folder / "service.conf"
    path.write_text(
        f"[DEFAULT]\ntransport_url = {transport_url}\n"
        f"[database]\nconnection = {database_url.replace('%', '%%')}\nmax_retries = 1\n"
        f"[service]\ncloud = simulated\nstate_path = {folder}\n"
        f"coordination_url = file://{folder}/coordination\nengine_timeout = 5\n"
        f"[simulated_cloud]\nhosts = 4\n{lines}"
    )
    return path
