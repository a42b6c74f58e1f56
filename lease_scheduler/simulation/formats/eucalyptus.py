"""Traces of Eucalyptus clouds: when instances started and stopped, and on which node.

The format is that of the traces that Wolski and Brevik published in 2013: ``START time instance node cores`` and
``STOP time instance``, in seconds since the beginning of the trace, sorted by time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats.files import read_lines

_START = "START <seconds> <instance> <node> <cores>"
_STOP = "STOP <seconds> <instance>"


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a trace.

    :ivar name: its id
    :ivar node: name of its node
    :ivar cores: its size
    :ivar start: instant in seconds
    :ivar end: instant in seconds; the end of the trace if it was never stopped
    :ivar is_stopped: whether the trace says when it stopped
    """

    name: str
    node: str
    cores: int
    start: int
    end: int
    is_stopped: bool


def read_eucalyptus(path: str | os.PathLike[str]) -> list[Instance]:
    """Read a trace, plain or gzip, and return its instances in the order of their starts.

    :raises InputFileError: the file cannot be read or is wrong; the error names the line
    """
    running: dict[str, tuple[int, int, str, int]] = {}
    found: list[tuple[int, Instance]] = []
    last = 0
    for number, line in read_lines(path):
        words = line.split()
        if not words:
            continue
        now = _time(path, number, words)
        if now < last:
            raise InputFileError(str(path), number, f"must not be earlier than the line before ({last}), not {now}")
        last = now
        name = words[2]
        if words[0] == "START":
            if name in running:
                raise InputFileError(str(path), number, f"{name} runs already, since line {running[name][0]}")
            running[name] = (number, now, words[3], _whole(path, number, "cores", words[4], 1))
            continue
        if name not in running:
            raise InputFileError(str(path), number, f"{name} is stopped, but no line before starts it")
        first, start, node, cores = running.pop(name)
        found.append((first, Instance(name, node, cores, start, now, True)))
    found += [
        (first, Instance(name, node, cores, start, last, False))
        for name, (first, start, node, cores) in running.items()
    ]
    return [instance for _, instance in sorted(found, key=lambda each: each[0])]


def over_commitment(instances: Sequence[Instance], cores: int) -> int:
    """Return the largest number of cores by which a node was over-committed, or 0.

    Eucalyptus could over-commit nodes. At one instant, stops come before starts.

    :param cores: cores of a node
    """
    events = sorted(
        change
        for each in instances
        if each.end > each.start
        for change in ((each.start, 1, each.node, each.cores), (each.end, 0, each.node, -each.cores))
    )
    used: dict[str, int] = {}
    most = 0
    for _, _, node, change in events:
        used[node] = used.get(node, 0) + change
        most = max(most, used[node] - cores)
    return most


def _time(path: str | os.PathLike[str], number: int, words: Sequence[str]) -> int:
    lengths = {"START": 5, "STOP": 3}
    if lengths.get(words[0]) != len(words):
        raise InputFileError(str(path), number, f"must be '{_START}' or '{_STOP}', not {' '.join(words)[:80]!r}")
    return _whole(path, number, "seconds", words[1], 0)


def _whole(path: str | os.PathLike[str], number: int, what: str, word: str, least: int) -> int:
    if not word.isascii() or not word.isdecimal() or int(word) < least:
        raise InputFileError(str(path), number, f"{what} must be a whole number of at least {least}, not {word[:40]!r}")
    return int(word)
