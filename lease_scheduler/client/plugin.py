"""The names that OpenStackClient expects in a plug-in (osc-lib, plug-in interface)."""

from __future__ import annotations

import argparse
from typing import Any

from keystoneauth1 import adapter

from lease_scheduler.client.rest import SERVICE_TYPE, LeaseClient

API_NAME = "lease"
API_VERSION_OPTION = "os_lease_api_version"
API_VERSIONS = {"1": "lease_scheduler.client.rest.LeaseClient"}
DEFAULT_API_VERSION = "1"


def make_client(instance: Any) -> LeaseClient:
    """Return the API client that commands find as ``client_manager.lease``.

    :param instance: OpenStackClient's client manager, which has the session, the region and the interface
    """
    return LeaseClient(
        adapter.Adapter(
            session=instance.session,
            service_type=SERVICE_TYPE,
            interface=instance.interface,
            region_name=instance.region_name,
            endpoint_override=instance.get_endpoint_for_service_type(
                SERVICE_TYPE, region_name=instance.region_name, interface=instance.interface
            ),
            user_agent="lease-scheduler",
        )
    )


def build_option_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the options that are common to all commands of the plug-in."""
    parser.add_argument(
        "--os-lease-api-version",
        metavar="<lease-api-version>",
        help=f"Version of the lease API, default: {DEFAULT_API_VERSION} (Env: OS_LEASE_API_VERSION)",
    )
    return parser
