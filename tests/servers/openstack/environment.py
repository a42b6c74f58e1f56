"""Virtual environments of OpenStack services, with compatible versions of their packages, apart from ours.

``python -m tests.servers.openstack.environment FOLDER`` makes it, using nothing but Python itself.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.servers.base import MissingServerError

#: The environment is kept until this file changes.
REQUIREMENTS = Path(__file__).with_name("requirements.txt")

#: Programs of ours that run in the environment.
PROGRAMS = Path(__file__).with_name("programs")

_INSTALL_LIMIT_SECONDS = 600
_DONE = "requirements.txt"


def folder(cache: Path, name: str = "environment") -> Path:
    """Return where an environment is, or will be.

    :param cache: folder that is kept from run to run
    """
    return cache / f"{name}-{sysconfig.get_platform()}-{sys.implementation.cache_tag}"


def interpreter(cache: Path, name: str = "environment") -> Path:
    """Return the path of its Python."""
    return folder(cache, name) / "bin" / "python"


def install(
    cache: Path,
    name: str = "environment",
    requirements: Path = REQUIREMENTS,
    finish: Callable[[Path], None] | None = None,
) -> Path:
    """Return the interpreter of an environment; create it from the package index unless it exists.

    :param cache: folder that is kept from run to run and may be used by several runs at once
    :param finish: completes the environment in its folder after the packages are installed; None for that of Nova
    :raises MissingServerError: it cannot be installed
    """
    home, python = folder(cache, name), interpreter(cache, name)
    # A second process waits here, and then finds everything installed.
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = requirements.read_text()
        done = home / _DONE
        if done.exists() and done.read_text() == wanted and python.exists():
            return python
        if home.exists():
            shutil.rmtree(home)
        _run(sys.executable, "-m", "venv", str(home))
        # Python compiles modules on import. Compiling the others, which takes half of pip's time, is of no use.
        pip = [str(python), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
        _run(*pip, "--requirement", str(requirements))
        (finish or _finish_nova)(home)
        done.write_text(wanted)
    return python


def _finish_nova(home: Path) -> None:
    # Nova looks for etc/nova/api-paste.ini beside its package, but pip installs etc at the root of the environment.
    for package in home.glob("lib/python*/site-packages"):
        (package / "etc").symlink_to(os.path.relpath(home / "etc", package))
    # Otherwise each of the processes that start with Nova's own tests would compile them.
    _run(str(home / "bin" / "python"), "-W", "ignore", "-c", "import nova.tests.functional.integrated_helpers")


def variables(**more: str) -> dict[str, str]:
    """Return environment variables for its programs, without those that would affect packages or settings."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON", "PYTEST"))}
    return ours | more


def ini(sections: Mapping[str, Mapping[str, object]]) -> str:
    """Return the text of a configuration file."""
    return "".join(
        f"[{section}]\n" + "".join(f"{option} = {value}\n" for option, value in options.items())
        for section, options in sections.items()
    )


def _run(*command: str) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_LIMIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingServerError(f"OpenStack's services cannot be installed: {error}") from error
    if ended.returncode:
        raise MissingServerError(
            f"OpenStack's services cannot be installed: {reason_of(ended.stderr, ended.returncode)}"
        )


def reason_of(errors: str, status: int) -> str:
    """Return why pip failed: its last error that names something, not the advice that may follow."""
    lines = [line.strip() for line in errors.strip().splitlines() if line.strip()]
    named = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (named or lines or [f"status {status}"])[-1]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    try:
        install(place)
    except MissingServerError as failure:
        sys.exit(str(failure))
