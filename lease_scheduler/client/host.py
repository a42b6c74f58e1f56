"""Commands for hosts: which hosts leases have, and which hosts sleep."""

from __future__ import annotations

import argparse

from lease_scheduler.client import output
from lease_scheduler.client.base import ListCommand, ShowCommand, Table
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document

_VERSION = "1.27"

_POWER = ("id", "hypervisor_hostname", "reservable", "power_state", "power_since", "energy_saved_wh")


class ListHosts(ListCommand):
    """List the hosts that a lease has or will have; without a lease, list the hosts of the pool, and which of them
    sleep.
    """

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("lease", metavar="<lease>", nargs="?", help="Lease (name or ID); without one, the pool")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        if parsed.lease is None:
            return output.rows(client.request("GET", "/os-hosts", _VERSION)["hosts"], _POWER)
        found = client.request("GET", f"/leases/{client.find_lease(parsed.lease)}/hosts", "1.7")
        return output.rows(found["hosts"], ("hypervisor_hostname", "reservation_id"))


class _HostCommand(ShowCommand):
    """A command that does something with a host of the pool.

    :cvar action: name of the action in the API
    """

    action = ""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("host", metavar="<host>", help="Host (name or ID)")

    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        path = f"/os-hosts/{client.find_host(parsed.host)}/action"
        host = client.one("POST", path, _VERSION, "host", {self.action: {}})
        return {name: host[name] for name in _POWER}


class SleepHost(_HostCommand):
    """Let a host sleep until a lease needs it."""

    action = "sleep"


class WakeHost(_HostCommand):
    """Wake a host that sleeps."""

    action = "wake"
