"""The journal of a campaign: a file with one line per finished run, written as soon as its outcome is known."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.campaigns.case import Outcome, Success
from lease_scheduler.simulation.formats.files import replace_file

_FILE = "runs.jsonl"
_LOCK = ".lock"


@dataclass(frozen=True)
class Entry:
    """A finished run.

    :ivar outcome: its figures
    :ivar usage: the resources that it used, with the fields of ``Usage``; empty if the file does not have them
    """

    outcome: Outcome
    usage: dict[str, Any]


class Journal:
    """The finished runs of a directory.

    :ivar entries: runs by name of the case
    :raises InputFileError: the file cannot be read, or is not a journal; the error names the line
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / _FILE
        self.entries = _read(self._path)

    def append(self, name: str, success: Success, outcome: Outcome) -> None:
        """Store a run; it is on disk when this returns.

        :param outcome: what to store of the run's outcome
        :raises InputFileError: the file cannot be written
        """
        usage = asdict(success.usage)
        line = json.dumps({"case": name, "outcome": outcome, "usage": usage}, sort_keys=True)
        try:
            with self._path.open("ab") as stream:
                stream.write(line.encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise InputFileError(str(self._path), None, f"cannot be written: {error.strerror}") from error
        self.entries[name] = Entry(outcome, usage)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Lock a directory against other campaigns; create it if it is missing.

    The kernel releases the lock when the process ends in any way.

    :raises InputFileError: another campaign uses the directory, or it cannot be written
    """
    with ExitStack() as opened:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            stream = opened.enter_context((directory / _LOCK).open("ab"))
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            problem = "another campaign is at work there; wait until it is done, or use another directory"
            raise InputFileError(str(directory), None, problem) from error
        except OSError as error:
            raise InputFileError(str(directory), None, f"cannot be written: {error.strerror}") from error
        yield


def _read(path: Path) -> dict[str, Entry]:
    """Return the runs that earlier calls have stored; remove a last line that is incomplete."""
    entries: dict[str, Entry] = {}
    try:
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    except OSError as error:
        raise InputFileError(str(path), None, f"cannot be read: {error.strerror}") from error
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
        replace_file(path, "".join(lines).encode())
    for number, line in enumerate(lines, start=1):
        try:
            found = json.loads(line)
            entries[found["case"]] = Entry(found["outcome"], found.get("usage", {}))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = "is not an outcome of this campaign; use another directory"
            raise InputFileError(str(path), number, problem) from error
    return entries
