"""The machine on which the figures are measured."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy
from rich.console import Console


def console() -> Console:
    """Return a console, after printing a description of this machine on it."""
    out = Console(width=None if sys.stdout.isatty() else 140)
    out.print(
        f"{_processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()}, NumPy {numpy.__version__}"
    )
    return out


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
