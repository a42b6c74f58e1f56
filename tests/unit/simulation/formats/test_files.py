"""Plain and compressed files, and replacing a file in one step."""

import gzip
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats.files import open_bytes, read_lines, replace_file


@pytest.mark.parametrize("name", ["plain.txt", "misleading.gz"])
def test_plain_text_is_read_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"one\r\ntwo\n\nfour")
    assert list(read_lines(path)) == [(1, "one"), (2, "two"), (3, ""), (4, "four")]


def test_gzip_is_recognised_by_content(tmp_path: Path) -> None:
    path = tmp_path / "no-suffix"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert list(read_lines(path)) == [(1, "one"), (2, "two")]


def test_damaged_gzip_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"line\n" * 1000)[:-12])
    with pytest.raises(InputFileError, match=r"cut\.gz: the compressed data is damaged"):
        list(read_lines(path))


def test_wrong_encoding_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"fine\n\xe9\n")
    with pytest.raises(InputFileError, match=r"latin1\.txt:2: is not UTF-8"):
        list(read_lines(path))


@pytest.mark.parametrize("name", ["missing", ".", "zero\0byte"])
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputFileError, match="cannot be read"), open_bytes(f"{tmp_path}/{name}"):
        pass


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_write_that_fails_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputFileError, match="out: cannot be written: No space left"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="no-such/out: cannot be written"):
        replace_file(tmp_path / "no-such" / "out", b"new")
