"""Arguments of ``lease-scheduler-manage rehearse``. This module needs no extra."""

from __future__ import annotations

import argparse
from pathlib import Path

#: Parts of the cast: name of the argument -> what it says.
_CAST = {
    "faults": "what goes wrong",
    "verbs": "what tenants and strangers do",
    "acts": "what operators do",
    "fates": "what happens to hosts",
}


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
    for name, what in _CAST.items():
        command.add_argument(
            f"--{name}", metavar="NAMES", help=f"{what}, separated by commas, or none (default: decided by the seed)"
        )
    command.add_argument(
        "--calm",
        type=float,
        metavar="SECONDS",
        help="simulated seconds after which nothing new goes wrong (default: three quarters of the time)",
    )
    command.add_argument(
        "--shrink",
        action="store_true",
        help="if an invariant is broken, repeat the world with less in it until nothing more can be left out",
    )
    command.add_argument("--trace", type=Path, metavar="FILE", help="file to write the history to")
