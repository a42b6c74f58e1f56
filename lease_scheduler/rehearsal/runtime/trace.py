"""Trace of a world: a digest of everything that happens, and the latest lines in words."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable

#: Number of lines that are kept by default.
_KEPT = 2_000

#: Number of lines that enter the digest together, which is faster than one by one.
_TOGETHER = 1_000


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
        self._pending: list[str] = []

    def note(self, line: str) -> None:
        """Add a line. It must not contain anything that differs between two runs, such as an address in memory."""
        self.count += 1
        self.lines.append(line)
        self._pending.append(line)
        if len(self._pending) >= _TOGETHER:
            self._enter()
        if self._sink is not None:
            self._sink(line)

    def digest(self) -> str:
        """Return the SHA-256 of all lines so far, in hexadecimal."""
        self._enter()
        return self._hash.hexdigest()

    def _enter(self) -> None:
        """Have the digest include the pending lines."""
        self._hash.update("".join(f"{line}\n" for line in self._pending).encode())
        self._pending.clear()
