"""Reading files, plain or gzip, and replacing them. Every failure is an ``InputFileError`` that names the file."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from lease_scheduler.model.errors import InputFileError

_GZIP_MAGIC = b"\x1f\x8b"

#: Told now and then how far a file has been read: bytes so far, and bytes of the file, compressed as it is.
Watch = Callable[[int, int], None]


class _Watched(io.FileIO):
    """A file that tells how far it has been read."""

    def __init__(self, name: str, watch: Watch) -> None:
        super().__init__(name, "rb")
        self._watch = watch
        self._size = os.fstat(self.fileno()).st_size

    def readinto(self, buffer: Any, /) -> int:
        """See ``io.FileIO.readinto``."""
        count = super().readinto(buffer)
        self._watch(self.tell(), self._size)
        return count or 0


@contextmanager
def open_bytes(path: str | os.PathLike[str], watch: Watch | None = None) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; decompress it if it is gzip, regardless of its name.

    :param watch: is told how far the file has been read
    :raises InputFileError: the file cannot be opened, or reading or decompressing it fails later
    """
    name = os.fspath(path)
    if "\0" in name:
        raise InputFileError(name, None, "cannot be read: a file name cannot contain a zero byte")
    try:
        with open(name, "rb") if watch is None else io.BufferedReader(_Watched(name, watch)) as raw:
            compressed = raw.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
            raw.seek(0)
            if compressed:
                with gzip.open(raw) as unpacked:
                    yield cast(BinaryIO, unpacked)
            else:
                yield raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputFileError(name, None, f"the gzip data is damaged ({error}); fetch the file again") from error
    except OSError as error:
        raise InputFileError(name, None, f"cannot be read: {error.strerror or error}") from error


def read_lines(path: str | os.PathLike[str], watch: Watch | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 text, plain or gzip: (1-based number, text without the line end).

    :param watch: is told how far the file has been read
    :raises InputFileError: the file cannot be read, or is not UTF-8; the error names the line
    """
    with open_bytes(path, watch) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                yield number, line.decode().rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise InputFileError(os.fspath(path), number, f"is not UTF-8 text ({error.reason})") from error


def compressed(content: bytes, path: str | os.PathLike[str]) -> bytes:
    """Return the content for a file: gzip if its name ends in ``.gz``. The same content gives the same bytes."""
    return gzip.compress(content, mtime=0) if os.fspath(path).endswith(".gz") else content


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace a file in one step: readers see the old content or the new content, never a part.

    :raises InputFileError: the folder or file cannot be written
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise InputFileError(os.fspath(path), None, f"cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
