"""Programs that run in the background, each with a PID file by which it can be stopped.

The file contains the process id, and the process keeps a lock on the file while it lives. A file without a lock is that
of a dead process. So the wrong process is never stopped, even if the system has reused the id.
"""

from __future__ import annotations

import fcntl
import os
import select
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

#: Maximum seconds that a program takes to start and to end, and seconds between two checks whether it has ended.
_BEGIN_SECONDS = 120.0
_END_SECONDS = 60.0
_PAUSE = 0.05

#: Message of a program in the background that it is ready.
_READY = b"ready"


def default_folder() -> Path:
    """Return the folder for PID files, to which no other user can write.

    :raises InvalidValueError: the folder cannot be made, or belongs to another user
    """
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
    """The PID file of a program, with its lock; see the module."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: IO[str] | None = None

    def take(self) -> None:
        """Write the id of this process, and keep the lock while the process lives.

        :raises InvalidValueError: another process has the lock, or the file cannot be written
        """
        while True:
            file = self._open()
            if not _locked(file):
                file.close()
                raise InvalidValueError("--pid-file", f"{self._path} is that of a process that runs; stop it first")
            if self._is_there(file):
                break
            # Meanwhile, the previous process has removed the file, so the lock is on a file without a name.
            file.close()
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._held = file

    def release(self) -> None:
        """Remove the file and release the lock, if this process has the lock."""
        if self._held is not None:
            self._path.unlink(missing_ok=True)
            self._held.close()
            self._held = None

    def stop(self) -> bool:
        """End the process and wait until it has ended; return False if none runs.

        :raises InvalidValueError: the process does not end, or the file cannot be read
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
        """Return whether the path still names this open file."""
        try:
            return os.path.samestat(os.stat(self._path, follow_symlinks=False), os.fstat(file.fileno()))
        except FileNotFoundError:
            return False

    def _open(self) -> IO[str]:
        """Open the file, creating it if it is missing; refuse a symbolic link."""
        try:
            number = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InvalidValueError("--pid-file", f"{self._path} cannot be opened: {error.strerror}") from error
        return os.fdopen(number, "r+")


def _locked(file: IO[str]) -> bool:
    """Try to lock the file, and return whether this process now has the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def start_in_background(command: Sequence[str], log: Path) -> None:
    """Start a program that outlives this one, and wait until it reports that it is ready.

    :param command: command line of the program; ``--ready-fd`` and a file descriptor for ``tell_ready`` are appended
    :param log: file that the program's output goes to once it is ready
    :raises InvalidValueError: the program ended instead, and the message is the last line that it wrote; or it was not
        ready in time, and was killed
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
            # The pipe becomes readable at the latest when the process ends, which closes it.
            is_readable, _, _ = select.select([pipe], [], [], _BEGIN_SECONDS)
            if is_readable and pipe.read(len(_READY)) == _READY:
                return
        if not is_readable:
            process.kill()
        process.wait(_BEGIN_SECONDS)
        if not is_readable:
            raise InvalidValueError("it does not start", f"it was not ready after {_BEGIN_SECONDS:.0f} s")
        errors.seek(0)
        lines = errors.read().decode(errors="replace").split("\n")
    said = next((line for line in reversed(lines) if line.strip()), f"see {log}")
    raise InvalidValueError("it does not start", said.partition(": ")[2] or said)


def tell_ready(number: int, log: Path) -> None:
    """Report to the starting process that this one is ready, and send all later output to the log.

    :param number: file descriptor that this process got as ``--ready-fd``
    :param log: file that the output is appended to
    """
    output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.write(number, _READY)
    os.close(number)
