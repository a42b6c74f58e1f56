"""``lease-scheduler-manage agent``: list the answers of agents on compute hosts, and print the keys that they need."""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from oslo_config import cfg
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lease_scheduler.agent.protocol import AgentError, Answer, host_key
from lease_scheduler.cmd.agents import agent_client, agent_secret
from lease_scheduler.cmd.wiring import database
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.store.sql.reader import SqlReader

#: Maximum number of agents that are asked at the same time.
_AT_ONCE = 32


def add_to(commands: Any) -> None:
    """Add the commands to those of the group ``agent``."""
    listing = commands.add_parser(
        "list", help="ask the agents of the pool's hosts for the CPU weights and times of their servers"
    )
    listing.add_argument(
        "hosts", nargs="*", metavar="HOST", help="compute services to ask (default: those of the pool)"
    )
    listing.set_defaults(run=_list)
    key = commands.add_parser("key", help="tell the key that the agent of a host needs")
    key.add_argument("host", metavar="HOST", help="name of its compute service")
    key.set_defaults(run=_key)


def _key(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    secret = agent_secret(conf)
    if secret is None:
        raise InvalidValueError("agent.secret", "is needed to derive the keys of hosts")
    print(host_key(secret, conf.service.site, options.host))


def _list(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    agents = agent_client(conf)
    if agents is None:
        raise InvalidValueError("agent.secret", "is needed to ask agents")
    hosts = options.hosts or [
        host["service_name"] or host["name"] for host in SqlReader(database(conf), conf.service.site).hosts()
    ]

    def ask(host: str) -> Answer | AgentError:
        try:
            return agents.ask(host)  # type: ignore[no-any-return]
        except AgentError as error:
            return error

    table = Table("host", "state", "server", "CPUs", "weight", "CPU seconds")
    with ThreadPoolExecutor(_AT_ONCE) as lanes:
        for host, found in zip(hosts, lanes.map(ask, hosts), strict=True):
            if isinstance(found, AgentError):
                table.add_row(escape(host), escape(str(found)))
                continue
            table.add_row(escape(host), escape(found.problem or "ok"))
            for server_id, server in sorted(found.servers.items()):
                table.add_row(
                    "", "", escape(server_id), str(server.vcpus), str(server.shares), f"{server.cpu_seconds:.1f}"
                )
    Console().print(table)
    agents.close()
