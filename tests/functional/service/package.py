"""Another package beside the project, for the process of a test alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from stevedore import ExtensionManager, _cache


def install(package: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a package importable, and known by its entry points.

    :param package: folder of its modules and its ``pyproject.toml``
    :param folder: gets what an installer would write
    """
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    about = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = []
    for namespace, entries in project["entry-points"].items():
        lines += [f"[{namespace}]", *(f"{name} = {value}" for name, value in entries.items())]
    (about / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.syspath_prepend(package)
    # What stevedore has found before.
    monkeypatch.setattr(ExtensionManager, "ENTRY_POINT_CACHE", {})
    monkeypatch.setattr(_cache, "_c", _cache.Cache(str(folder / "cache")))
