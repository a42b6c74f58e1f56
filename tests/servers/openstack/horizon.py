"""A real Horizon: OpenStack's web page, with blazar-dashboard, as developers run it and as operators do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import requests

from tests.servers.base import OwnProcess, Server, ServerError
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

#: Settings of an operator. The style sheets are compiled in a step of their own.
_LOCAL_SETTINGS = """
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
SECRET_KEY = "not-a-secret"
CACHES = {{"default": {{"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}}}
OPENSTACK_KEYSTONE_URL = "{keystone_url}"
SESSION_ENGINE = "django.contrib.sessions.backends.file"
SESSION_FILE_PATH = "{folder}"
STATIC_ROOT = "{folder}/static"
COMPRESS_OFFLINE = True
{more}
"""

_ROOT = Path(__file__).parents[3]
#: What the build of our package reads.
_SOURCES = (
    "LICENSE",
    "MANIFEST.in",
    "NOTICE",
    "README.md",
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
)
_ENABLED = "enabled/_9510_project_lease_calendar_panel.py"
_STEP_SECONDS = 300


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


class HorizonOfOperators(Horizon):
    """Horizon without ``DEBUG``, with the panel of the calendar page added as ``doc/source/admin/horizon.rst`` says.

    It has its own copy of Horizon's package, because the panel is added there.

    :param more: lines of its settings
    """

    def __init__(self, folder: Path, python: Path, keystone_url: str, more: str = "") -> None:
        super().__init__(folder, python, keystone_url)
        self._more = more
        self._packages = folder / "packages"

    def _prepare(self) -> None:
        home = self._python.parents[1]
        (original,) = home.glob("lib/python*/site-packages/openstack_dashboard")
        dashboard = shutil.copytree(original, self._packages / "openstack_dashboard", symlinks=True)
        self._install_ours()
        shutil.copy(self._packages / "lease_scheduler" / "horizon" / _ENABLED, dashboard / "local" / "enabled")
        settings = _LOCAL_SETTINGS.format(folder=self.folder, keystone_url=self._keystone_url, more=self._more)
        (dashboard / "local" / "local_settings.py").write_text(settings)
        for step in (["collectstatic", "--noinput"], ["compress", "--force"]):
            self._step([str(self._python), "-m", "django", *step], self._variables())

    def _install_ours(self) -> None:
        """Install our package alone: the panel needs nothing that the service needs."""
        sources = self.folder / "sources"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(_ROOT / "lease_scheduler", sources / "lease_scheduler", ignore=ignored)
        for name in _SOURCES:
            shutil.copy(_ROOT / name, sources)
        # Building needs pbr, which is in our environment.
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
        target = ["--no-compile", "--target", str(self._packages), str(sources)]
        self._step([*pip, *target], {**os.environ, "PBR_VERSION": "0.1.0.dev0"})

    def _step(self, command: list[str], variables: dict[str, str]) -> None:
        ended = subprocess.run(
            command, env=variables, cwd=self.folder, capture_output=True, text=True, timeout=_STEP_SECONDS, check=False
        )
        if ended.returncode:
            raise ServerError(f"{' '.join(command)} failed: {ended.stdout}{ended.stderr}")

    def _variables(self) -> dict[str, str]:
        return environment.variables(
            PYTHONPATH=str(self._packages), DJANGO_SETTINGS_MODULE="openstack_dashboard.settings"
        )

    def _launch(self) -> list[OwnProcess]:
        # Without DEBUG, Django serves style sheets and scripts only if asked to; operators have a web server for that.
        serve = ["runserver", "--noreload", "--insecure", f"127.0.0.1:{self.port}"]
        return [OwnProcess(self.name, [str(self._python), "-m", "django", *serve], self.log, self._variables())]
