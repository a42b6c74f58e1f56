"""Reading files, plain or compressed, and replacing them. Every failure is an ``InputFileError`` with its name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, BinaryIO, cast

from lease_scheduler.model.errors import InputFileError

#: Starts of comments in workload files. They may be in another encoding, as those of old logs are.
_COMMENTS = (b";", b"#")

#: The byte order mark, with which UTF-8 files of Windows begin.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: Called now and then with the bytes read so far and the size of the file, both without decompression.
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
def _only_member(raw: BinaryIO) -> Iterator[IO[bytes]]:
    """Open the file in a zip archive."""
    with zipfile.ZipFile(raw) as archive:
        names = [each.filename for each in archive.infolist() if not each.is_dir()]
        if len(names) != 1:
            raise zipfile.BadZipFile(f"it contains {len(names)} files, and one is needed")
        with archive.open(names[0]) as member:
            yield member


#: First bytes of compressed files, and how to open each kind.
_KINDS: dict[bytes, Callable[[BinaryIO], AbstractContextManager[Any]]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"PK\x03\x04": _only_member,
}
_SUFFIXES = (".gz", ".bz2", ".xz", ".zip")
_LONGEST_MAGIC = max(map(len, _KINDS))


@contextmanager
def open_bytes(path: str | os.PathLike[str], watch: Watch | None = None) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; decompress it if it is gzip, bzip2, xz or zip, regardless of its name.

    :param watch: is told how far the file has been read
    :raises InputFileError: the file cannot be opened, or reading or decompressing it fails later
    """
    name = os.fspath(path)
    if "\0" in name:
        raise InputFileError(name, None, "cannot be read: a file name cannot contain a zero byte")
    try:
        with open(name, "rb") if watch is None else io.BufferedReader(_Watched(name, watch)) as raw:
            head = raw.read(_LONGEST_MAGIC)
            raw.seek(0)
            opening = next((opening for magic, opening in _KINDS.items() if head.startswith(magic)), None)
            if opening is None:
                yield raw
            else:
                with opening(raw) as unpacked:
                    yield cast(BinaryIO, unpacked)
    except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile) as error:
        raise InputFileError(name, None, f"the compressed data is damaged ({error}); fetch the file again") from error
    except OSError as error:
        raise InputFileError(name, None, f"cannot be read: {error.strerror or error}") from error


def plain_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without its folder and the suffix of its compression."""
    name = PurePath(path).name
    return next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)


def read_lines(path: str | os.PathLike[str], watch: Watch | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 text, plain or compressed: (1-based number, text without the line end).

    A byte order mark is left out. A comment that is not UTF-8 is read as Latin-1.

    :param watch: is told how far the file has been read
    :raises InputFileError: the file cannot be read, or is not UTF-8; the error names the line
    """
    with open_bytes(path, watch) as stream:
        for number, line in enumerate(stream, start=1):
            if number == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                if line.lstrip().startswith(_COMMENTS):
                    yield number, line.decode("latin-1").rstrip("\r\n")
                    continue
                raise InputFileError(os.fspath(path), number, f"is not UTF-8 text ({error.reason})") from error
            yield number, text.rstrip("\r\n")


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
