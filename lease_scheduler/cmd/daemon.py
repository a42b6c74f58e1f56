"""A program that goes on in the background, is known by a file, and can be stopped by it.

The file holds the number of the process, which keeps a lock on it for as long as it lives. A number without a lock is
that of a process that has died, so nobody else's process is ever stopped.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from lease_scheduler.model.errors import InvalidValueError

#: Seconds in which a program must have begun, or ended; and between two looks whether it has ended.
_BEGIN_SECONDS = 120.0
_END_SECONDS = 60.0
_PAUSE = 0.05

#: What a program in the background says when it has begun.
_READY = b"ready"


def default_folder() -> Path:
    """Where files of running programs are: a folder that nobody else can write to."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_dir():
        return Path(runtime)
    folder = Path(tempfile.gettempdir()) / f"haizea-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise InvalidValueError("--pid-file", f"{folder} cannot be made: {error.strerror}; name a file") from error
    if status.st_uid != os.getuid() or folder.is_symlink():
        raise InvalidValueError("--pid-file", f"{folder} belongs to another user; name a file")
    return folder


class PidFile:
    """See the module.

    :param path: the file
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: IO[str] | None = None

    def take(self) -> None:
        """Write the number of this process, and keep the lock while it lives.

        :raises InvalidValueError: another process has it, or the file cannot be written
        """
        while True:
            file = self._open()
            if not _locked(file):
                file.close()
                raise InvalidValueError("--pid-file", f"{self._path} is that of a process that runs; stop it first")
            if self._is_there(file):
                break
            # Its last owner has removed it meanwhile.
            file.close()
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._held = file

    def release(self) -> None:
        """The process ends."""
        if self._held is not None:
            self._path.unlink(missing_ok=True)
            self._held.close()
            self._held = None

    def stop(self) -> bool:
        """End the process and wait until it has ended; false if there is none.

        :raises InvalidValueError: it does not end, or the file cannot be read
        """
        if not self._path.exists():
            return False
        with self._open() as file:
            if _locked(file):
                return False
            text = file.read().strip()
            if not (text.isascii() and text.isdigit()):
                raise InvalidValueError("--pid-file", f"{self._path} does not hold the number of a process")
            with suppress(ProcessLookupError):
                os.kill(int(text), signal.SIGTERM)
            end = time.monotonic() + _END_SECONDS
            while not _locked(file):
                if time.monotonic() > end:
                    raise InvalidValueError("--pid-file", f"process {text} does not end; its log says why")
                time.sleep(_PAUSE)
        return True

    def _is_there(self, file: IO[str]) -> bool:
        """Whether the path still leads to the file."""
        try:
            return os.path.samestat(os.stat(self._path, follow_symlinks=False), os.fstat(file.fileno()))
        except FileNotFoundError:
            return False

    def _open(self) -> IO[str]:
        """The file, made if it is not there; never somebody's link to another one."""
        try:
            number = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InvalidValueError("--pid-file", f"{self._path} cannot be opened: {error.strerror}") from error
        return os.fdopen(number, "r+")


def _locked(file: IO[str]) -> bool:
    """Whether nobody else had the lock, so that we have it now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def start_in_background(command: Sequence[str], log: Path) -> None:
    """Start a program that goes on when this one ends, and wait until it says that it has begun.

    :param command: the program; it is also given ``--ready-fd`` and the number of an open file, for ``tell_ready``
    :param log: where its output goes from then on
    :raises InvalidValueError: it ended instead; the message is the last line that it wrote
    """
    readable, writable = os.pipe()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, "--ready-fd", str(writable)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(writable,),
            start_new_session=True,
        )
        os.close(writable)
        with os.fdopen(readable, "rb") as pipe:
            # It ends with the process at the latest.
            if pipe.read(len(_READY)) == _READY:
                return
        process.wait(_BEGIN_SECONDS)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").split("\n")
    said = next((line for line in reversed(lines) if line.strip()), f"see {log}")
    raise InvalidValueError("it does not start", said.partition(": ")[2] or said)


def tell_ready(number: int, log: Path) -> None:
    """Say to who has started this process that it has begun; what it prints goes to the log from now on.

    :param number: of the file that it was given
    """
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.write(number, _READY)
    os.close(number)
