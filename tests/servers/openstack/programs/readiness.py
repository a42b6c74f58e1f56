"""Tells the lab when a service of Nova that has no HTTP interface is ready: with a file for each host."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

_PAUSE_SECONDS = 0.05


def announce(folder: Path) -> None:
    """Have each service of Nova that is started from now on leave a file with the name of its host."""
    from nova import service

    start = service.Service.start

    def start_and_tell(self: Any, *words: Any, **options: Any) -> None:
        start(self, *words, **options)
        (folder / self.host).touch()

    service.Service.start = start_and_tell


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    while not path.exists():
        time.sleep(_PAUSE_SECONDS)
