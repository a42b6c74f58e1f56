"""Reading files, plain or gzip, and replacing them. Every failure is an ``InputFileError`` that names the file."""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from lease_scheduler.model.errors import InputFileError

_GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; decompress it if it is gzip, regardless of its name.

    :raises InputFileError: the file cannot be opened, or reading or decompressing it fails later
    """
    name = os.fspath(path)
    if "\0" in name:
        raise InputFileError(name, None, "cannot be read: a file name cannot contain a zero byte")
    try:
        with open(name, "rb") as raw:
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


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 text, plain or gzip: (1-based number, text without the line end).

    :raises InputFileError: the file cannot be read, or is not UTF-8; the error names the line
    """
    with open_bytes(path) as stream:
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
