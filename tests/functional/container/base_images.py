"""Stand-ins for the base images that ``container`` names, made of Debian packages.

They let the files run where Debian's and PyPI's packages can be had but no registry of images. They are not what the
official images are: their programs come from Debian 13, with short entry points of the tests.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from configparser import ConfigParser
from pathlib import Path

from tests.functional.container.podman import LIMIT_SECONDS, Podman, run_program
from tests.servers.base import find_program

_FOLDER = Path(__file__).parent / "images"
_DEBIAN = "lease-scheduler-test/debian"
#: Debian 13 has Python 3.13, MariaDB 11.8 and RabbitMQ 4.0.
_RELEASE = "trixie"
_CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")

#: Folder in ``images`` by the name of the image that it stands for.
STAND_INS = {
    "docker.io/library/python:3.13-slim": "python",
    "docker.io/library/mariadb:11": "mariadb",
    "docker.io/library/rabbitmq:4": "rabbitmq",
}


def make(podman: Podman) -> None:
    """Make the stand-ins that are not there yet.

    :raises tests.servers.base.MissingServerError: debootstrap is not installed
    :raises tests.servers.base.ServerError: a step failed
    """
    for name, folder in STAND_INS.items():
        if not podman.has_image(name):
            if not podman.has_image(_DEBIAN):
                _import_debian(podman)
            with tempfile.TemporaryDirectory(prefix="lease-image-") as context:
                shutil.copytree(_FOLDER / folder, context, dirs_exist_ok=True)
                (Path(context) / "pip.conf").write_text(_pip_configuration())
                podman.run("build", "--quiet", "--tag", name, context)


def _import_debian(podman: Podman) -> None:
    debootstrap = str(find_program("debootstrap"))
    with tempfile.TemporaryDirectory(prefix="lease-debian-") as folder:
        root = Path(folder) / "root"
        run_program([debootstrap, "--variant=minbase", "--include=ca-certificates", _RELEASE, str(root)], {})
        for each in ("var/cache/apt", "var/lib/apt/lists"):
            shutil.rmtree(root / each)
            (root / each).mkdir()
        # A machine behind a proxy may trust more than Debian does.
        shutil.copy(Path("/") / _CERTIFICATES, root / _CERTIFICATES)
        packed = ["tar", "--directory", str(root), "--create", "."]
        with subprocess.Popen(packed, stdout=subprocess.PIPE) as tar:
            assert tar.stdout is not None
            podman.run("import", "-", _DEBIAN, stdin=tar.stdout.fileno())
            assert tar.wait(LIMIT_SECONDS) == 0


def _pip_configuration() -> str:
    """Return a configuration of pip with this machine's index and the certificates of the stand-ins."""
    parsed = ConfigParser(interpolation=None)
    parsed.read(["/etc/pip.conf", Path.home() / ".config/pip/pip.conf"])
    index = parsed.get("global", "index-url", fallback="")
    lines = ["[global]", f"cert = /{_CERTIFICATES}", *([f"index-url = {index}"] if index else [])]
    return "\n".join(lines) + "\n"
