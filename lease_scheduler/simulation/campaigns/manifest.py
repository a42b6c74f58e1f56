"""The manifest of a campaign: what was run, where, with which versions and inputs, and the resources that it used.

``manifest.json`` is a JSON object with these keys:

* ``schema``: 1
* ``environment``: version of the package, git revision, versions of Python, NumPy and SciPy, platform, cores
* ``inputs``: file -> SHA-256
* ``seeds``: parameter -> values
* ``runs``: name -> ``parameters`` and, for finished runs, the fields of ``Usage``
* ``failed``: name -> ``error``, ``exit_code`` and ``details``
* ``calls``: time and command line of the first call, and of each call that resumed the campaign
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.campaigns.case import Case, Failure, parameters_of
from lease_scheduler.simulation.campaigns.journal import Entry
from lease_scheduler.simulation.formats.files import replace_file

_FILE = "manifest.json"
_SCHEMA = 1
_PACKAGE = "lease-scheduler"


@dataclass
class Manifest:
    """The manifest in a directory.

    :ivar path: its file
    :ivar environment: environment of the last call
    :ivar inputs: file -> SHA-256 of every input of any call, as of the last call that used it
    :ivar parameters: name -> parameters of every run of any call
    :ivar failed: name -> failure of every run that failed in the last call
    :ivar calls: all calls, the first one first
    """

    path: Path
    environment: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, Failure] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def write(self, done: Mapping[str, Entry]) -> None:
        """Write the manifest to its file in one step.

        :param done: finished runs by name
        :raises InputFileError: the file cannot be written
        """
        runs = {
            name: {"parameters": parameters, **(done[name].usage if name in done else {})}
            for name, parameters in self.parameters.items()
        }
        content = {
            "schema": _SCHEMA,
            "environment": self.environment,
            "inputs": self.inputs,
            "seeds": _seeds(self.parameters.values()),
            "runs": runs,
            "failed": {name: asdict(failure) for name, failure in self.failed.items()},
            "calls": self.calls,
        }
        replace_file(self.path, json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")


def open_manifest(
    directory: Path, cases: Iterable[Case], done: Mapping[str, Entry], inputs: Iterable[Path], command: Iterable[str]
) -> tuple[Manifest, list[str]]:
    """Return the manifest for a call, based on that of earlier calls.

    :param done: runs that earlier calls have finished, by name
    :param inputs: files that the runs read
    :param command: the words of the command line
    :return: the manifest, and the differences from the previous call as text
    :raises InputFileError: the file is not a manifest, an input cannot be read, or a finished run had other parameters
    """
    path = directory / _FILE
    old = _read(path)
    listed = {case.name: parameters_of(case) for case in cases}
    for name, parameters in listed.items():
        before = old.parameters.get(name, parameters)
        if name in done and before != parameters:
            problem = f"run {name!r} was done with other parameters ({_first_difference(before, parameters)})"
            raise InputFileError(str(path), None, f"{problem}; use another directory")
    environment, digests = _environment(), {str(file): _digest(file) for file in inputs}
    differences = []
    if old.calls:
        differences += _differences("", old.environment, environment)
        differences += _differences("input ", old.inputs, digests)
    call = {"started": datetime.now(UTC).isoformat(timespec="seconds"), "command": list(command)}
    if differences:
        call["differences"] = differences
    known = {**old.parameters, **listed}
    return Manifest(path, environment, {**old.inputs, **digests}, known, {}, [*old.calls, call]), differences


def _read(path: Path) -> Manifest:
    if not path.exists():
        return Manifest(path)
    try:
        content = json.loads(path.read_bytes())
        if content["schema"] != _SCHEMA:
            raise InputFileError(str(path), None, "is of another version of the program; use another directory")
        parameters = {name: run["parameters"] for name, run in content["runs"].items()}
        return Manifest(path, content["environment"], content["inputs"], parameters, {}, content["calls"])
    except OSError as error:
        raise InputFileError(str(path), None, f"cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputFileError(str(path), None, "is not a manifest of a campaign; use another directory") from error


def _differences(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return, as text, the values that differ between two calls. Keys that only one of them has are ignored."""
    return [
        f"{what}{name}: {'its content has changed' if what else f'{old[name]} before, now {new[name]}'}"
        for name in new
        if name in old and old[name] != new[name]
    ]


def _first_difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    name = next(name for name in (*before, *now) if before.get(name) != now.get(name))
    return f"{name}: {before.get(name)!r} before, now {now.get(name)!r}"


def _seeds(runs: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    found: dict[str, set[Any]] = {}
    for parameters in runs:
        for name, value in parameters.items():
            if name.rpartition("_")[2].rpartition(".")[2] == "seed" and isinstance(value, int | str):
                found.setdefault(name, set()).add(value)
    return {name: sorted(values, key=str) for name, values in sorted(found.items())}


def _environment() -> dict[str, Any]:
    return {
        "version": version(_PACKAGE),
        "git_revision": _git_revision(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
    }


def _git_revision() -> str | None:
    """Return the git revision of this file, with the suffix ``-dirty`` if files were changed, or None if unknown."""
    here = Path(__file__)
    try:
        for words in ("ls-files --error-unmatch", here.name), ("describe --always --dirty --abbrev=40 --exclude", "*"):
            command = ["git", "-C", str(here.parent), *words[0].split(), words[1]]
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputFileError(str(path), None, f"cannot be read: {error.strerror}") from error
