"""A small OpenStack cloud on this machine, to try the service on: ``python -m tools.lab up``, ``status`` and ``down``.

Keystone, Placement, Glance and Nova are real; the hypervisors are fake. All services listen on loopback only and run
until ``down``, as children of one supervisor process that ``up`` starts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from rich.console import Console

from tests.servers import mariadb, rabbitmq
from tests.servers.base import MissingServerError, ServerError
from tests.servers.keystone import PASSWORD, REGION
from tests.servers.openstack import environment
from tests.servers.openstack.identity import SERVICE_PROJECT
from tests.servers.openstack.lab import OUR_USER, TENANT, Lab
from tests.servers.openstack.nova import Host

_ROOT = Path(__file__).parents[1]
#: Shared with the tests: packages, and initial databases.
_CACHE = _ROOT / ".pytest_cache" / "d" / "openstack"
#: Our own service, as ``make run`` starts it.
_OUR_URL = "http://127.0.0.1:1234/v1"
_OUR_DATABASE = "lease_scheduler"

#: The state file, which the supervisor writes and ``up``, ``status`` and ``down`` read.
_STATE = "lab.json"
_SUPERVISOR_LOG = "supervisor.log"

#: First commands for a tenant to try. Servers without a lease get no host that was added for leases.
_FIRST_LEASE = (
    "openstack lease create first --kind immediate --nodes count=1,vcpus=1,memory_mb=512,disk_gb=1 --duration 1h"
)
_FIRST_SERVER = "openstack server create --image tiny --flavor small --nic none --wait first"

#: The configuration file of our service on the lab.
_CONFIGURATION = "lease-scheduler.conf"

#: The path of a Unix socket may have 107 characters, and MariaDB's socket is in this folder.
_LONGEST_FOLDER = 85

_POLL_SECONDS = 0.2
_STOP_SECONDS = 60.0

State = dict[str, Any]


class LabProblem(Exception):
    """A problem that is shown to the user in one line."""


def main() -> None:
    """Run one of the commands."""
    options = _parser().parse_args()
    folder = options.folder.resolve()
    if options.command == "supervise":
        _supervise(folder, options)
    try:
        {"up": _up, "down": _down, "status": _status}[options.command](folder, options)
    except LabProblem as problem:
        _fail(str(problem))
    except KeyboardInterrupt:
        _fail("interrupted; what has been started goes on: see status, or take it down")


def _fail(message: str) -> NoReturn:
    print(f"lab: {message}", file=sys.stderr)
    raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    def positive(text: str) -> int:
        if (number := int(text)) < 1:
            raise ValueError
        return number

    parser = argparse.ArgumentParser(prog="lab", description=__doc__.partition("\n\n")[0])
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("--folder", type=Path, default=Path("var/lab"), help="for all its files (default: %(default)s)")
    cloud = argparse.ArgumentParser(add_help=False)
    cloud.add_argument("--hosts", type=positive, default=4, help="how many there are (default: %(default)s)")
    cloud.add_argument("--vcpus", type=positive, default=8, help="of each host (default: %(default)s)")
    cloud.add_argument("--memory-mb", type=positive, default=16_384, help="of each host (default: %(default)s)")
    cloud.add_argument(
        "--reservation-url",
        default=_OUR_URL,
        help="where Keystone's catalogue says that the reservation service is (default: %(default)s)",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="{up,down,status}")
    commands.add_parser("up", parents=[place, cloud], help="start it and wait until servers can be booted")
    commands.add_parser("down", parents=[place], help="end it and remove its folder")
    commands.add_parser("status", parents=[place], help="show what runs, and how to log in")
    commands.add_parser("supervise", parents=[place, cloud])
    return parser


def _up(folder: Path, options: argparse.Namespace) -> None:
    state = _read(folder)
    if _is_supervised(state, folder):
        console = Console()
        if state["phase"] != "ready":
            state = _wait(folder, console, state)
        console.print("The lab runs already.")
        _show(state, folder)
        return
    if len(str(folder)) > _LONGEST_FOLDER:
        raise LabProblem(f"the path of the folder is too long for sockets in it: {folder}")
    if folder.exists() and not state and any(folder.iterdir()):
        raise LabProblem(f"{folder} is not empty, and no lab's")
    _check_programs()
    # Processes of a lab that was not shut down properly may still run.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _CACHE.mkdir(parents=True, exist_ok=True)
    words = ["--hosts", options.hosts, "--vcpus", options.vcpus, "--memory-mb", options.memory_mb]
    words += ["--reservation-url", options.reservation_url, "--folder", folder]
    command = [sys.executable, "-m", "tools.lab", "supervise", *(str(word) for word in words)]
    with (folder / _SUPERVISOR_LOG).open("ab") as log:
        supervisor = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=_ROOT, start_new_session=True
        )
    while not (state := _read(folder)):
        if supervisor.poll() is not None:
            raise LabProblem(f"its process ended; see {folder / _SUPERVISOR_LOG}")
        time.sleep(_POLL_SECONDS)
    _show(_wait(folder, Console(), state), folder)


def _check_programs() -> None:
    """Report all missing programs before installing the packages of OpenStack, which takes minutes.

    :raises LabProblem: naming everything that is missing
    """
    missing = []
    for package, check in {
        "mariadb-server": mariadb.check_installed,
        "rabbitmq-server": rabbitmq.check_installed,
    }.items():
        try:
            check()
        except MissingServerError:
            missing.append(package)
    if missing:
        raise LabProblem(
            f"not installed: {', '.join(missing)}; as root: apt-get install --no-install-recommends {' '.join(missing)}"
        )


def _wait(folder: Path, console: Console, state: State) -> State:
    """Wait until the lab is ready, showing its progress, and return its state."""
    shown = 0
    begun = time.monotonic()
    with console.status("starting the lab; the first time takes minutes"):
        while True:
            for step in state["steps"][shown:]:
                console.print(f"{time.monotonic() - begun:6.1f} s  {step}")
            shown = len(state["steps"])
            if state["phase"] == "ready":
                return state
            if state["phase"] == "failed":
                raise LabProblem(state["problem"])
            if not _is_supervised(state, folder):
                raise LabProblem(f"its process ended; see {folder / _SUPERVISOR_LOG}")
            time.sleep(_POLL_SECONDS)
            state = _read(folder)


def _down(folder: Path, options: argparse.Namespace) -> None:
    state = _read(folder)
    if not state:
        raise LabProblem(f"there is no lab in {folder}")
    if _is_supervised(state, folder):
        os.kill(state["pid"], signal.SIGTERM)
        end = time.monotonic() + _STOP_SECONDS
        while _is_supervised(state, folder) and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)
        if _is_supervised(state, folder):
            # All processes that it started end with it.
            os.kill(state["pid"], signal.SIGKILL)
    shutil.rmtree(folder)
    print(f"The lab is down, and {folder} is gone.")


def _status(folder: Path, options: argparse.Namespace) -> None:
    state = _read(folder)
    if not state:
        raise LabProblem(f"there is no lab in {folder}")
    if state["phase"] == "failed":
        raise LabProblem(state["problem"])
    if not _is_supervised(state, folder):
        raise LabProblem(f"it does not run any more; see {folder / _SUPERVISOR_LOG}, and take it down")
    if state["phase"] != "ready":
        print("The lab is being started.")
        return
    for name, pid in state["processes"].items():
        print(f"{name:<20} {f'process {pid}' if Path(f'/proc/{pid}').exists() else 'has ended'}")
    _show(state, folder)


def _show(state: State, folder: Path) -> None:
    """Print where the services are, and how to log in."""
    for kind, url in state["urls"].items():
        print(f"{kind:<20} {url}")
    print(f"{'logs':<20} {folder / 'logs'}")
    print(f"as administrator:    . {folder / 'openrc'}")
    print(f"as a tenant:         . {folder / 'openrc-demo'}")
    print(f"our service:         {folder / _CONFIGURATION}, in this order:")
    for command in _commands(folder, state["hosts"]):
        print(f"                     {command}")
    print("then, as the tenant:")
    print(f"a first lease:       {_FIRST_LEASE}")
    if len(state["hosts"]) > 1:
        print(f"a server without:    {_FIRST_SERVER}")
    else:
        print(f"a server without:    {_FIRST_SERVER}   (before the only host is added)")


def _read(folder: Path) -> State:
    """Return the state that the supervisor wrote last, or an empty one if there is no lab."""
    try:
        state: State = json.loads((folder / _STATE).read_text())
    except FileNotFoundError:
        return {}
    return state


def _write(folder: Path, state: State) -> None:
    unfinished = folder / f"{_STATE}.new"
    unfinished.write_text(json.dumps(state))
    unfinished.rename(folder / _STATE)


def _is_supervised(state: State, folder: Path) -> bool:
    """Return whether the lab's process runs; another process may have its number by now."""
    try:
        words = Path(f"/proc/{state['pid']}/cmdline").read_bytes().split(b"\0")
    except (KeyError, FileNotFoundError, ProcessLookupError):
        return False
    return b"supervise" in words and str(folder).encode() in words


