"""Readiness of Nova's services without an HTTP interface, shown to the lab by one file per host."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

_PAUSE_SECONDS = 0.05


def announce(folder: Path) -> None:
    """Have each service of Nova that starts from now on create a file with the name of its host."""
    from nova import service

    start = service.Service.start

    def start_and_tell(self: Any, *words: Any, **options: Any) -> None:
        start(self, *words, **options)
        (folder / self.host).touch()

    service.Service.start = start_and_tell


def wait_for(path: Path) -> None:
    """Wait until a file exists."""
    while not path.exists():
        time.sleep(_PAUSE_SECONDS)
