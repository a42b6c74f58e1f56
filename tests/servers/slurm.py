"""A real Slurm cluster whose nodes come and go: slurmctld, and a slurmd for each node, on loopback.

All nodes are on this machine, with names and ports of their own; ``slurmd -N`` takes the name. ``slurmd -b`` says that
the node has booted, which slurmctld wants to hear of nodes that it waits for.
"""

from __future__ import annotations

import getpass
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.servers.base import OwnProcess, Server, find_program, free_port, wait_until

#: Nodes of the cluster.
NODES = ("c1", "c2", "c3")

#: States of jobs that are over.
_OVER = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE")

#: Variable by which the processes of a node are recognized: those of jobs leave the process group of slurmd.
_MARK = "LEASE_SCHEDULER_TEST_NODE"

#: Nodes may have more processors and memory in it than this machine has (``config_overrides``).
_CONFIGURATION = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=cred_expire=5,socket={folder}/munge.sock
CredType=cred/munge
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
MpiDefault=none
PrivateData=cloud
ReturnToService=2
KillWait=2
SlurmdTimeout=20
SchedulerParameters=sched_interval=1,bf_interval=2
SlurmdParameters=config_overrides
SlurmctldParameters=cloud_dns,idle_on_node_suspend,power_save_interval=1,power_save_min_interval=0
SuspendTime=3
SuspendTimeout=2
ResumeTimeout=120
SuspendProgram={folder}/suspend
ResumeProgram={folder}/resume
ResumeFailProgram={folder}/resume-failed
TreeWidth=65533
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm(Server):
    """slurmctld with a munged of its own. Its hooks do nothing until ``write_hook`` says what they run."""

    name = "slurm"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.configuration = folder / "slurm.conf"
        self._ports = {name: free_port() for name in NODES}
        self._nodes: dict[str, OwnProcess] = {}

    @property
    def url(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of programs that talk to it."""
        return os.environ | {"SLURM_CONF": str(self.configuration)}

    def write_hook(self, verb: str, words: Sequence[str]) -> None:
        """Say what resume, suspend or resume-failed runs; the nodes are a further argument."""
        lines = ["#!/bin/sh", *(f"export {k}='{v}'" for k, v in self._passed().items())]
        path = self.folder / verb
        path.write_text("\n".join([*lines, " ".join(f"'{word}'" for word in words) + ' "$1"', ""]))
        path.chmod(0o755)

    def port_of(self, name: str) -> int:
        """Return the port of a node."""
        return self._ports[name]

    @staticmethod
    def _passed() -> dict[str, str]:
        return {name: os.environ[name] for name in ("PYTHONPATH", "PATH") if name in os.environ}

    def start_node(self, name: str) -> None:
        """Boot a node, unless it runs."""
        running = self._nodes.get(name)
        if running is None or not running.is_running():
            program = str(find_program("slurmd"))
            words = [program, "-b", "-D", "-N", name, "-f", str(self.configuration)]
            variables = self.variables | {_MARK: self._mark(name)}
            self._nodes[name] = OwnProcess(f"slurmd {name}", words, self.folder / f"slurmd-{name}.log", variables)

    def kill_node(self, name: str) -> None:
        """End a node with all that runs on it, as if it were switched off."""
        running = self._nodes.pop(name, None)
        if running is not None:
            running.kill()
        _end_marked(self._mark(name))

    def running_nodes(self) -> set[str]:
        """Return the nodes whose slurmd runs."""
        return {name for name, process in self._nodes.items() if process.is_running()}

    def submit(self, script: str, nodes: int = 1, minutes: int = 5) -> str:
        """Submit a batch job and return its id."""
        words = ["sbatch", "--parsable", "--requeue", f"--nodes={nodes}", f"--time={minutes}", "--output=/dev/null"]
        return self.run(*words, f"--wrap={script}").strip()

    def jobs(self) -> dict[str, str]:
        """Return the state of each job that has not ended; Slurm lists those that have for some time."""
        found = {str(job["job_id"]): str(job["job_state"]) for job in self._json("squeue")["jobs"]}
        return {job: state for job, state in found.items() if state not in _OVER}

    def states(self) -> dict[str, Any]:
        """Return state and flags of each node."""
        return {node["name"]: (node["state"], tuple(node["state_flags"])) for node in self._json("sinfo")["nodes"]}

    def usable_nodes(self) -> set[str]:
        """Return the nodes that are powered down, and can be powered up."""
        return {name for name, (state, flags) in self.states().items() if state == "idle" and "POWERED_DOWN" in flags}

    def _json(self, program: str) -> Mapping[str, Any]:
        found: dict[str, Any] = json.loads(self.run(program, "--json"))
        return found

    def run(self, program: str, *words: str) -> str:
        """Run one of Slurm's commands and return its output.

        :raises subprocess.CalledProcessError: it failed
        """
        path = str(find_program(program))
        return subprocess.run(
            [path, *words], env=self.variables, capture_output=True, text=True, check=True, timeout=60, cwd=self.folder
        ).stdout

    def kill(self) -> None:
        for name in NODES:
            self.kill_node(name)
        super().kill()

    def kill_controller(self) -> None:
        """Kill slurmctld alone."""
        self._processes[-1].kill()

    def start_controller(self) -> None:
        """Start slurmctld again."""
        self._processes[-1] = self._controller()
        assert wait_until(self._answers, self._ready_within)

    def _prepare(self) -> None:
        for program in ("munged", "slurmctld", "slurmd", "sbatch"):
            find_program(program)
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        (self.folder / "state").mkdir(exist_ok=True)
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=100 State=CLOUD"
            for name, port in self._ports.items()
        )
        self.configuration.write_text(
            _CONFIGURATION.format(user=getpass.getuser(), folder=self.folder, port=self.port, nodes=nodes)
        )
        for verb in ("resume", "suspend", "resume-failed"):
            self.write_hook(verb, ["true"])

    def _launch(self) -> list[OwnProcess]:
        files = {"key-file": "munge.key", "socket": "munge.sock", "pid-file": "munged.pid", "seed-file": "munge.seed"}
        words = [str(find_program("munged")), "--foreground", "--force", f"--log-file={self.folder}/munged.log"]
        munged = OwnProcess(
            "munged", [*words, *(f"--{option}={self.folder}/{name}" for option, name in files.items())], self.log
        )
        wait_until(lambda: not munged.is_running() or (self.folder / "munge.sock").exists(), self._ready_within)
        return [munged, self._controller()]

    def _controller(self) -> OwnProcess:
        words = [str(find_program("slurmctld")), "-D", "-f", str(self.configuration)]
        return OwnProcess("slurmctld", words, self.log, self.variables)

    def _answers(self) -> bool:
        with suppress(subprocess.CalledProcessError):
            return " UP" in self.run("scontrol", "ping")
        return False

    def _end(self, process: OwnProcess) -> None:
        process.end(signal.SIGTERM, 20)

    def _mark(self, name: str) -> str:
        return f"{self.folder}/{name}"


def _end_marked(mark: str) -> None:
    """Kill the processes that were started with a mark in their environment."""
    needle = f"{_MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
