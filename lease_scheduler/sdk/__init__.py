"""The reservation service in openstacksdk: ``connection.reservation`` with resources instead of plain requests.

openstacksdk has only a generic proxy for the service type ``reservation``. A profile adds this one::

    clouds:
      example:
        vendor_hook: lease_scheduler.sdk:add_to

A program may do it as well: ``lease_scheduler.sdk.add_to(connection)``.
"""

from __future__ import annotations

from openstack.connection import Connection
from openstack.service_description import ServiceDescription

from lease_scheduler.sdk.proxy import Proxy

__all__ = ["Proxy", "add_to"]


def add_to(connection: Connection) -> None:
    """Let a connection use the resources of this package. openstacksdk adds them to all connections of the process.

    :param connection: an open connection to a cloud
    """
    connection.add_service(ServiceDescription("reservation", supported_versions={"1": Proxy}))
