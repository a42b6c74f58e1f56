"""A real Horizon: OpenStack's web page, with blazar-dashboard, as its developers run it."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import requests

from tests.servers.base import OwnProcess, Server
from tests.servers.openstack import environment

_REQUIREMENTS = Path(__file__).with_name("horizon_requirements.txt")

#: Django's settings. Those that are not here are Horizon's own.
_SETTINGS = """
from openstack_dashboard.settings import *

# Django then serves the style sheets and scripts itself.
DEBUG = True
ALLOWED_HOSTS = ["127.0.0.1"]
SECRET_KEY = "not-a-secret"
CACHES = {{"default": {{"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}}}
OPENSTACK_KEYSTONE_URL = "{keystone_url}"
SESSION_ENGINE = "django.contrib.sessions.backends.file"
SESSION_FILE_PATH = "{folder}"
STATIC_ROOT = COMPRESS_ROOT = "{folder}/static"
"""


def install(cache: Path) -> Path:
    """Return the interpreter of Horizon's environment; create it from the package index unless it exists.

    :param cache: folder that is kept from run to run
    :raises MissingServerError: it cannot be installed
    """
    return environment.install(cache, "horizon", _REQUIREMENTS, _enable)


def _enable(home: Path) -> None:
    """Do as blazar-dashboard's documentation says: copy the files that add its panels."""
    for package in home.glob("lib/python*/site-packages"):
        for panel in sorted((package / "blazar_dashboard" / "enabled").glob("_9*.py")):
            shutil.copy(panel, package / "openstack_dashboard" / "local" / "enabled")


class Horizon(Server):
    """Horizon, whose users log in at a Keystone.

    :param python: interpreter of its environment
    """

    name = "horizon"

    def __init__(self, folder: Path, python: Path, keystone_url: str) -> None:
        super().__init__(folder)
        self._python = python
        self._keystone_url = keystone_url

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _prepare(self) -> None:
        settings = _SETTINGS.format(folder=self.folder, keystone_url=self._keystone_url)
        (self.folder / "horizon_settings.py").write_text(settings)

    def _launch(self) -> list[OwnProcess]:
        program = [str(self._python), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{self.port}"]
        variables = environment.variables(PYTHONPATH=str(self.folder), DJANGO_SETTINGS_MODULE="horizon_settings")
        return [OwnProcess(self.name, program, self.log, variables)]

    def _answers(self) -> bool:
        try:
            # The first answer takes seconds, because the style sheets are compiled.
            return requests.get(f"{self.url}/auth/login/", timeout=60).ok
        except requests.RequestException:
            return False

    def _end(self, process: OwnProcess) -> None:
        process.end(signal.SIGTERM, 30)
