"""ShellCheck finds nothing in the shell programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).parents[3]
_FILES = sorted(
    [
        _REPOSITORY / "devstack" / "settings",
        *(_REPOSITORY / "devstack").glob("*.sh"),
        *Path(__file__).parent.glob("*.sh"),
        *(_REPOSITORY / "tools").glob("*.sh"),
    ]
)
_SHELLCHECK = str(Path(sys.executable).with_name("shellcheck"))


def _findings(path: Path) -> str:
    command = [_SHELLCHECK, "--severity=style", "--norc", "--format=gcc", path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=120, check=False).stdout


@pytest.mark.parametrize("path", _FILES, ids=lambda path: str(path.relative_to(_REPOSITORY)))
def test_no_findings(path: Path) -> None:
    assert _findings(path) == ""


def test_it_would_find_something(tmp_path: Path) -> None:
    path = tmp_path / "careless.sh"
    path.write_text("#!/bin/bash\nrm -rf $1/cache\n")
    assert "SC2086" in _findings(path)
