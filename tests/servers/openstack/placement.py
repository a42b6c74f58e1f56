"""A real Placement: inventories of all hosts, and the claims on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.servers.openstack import environment
from tests.servers.openstack.identity import ServiceUser, token_check
from tests.servers.openstack.wsgi import WsgiServer


class Placement(WsgiServer):
    """Placement on a database that has its tables.

    :param user: service user with which it validates tokens; without one, the only token is ``admin``
    :param retries: how often it retries to write a claim itself; None for its default
    """

    name = "placement"
    module = "placement.wsgi.api"

    def __init__(
        self, folder: Path, python: Path, database_url: str, user: ServiceUser | None, retries: int | None = None
    ) -> None:
        super().__init__(folder, python)
        self._retries = retries
        self._database_url = database_url
        self._user = user

    def _prepare(self) -> None:
        sections: dict[str, Mapping[str, object]] = {
            "DEFAULT": {"use_stderr": True},
            "placement_database": {"connection": self._database_url},
        }
        if self._retries is not None:
            sections["placement"] = {"allocation_conflict_retry_count": self._retries}
        if self._user is None:
            sections["api"] = {"auth_strategy": "noauth2"}
        else:
            sections |= {"api": {"auth_strategy": "keystone"}, "keystone_authtoken": token_check(self._user)}
        (self.folder / "placement.conf").write_text(environment.ini(sections))

    def make_tables(self) -> None:
        """Create its tables in an empty database.

        :raises ServerError: they cannot be created
        """
        self._prepare()
        program = environment.PROGRAMS / "make_databases.py"
        self._run([str(self._python), str(program), "placement", str(self.folder / "placement.conf")])

    def _variables(self) -> dict[str, str]:
        return environment.variables(OS_PLACEMENT_CONFIG_DIR=str(self.folder))
