"""A real Placement: what every host has, and who has it."""

from __future__ import annotations

from pathlib import Path

from tests.servers.openstack import environment
from tests.servers.openstack.identity import ServiceUser, token_check
from tests.servers.openstack.wsgi import WsgiServer


class Placement(WsgiServer):
    """Placement on a database that has its tables.

    :param user: as whom it asks Keystone whether a token is good
    """

    name = "placement"
    module = "placement.wsgi.api"

    def __init__(self, folder: Path, python: Path, database_url: str, user: ServiceUser) -> None:
        super().__init__(folder, python)
        self._database_url = database_url
        self._user = user

    def _prepare(self) -> None:
        (self.folder / "placement.conf").write_text(
            environment.ini(
                {
                    "DEFAULT": {"use_stderr": True},
                    "placement_database": {"connection": self._database_url},
                    "api": {"auth_strategy": "keystone"},
                    "keystone_authtoken": token_check(self._user),
                }
            )
        )

    def _variables(self) -> dict[str, str]:
        return environment.variables(OS_PLACEMENT_CONFIG_DIR=str(self.folder))
