"""Trace of a world: a digest of everything that happens, and the latest lines in words."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable

#: Number of lines that are kept by default.
_KEPT = 2_000


class Trace:
    """Record of what happened in a world. Two runs of one seed have the same digest.

    :param kept: number of latest lines to keep
    :param sink: called with every line; None for no sink
    :ivar lines: the latest lines
    :ivar count: number of lines so far
    """

    def __init__(self, kept: int = _KEPT, sink: Callable[[str], None] | None = None) -> None:
        self.lines: deque[str] = deque(maxlen=kept)
        self.count = 0
        self._sink = sink
        self._hash = hashlib.sha256()

    def note(self, line: str) -> None:
        """Add a line. It must not contain anything that differs between two runs, such as an address in memory."""
        self.count += 1
        self._hash.update(line.encode())
        self._hash.update(b"\n")
        self.lines.append(line)
        if self._sink is not None:
            self._sink(line)

    def digest(self) -> str:
        """Return the SHA-256 of all lines so far, in hexadecimal."""
        return self._hash.hexdigest()
