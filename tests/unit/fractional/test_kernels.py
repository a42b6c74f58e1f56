"""Compiled and plain inner loops give the same results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Prints what the inner loops find.
_PROGRAM = Path(__file__).with_name("kernel_results.py")


def test_compiled_and_plain_code_give_the_same_results() -> None:
    """dfrs: the extra ``fast`` changes nothing but the speed."""
    pytest.importorskip("numba")
    root = Path(__file__).parents[3]
    compiled, plain = (
        subprocess.run(
            [sys.executable, str(_PROGRAM), way],
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
        ).stdout
        for way in ("compiled", "plain")
    )
    assert compiled.count("[") > 100
    assert compiled == plain
