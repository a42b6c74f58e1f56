"""Arguments of ``lease-scheduler-manage rehearse``. This module needs no extra."""

from __future__ import annotations

import argparse
from pathlib import Path


def rehearse_options(command: argparse.ArgumentParser) -> None:
    """Add the arguments to the command."""
    command.add_argument("--seed", type=int, default=1, help="the same seed gives the same history (default: 1)")
    command.add_argument("--count", type=int, default=1, help="number of seeds, from --seed on (default: 1)")
    command.add_argument("--days", type=float, default=1.0, help="simulated days of each world (default: 1)")
    command.add_argument("--hosts", type=int, default=50, help="compute hosts (default: 50)")
    command.add_argument("--tenants", type=int, default=20, help="tenants that use the service (default: 20)")
    command.add_argument(
        "--cloud",
        choices=("simulated", "nova"),
        default="simulated",
        help="the cloud that the engine simulates itself, which is faster, or a model of Keystone, Placement and Nova "
        "(default: simulated)",
    )
    command.add_argument(
        "--faults", metavar="NAMES", help="what goes wrong, separated by commas, or none (default: decided by the seed)"
    )
    command.add_argument("--trace", type=Path, metavar="FILE", help="file to write the history to")
