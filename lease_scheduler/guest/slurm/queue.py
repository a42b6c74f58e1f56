"""Slurm, by its own commands."""

from __future__ import annotations

import json
import logging
import subprocess
from collections.abc import Sequence
from typing import Any

from lease_scheduler.guest.errors import RefusedError, UnavailableError
from lease_scheduler.guest.interfaces import QueueView
from lease_scheduler.guest.slurm.reading import view

LOG = logging.getLogger(__name__)

#: Reason that Slurm shows for nodes that leave.
_REASON = "reason=lease"

#: What Slurm's commands print if its controller is away, and not that a request is wrong.
_AWAY = (
    "Unable to contact slurm controller",
    "Connection refused",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "Transport endpoint",
    "Slurm backup controller in standby mode",
    "Slurm temporarily unable",
)


class Slurm:
    """A Slurm cluster, as ``interfaces.Queue`` says. ``SLURM_CONF`` or Slurm's own default names its configuration.

    :param partitions: those whose nodes have leases; all with nodes in the state CLOUD if there are none
    :param seconds: time limit of each command
    """

    def __init__(self, partitions: Sequence[str], seconds: float) -> None:
        self._partitions = tuple(partitions)
        self._seconds = seconds

    def look(self) -> QueueView:
        """Return what the queue has now: nodes first, so that a wanted node does not lack its job."""
        nodes = self._read("sinfo", "--json")
        jobs = self._read("squeue", "--json")
        return view(nodes, jobs, self._partitions)

    def locate(self, name: str, address: str) -> None:
        """Set the address of a node."""
        self._change(f"nodename={name}", f"nodeaddr={address}")

    def drain(self, names: Sequence[str]) -> None:
        """Have nodes powered down after their jobs."""
        self._change(f"nodename={','.join(names)}", "state=POWER_DOWN_ASAP", _REASON)

    def requeue(self, jobs: Sequence[str]) -> None:
        """Requeue jobs one by one, as one that has ended would keep the others from it."""
        for job in jobs:
            try:
                self._run("scontrol", "requeue", job)
            except RefusedError as error:
                LOG.info("job %s is not requeued: %s", job, error)

    def power_down_now(self, names: Sequence[str]) -> None:
        """Power nodes down at once."""
        self._change(f"nodename={','.join(names)}", "state=POWER_DOWN_FORCE", _REASON)

    def power_up(self, names: Sequence[str]) -> None:
        """Power nodes up."""
        self._change(f"nodename={','.join(names)}", "state=POWER_UP")

    def _change(self, *words: str) -> None:
        self._run("scontrol", "update", *words)

    def _read(self, *words: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._run(*words))
        except ValueError as error:
            raise UnavailableError(f"{words[0]} has not answered with JSON") from error
        return found

    def _run(self, *words: str) -> str:
        """Run a command and return its output.

        :raises UnavailableError: Slurm does not answer
        :raises RefusedError: Slurm refuses it
        """
        try:
            ended = subprocess.run(words, capture_output=True, text=True, timeout=self._seconds, check=False)
        except subprocess.TimeoutExpired as error:
            raise UnavailableError(f"{' '.join(words)} took longer than {self._seconds:g} s") from error
        except OSError as error:
            raise UnavailableError(f"{words[0]} cannot be run: {error.strerror}") from error
        if ended.returncode:
            message = " ".join(ended.stderr.split())
            kind = UnavailableError if any(each in message for each in _AWAY) else RefusedError
            raise kind(f"{' '.join(words)}: {message}")
        return ended.stdout
