"""How OpenStack's services log in, and validate the tokens of their clients."""

from __future__ import annotations

from dataclasses import dataclass

from tests.servers.keystone import PASSWORD, REGION

#: Project of all service users.
SERVICE_PROJECT = "service"


@dataclass(frozen=True)
class ServiceUser:
    """A service as a user of Keystone.

    :ivar keystone_url: where it logs in
    """

    name: str
    keystone_url: str


def login(user: ServiceUser) -> dict[str, object]:
    """Return the options of a section with which a service calls another one."""
    return {
        "auth_type": "password",
        "auth_url": user.keystone_url,
        "username": user.name,
        "password": PASSWORD,
        "project_name": SERVICE_PROJECT,
        "user_domain_id": "default",
        "project_domain_id": "default",
        "region_name": REGION,
    }


def token_check(user: ServiceUser) -> dict[str, object]:
    """Return the options of ``[keystone_authtoken]``."""
    return login(user) | {"www_authenticate_uri": user.keystone_url, "service_token_roles_required": True}
