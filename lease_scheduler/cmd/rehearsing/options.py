"""Arguments of ``lease-scheduler-manage rehearse``. This module needs no extra."""

from __future__ import annotations

import argparse
from pathlib import Path


def rehearse_options(command: argparse.ArgumentParser) -> None:
    """Add the arguments to the command."""
    command.add_argument("--seed", type=int, default=1, help="the same seed gives the same history (default: 1)")
    command.add_argument("--days", type=float, default=1.0, help="simulated days to run (default: 1)")
    command.add_argument("--hosts", type=int, default=50, help="compute hosts (default: 50)")
    command.add_argument("--tenants", type=int, default=20, help="tenants that use the service (default: 20)")
    command.add_argument("--trace", type=Path, metavar="FILE", help="file to write the history to")
