"""The driver ``ironic``, for OpenStack's Bare Metal service, which manages the hosts as its nodes."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from openstack.connection import Connection
from openstack.exceptions import NotFoundException

from lease_scheduler.cloud.power.base import PowerDriverOptions, PowerError
from lease_scheduler.model.errors import InvalidValueError

_ON, _OFF, _SHUT_DOWN = "power on", "power off", "soft power off"

#: Target states of a node that is being switched off.
_GOING_OFF = frozenset({_OFF, _SHUT_DOWN})


class IronicPower:
    """Driver for Ironic's nodes. The node of a host has the name of the host, unless ``ironic_nodes`` names another.

    :raises InvalidValueError: there are no credentials, or they are incomplete
    """

    def __init__(self, options: PowerDriverOptions) -> None:
        values = options.values
        self._nodes: dict[str, str] = dict(values["ironic_nodes"])
        empty = sorted(host for host, node in self._nodes.items() if not host or not node)
        if empty:
            raise InvalidValueError("power.ironic_nodes", f"must map hosts to nodes; one name is empty: {empty[0]!r}")
        self._ironic = Connection(
            session=options.session(),
            region_name=values["ironic_region_name"],
            baremetal_interface=values["ironic_interface"],
            # No retries: commands are repeated anyway, and an answer must come within the time limit.
            baremetal_status_code_retries=0,
            baremetal_connect_retries=0,
        )
        self._lock = Lock()

    def is_on(self, host: str) -> bool | None:
        """See ``PowerDriver.is_on``. A node that Ironic cannot read has no known state."""
        found: bool | None = self._ask(host, lambda node: {_ON: True, _OFF: False}.get(node.power_state))
        return found

    def turn_on(self, host: str) -> None:
        """See ``PowerDriver.turn_on``."""
        self._ask(host, lambda node: self._set(node, _ON, frozenset({_ON})))

    def turn_off(self, host: str) -> None:
        """See ``PowerDriver.turn_off``."""
        self._ask(host, lambda node: self._set(node, _SHUT_DOWN, _GOING_OFF))

    def _set(self, node: Any, target: str, same: frozenset[str]) -> None:
        """Give a command, unless the node is carrying it out, as it is locked then.

        :param same: target states that mean the same
        """
        if node.is_maintenance:
            # Somebody works on the node, and Ironic itself would switch it nevertheless.
            raise PowerError(f"node {node.name or node.id} is in maintenance")
        if node.target_power_state not in same:
            self._ironic.baremetal.set_node_power_state(node, target)

    def _ask(self, host: str, question: Callable[[Any], Any]) -> Any:
        name = self._nodes.get(host, host)
        try:
            with self._lock:
                # The first use finds the endpoint.
                baremetal = self._ironic.baremetal
            return question(baremetal.get_node(name))
        except PowerError:
            raise
        except NotFoundException:
            raise PowerError(f"there is no node {name} in Ironic for host {host}; see [power] ironic_nodes") from None
        except Exception as error:
            raise PowerError(f"Ironic, node {name} of host {host}: {error}") from error
