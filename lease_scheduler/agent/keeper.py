"""The keeper of the weights of the last order on the servers of a host."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from threading import Lock

from lease_scheduler.agent.hypervisor import Hypervisor, HypervisorAwayError, RunningServer, SharesRefusedError
from lease_scheduler.agent.protocol import Answer, Request, ServerReport
from lease_scheduler.agent.shares import wanted_shares

LOG = logging.getLogger(__name__)


class WeightKeeper:
    """Applies orders, and applies the last one again whenever the servers of the host differ from it.

    Nothing is stored: servers keep their weights while the agent is away, the hypervisor knows those that Nova gave
    them, and the engine repeats its orders.

    :param expire_after: seconds after the last order at which servers get back the weights that Nova gave them
    :param ratio: CPUs that may be promised, as a multiple of the CPUs of the host
    :param monotonic: returns seconds that no change of the clock of the machine affects
    """

    def __init__(
        self,
        hypervisor: Hypervisor,
        expire_after: float,
        ratio: float = 1.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hypervisor = hypervisor
        self._expire_after = expire_after
        self._ratio = ratio
        self._monotonic = monotonic
        self._lock = Lock()
        self._run = secrets.token_hex(16)
        self._revision = 0
        self._weights: Mapping[str, int] | None = None
        # An agent that was restarted leaves the weights as it finds them until the engine has had time to repeat them.
        self._renewed = monotonic()
        self._told: str | None = None

    def answer(self, request: Request) -> Answer:
        """Carry out a request that is known to be authentic, and answer it."""
        with self._lock:
            accepted = request.run == self._run
            if request.revision is not None and accepted:
                accepted = request.revision > self._revision
                if accepted:
                    self._revision = request.revision
                    self._weights = dict(request.weights or {})
                    self._renewed = self._monotonic()
            servers, problem = self._apply()
            reports = {
                server_id: ServerReport(server.vcpus, server.shares, server.cpu_seconds)
                for server_id, server in servers.items()
            }
            return Answer(
                request.site, request.host, request.nonce, self._run, self._revision, accepted, problem, reports
            )

    def keep(self) -> None:
        """Apply the last order again, since servers come, go and are reset. This is called periodically."""
        with self._lock:
            self._apply()

    def _apply(self) -> tuple[Mapping[str, RunningServer], str | None]:
        """Apply the last order. Return the servers, and the problem or None; log the problem when it changes."""
        servers: Mapping[str, RunningServer] = {}
        try:
            refused = self._change()
            servers = self._hypervisor.servers()
            problem = "; ".join(refused) or None
        except HypervisorAwayError as error:
            problem = str(error)
        if problem != self._told:
            if problem is None:
                LOG.info("the servers have their weights again")
            else:
                LOG.warning("servers may not have the weights that they should have: %s", problem)
        self._told = problem
        return servers, problem

    def _change(self) -> list[str]:
        """Change the weights that differ. Return what the hypervisor refused."""
        if self._monotonic() - self._renewed >= self._expire_after:
            if self._weights:
                LOG.warning(
                    "no engine has renewed the weights for %g s; servers get those of Nova back", self._expire_after
                )
            self._weights = {}
        if self._weights is None:
            return []
        hypervisor = self._hypervisor
        servers = hypervisor.servers()
        wanted = wanted_shares(servers, self._weights, hypervisor.cpus() * self._ratio, hypervisor.scale)
        refused = []
        for server_id, shares in sorted(wanted.items()):
            if servers[server_id].shares != shares:
                try:
                    hypervisor.set_shares(server_id, shares)
                except SharesRefusedError as error:
                    refused.append(f"server {server_id}: {error}")
        return refused
