"""The folder of recorded workloads, which experiments read and which cannot be shipped."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path | None:
    """Return the folder of workload logs, which cannot be shipped; None if ``LEASE_SCHEDULER_DATA`` names no folder."""
    folder = os.environ.get("LEASE_SCHEDULER_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def left_out(what: str) -> str:
    """Return the sentence in a report about runs that need the folder, or "" if there is one.

    :param what: what the report lacks without it
    """
    return "" if data_folder() is not None else f"Left out, as LEASE_SCHEDULER_DATA names no folder: {what}."