def _supervise(folder: Path, options: argparse.Namespace) -> NoReturn:
    """Run the lab until told to end."""

    def report(step: str) -> None:
        state["steps"].append(step)
        _write(folder, state)

    def leave(number: int, frame: object) -> NoReturn:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    state: State = {"phase": "begun", "pid": os.getpid(), "steps": []}
    _write(folder, state)
    hosts = [Host(f"node{number}", options.vcpus, options.memory_mb) for number in range(1, options.hosts + 1)]
    lab = Lab(folder, _CACHE, hosts, report=report)
    try:
        try:
            lab.start()
            _enter_our_service(lab, folder, options.reservation_url)
        except (MissingServerError, ServerError) as error:
            print(error, file=sys.stderr)
            reason = str(error).splitlines()[0].rstrip(":").replace("; the end of ", "; see ")
            raise LabProblem(f"{reason} (all logs are in {lab.logs})") from error
        processes = {name: server.pid for name, server in lab.servers.items()}
        urls = lab.urls | {"reservation": options.reservation_url, "messages": lab.transport_url}
        state |= {"phase": "ready", "urls": urls, "processes": processes, "hosts": [host.name for host in hosts]}
        _write(folder, state)
        while True:
            signal.pause()
    except LabProblem as problem:
        _write(folder, state | {"phase": "failed", "problem": str(problem)})
        raise SystemExit(2) from None
    except Exception as error:
        _write(folder, state | {"phase": "failed", "problem": f"{error}; see {folder / _SUPERVISOR_LOG}"})
        raise
    finally:
        lab.stop()


