"""Parts of the CPU for servers of fluid leases, set by orders to the agents of their hosts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Protocol

from lease_scheduler.agent.protocol import CPU_WEIGHT, AgentError, Answer
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.complaints import complain
from lease_scheduler.worker import Worker

LOG = logging.getLogger(__name__)

#: Maximum number of agents that are given orders at the same time.
_AT_ONCE = 32

#: Real seconds for which a stop of the engine waits for the current round.
_LAST_ROUND = 5.0

#: Maximum number of hosts that a log line names.
_NAMED = 20

#: Host -> server -> weight.
Weights = Mapping[str, Mapping[str, int]]


class Agents(Protocol):
    """The part of ``agent.client.AgentClient`` that is needed here."""

    def ask(self, host: str) -> Answer:
        """Return the state of the servers of a host, without giving an order."""
        ...

    def order(self, host: str, weights: Mapping[str, int]) -> Answer:
        """Give servers of a host their weights."""
        ...

    def close(self) -> None:
        """Release the connections."""
        ...


class ServerShares:
    """See ``cloud.capabilities.Shares``. A separate thread gives orders, so no agent delays the engine.

    Orders are repeated, so that restarted agents get them, and servers that have moved keep their weights. A host on
    which no server of a fluid lease is left gets one order without weights.

    :param make_agents: makes the client of the agents when the engine begins to lead; returns None if there are no
        agents, so that nothing is done
    :param listed: returns all servers of the cloud
    :param renew_interval: real seconds after which orders are repeated
    """

    def __init__(
        self, make_agents: Callable[[], Agents | None], listed: Callable[[], list[Any]], renew_interval: float
    ) -> None:
        self._make_agents = make_agents
        self._listed = listed
        self._renew_interval = renew_interval
        self._lock = Lock()
        #: Held while agents are asked, as each agent answers one request at a time.
        self._asking = Lock()
        self._revision = 0
        self._yields: Mapping[str, float] = {}
        self._weights: Weights = {}
        self._degraded: Mapping[str, str] = {}
        self._agents: Agents | None = None
        self._worker: Worker | None = None

    @property
    def degraded(self) -> Mapping[str, str]:
        """Hosts whose servers may have other weights than they should have -> reason."""
        return self._degraded

    def start(self) -> None:
        """Begin to give orders, which overrule those of earlier engines."""
        self._agents = self._make_agents()
        if self._agents is None:
            return
        self._worker = Worker("server-shares", self._round, self._renew_interval)
        self._worker.start()

    def stop(self) -> None:
        """Give no more orders. Agents keep the last ones until these expire."""
        if self._worker is not None:
            self._worker.ask_to_stop()
            self._worker.join(_LAST_ROUND)
        if self._agents is not None:
            self._agents.close()
        self._agents = self._worker = None
        with self._lock:
            # The next engine of this process begins anew.
            self._revision, self._yields, self._weights, self._degraded = 0, {}, {}, {}

    def share(self, revision: int, yields: Mapping[str, float]) -> None:
        """See ``Shares.share``."""
        with self._lock:
            if revision < self._revision:
                return
            self._revision, self._yields = revision, dict(yields)
        if self._worker is not None:
            self._worker.wake()

    def cpu_times(self) -> Mapping[str, float]:
        """Return the CPU seconds of the servers that have weights; see ``Shares.cpu_times``."""
        agents, weights = self._agents, self._weights
        if agents is None or not weights:
            return {}

        def ask(host: str) -> dict[str, float]:
            try:
                reports = agents.ask(host).servers
            except Exception as error:
                # ``_tell`` logs agents that do not answer orders.
                LOG.debug("the agent of %s does not tell what servers use: %s", host, error)
                return {}
            return {server_id: reports[server_id].cpu_seconds for server_id in weights[host] if server_id in reports}

        # What servers use says nothing if they may have other weights than ordered.
        hosts = [host for host in weights if host not in self._degraded]

        with self._asking, ThreadPoolExecutor(_AT_ONCE, "server-shares") as lanes:
            return {server_id: used for found in lanes.map(ask, hosts) for server_id, used in found.items()}

    def _round(self) -> float | None:
        """Give each host its order. Return the seconds until this is repeated, or None if there is nothing to order."""
        with self._lock:
            yields = self._yields
        before = self._weights
        if not yields and not before:
            return None
        try:
            wanted = weights_of(self._listed() if yields else [], yields)
        except Exception as error:
            complain(LOG, "servers cannot be listed; orders to agents are repeated as they were", error)
            wanted = before
        self._weights = wanted
        # A host without fluid servers is told so once. If it does not get this order, its weights expire.
        problems = self._order({**{host: {} for host in before}, **wanted})
        self._tell({host: problem for host, problem in problems.items() if host in wanted})
        return self._renew_interval

    def _order(self, hosts: Weights) -> Mapping[str, str]:
        """Give orders to the agents of hosts, and return host -> problem, for hosts with one."""
        with self._asking, ThreadPoolExecutor(_AT_ONCE, "server-shares") as lanes:
            found = dict(zip(hosts, lanes.map(self._order_one, hosts, hosts.values()), strict=True))
        return {host: problem for host, problem in sorted(found.items()) if problem is not None}

    def _order_one(self, host: str, weights: Mapping[str, int]) -> str | None:
        """Give an order to the agent of a host, and return its problem, or None."""
        worker = self._worker
        if self._agents is None or worker is None or worker.is_stopping:
            return None
        try:
            return self._agents.order(host, weights).problem
        except AgentError as error:
            return str(error)
        except Exception as error:
            complain(LOG, f"the agent of {host} cannot be asked", error)
            return f"cannot be asked: {error!r}"

    def _tell(self, problems: Mapping[str, str]) -> None:
        """Log the hosts that are newly degraded, or recovered."""
        before, self._degraded = self._degraded, problems
        new = [host for host in sorted(problems) if host not in before]
        if new:
            LOG.warning(
                "servers of fluid leases may not have their parts of the CPU on %d hosts: %s",
                len(new),
                _listed([f"{host} ({problems[host]})" for host in new]),
            )
        over = sorted(before.keys() - problems.keys())
        if over:
            LOG.info("servers of fluid leases have their parts of the CPU again on %s", _listed(over))


def weights_of(servers: Collection[Any], yields: Mapping[str, float]) -> Weights:
    """Return compute service -> server of a fluid lease -> weight.

    With a yield of 1, a server has a weight of ``CPU_WEIGHT`` for each of its VCPUs, as any other server has.

    :param servers: as novaclient lists them
    :param yields: lease -> part of the CPUs of its servers
    """
    found: dict[str, dict[str, int]] = {}
    for server in servers:
        # By the flavor and not by tags, as users could tag their servers with another lease that gets more.
        host, part = of.service(server), yields.get(of.made_for(server) or "")
        if host is not None and part is not None:
            vcpus = int(server.flavor.get("vcpus") or 1)
            found.setdefault(host, {})[server.id] = max(1, round(CPU_WEIGHT * vcpus * part))
    return found


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _NAMED
    return ", ".join(texts[:_NAMED]) + (f" and {more} more" if more > 0 else "")
