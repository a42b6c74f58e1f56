"""A real Glance, with its images in files."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.servers.openstack import environment
from tests.servers.openstack.identity import ServiceUser, token_check
from tests.servers.openstack.wsgi import WsgiServer


class Glance(WsgiServer):
    """Glance on a database that has its tables.

    :param user: service user with which it validates tokens
    """

    name = "glance"
    module = "glance.wsgi.api"

    def __init__(self, folder: Path, python: Path, database_url: str, user: ServiceUser) -> None:
        super().__init__(folder, python)
        self._database_url = database_url
        self._user = user

    def _prepare(self) -> None:
        paste = self.folder / "glance-api-paste.ini"
        shutil.copy(self._python.parent.parent / "etc" / "glance" / paste.name, paste)
        (self.folder / "glance-api.conf").write_text(
            environment.ini(
                {
                    "DEFAULT": {
                        "use_stderr": True,
                        "enabled_backends": "files:file",
                        "worker_self_reference_url": self.url,
                    },
                    "database": {"connection": self._database_url},
                    "paste_deploy": {"flavor": "keystone", "config_file": paste},
                    "glance_store": {"default_backend": "files"},
                    "files": {"filesystem_store_datadir": self.folder / "images"},
                    "os_glance_staging_store": {"filesystem_store_datadir": self.folder / "staging"},
                    "os_glance_tasks_store": {"filesystem_store_datadir": self.folder / "tasks"},
                    "oslo_concurrency": {"lock_path": self.folder / "locks"},
                    "keystone_authtoken": token_check(self._user),
                }
            )
        )

    def _variables(self) -> dict[str, str]:
        return environment.variables(OS_GLANCE_CONFIG_DIR=str(self.folder))