def _enter_our_service(lab: Lab, folder: Path, url: str) -> None:
    """Create our entry in the catalogue, our database, and the files with which users and our service log in."""
    lab.keystone.ensure_service("reservation", url)
    database_url = lab.mariadb.create_database(_OUR_DATABASE)
    _write_private(folder / "openrc", _openrc(lab, "admin"))
    _write_private(folder / "openrc-demo", _openrc(lab, TENANT))
    _write_private(folder / _CONFIGURATION, _configuration(lab, folder, database_url, url))


def _configuration(lab: Lab, folder: Path, database_url: str, url: str) -> str:
    """Return the configuration of our service on this lab."""
    login = {
        "auth_type": "password",
        "auth_url": lab.keystone.url,
        "username": OUR_USER,
        "password": PASSWORD,
        "project_name": SERVICE_PROJECT,
        "user_domain_id": "default",
        "project_domain_id": "default",
    }
    address = urlsplit(url)
    sections: dict[str, dict[str, object]] = {
        "DEFAULT": {"transport_url": lab.transport_url},
        "database": {"connection": database_url},
        "service": {"cloud": "nova", "state_path": folder / "lease-scheduler"},
        "api": {"host": address.hostname or "127.0.0.1", "port": address.port or 80},
        # Fake hypervisors copy nothing.
        "scheduling": {"suspend_rate": 20_000, "resume_rate": 20_000},
        "nova": {"preparation_time": 15, "watch_interval": 1, "region_name": REGION, **login},
        "keystone_authtoken": {"www_authenticate_uri": lab.keystone.url, "service_type": "reservation", **login},
    }
    (folder / "lease-scheduler").mkdir(exist_ok=True)
    return environment.ini(sections)


def _commands(folder: Path, hosts: Sequence[str]) -> list[str]:
    """Return the commands that start our service. The first of several hosts is left to servers without a lease."""
    programs, options = Path(sys.executable).parent, f"--config-file {folder / _CONFIGURATION}"
    return [
        f"{programs}/lease-scheduler-manage {options} db sync",
        f"{programs}/lease-scheduler-engine {options} &",
        f"{programs}/lease-scheduler-api {options} &",
        f"{programs}/lease-scheduler-manage {options} host add {' '.join(hosts[1:] or hosts)}",
    ]


def _openrc(lab: Lab, user: str) -> str:
    values: Mapping[str, str] = {
        "OS_AUTH_URL": lab.keystone.url,
        "OS_IDENTITY_API_VERSION": "3",
        "OS_REGION_NAME": REGION,
        "OS_USERNAME": user,
        "OS_PASSWORD": PASSWORD,
        "OS_PROJECT_NAME": user,
        "OS_USER_DOMAIN_ID": "default",
        "OS_PROJECT_DOMAIN_ID": "default",
        "OS_COMPUTE_API_VERSION": "2.93",
    }
    exports = "".join(f"export {name}={value}\n" for name, value in values.items())
    return f"{exports}export PATH={Path(sys.executable).parent}:$PATH\n"


def _write_private(path: Path, text: str) -> None:
    path.touch(0o600)
    path.write_text(text)


if __name__ == "__main__":
    main()
