"""XML as a stream: line numbers, and what is refused for safety."""

import gzip
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.simulation.formats.xml_file import XmlBuilder, stream_elements


def _write(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "in.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_elements_come_with_lines_and_containers_are_opened(tmp_path: Path) -> None:
    text = "<r a='1'>\n<one/>\n<!-- no element -->\n<list>\n<two b='2'>\n<three/></two><two/>\n</list>\n</r>"
    found = list(stream_elements(_write(tmp_path, text), "r", containers=("list",)))
    assert [(each.tag, each.line, dict(each.attributes)) for each in found] == [
        ("r", 1, {"a": "1"}),
        ("one", 2, {}),
        ("two", 5, {"b": "2"}),
        ("two", 6, {}),
    ]
    assert [child.tag for child in found[2].children] == ["three"]


def test_lines_beyond_the_16_bits_of_libxml2_are_right_within_one(tmp_path: Path) -> None:
    text = "<r>\n" + "<one/>\n" * 70_000 + "</r>"
    lines = [element.line for element in stream_elements(_write(tmp_path, text), "r")]
    assert lines[:60_000] == list(range(1, 60_001))
    assert lines[-1] in (70_001, 70_002)


def test_gzip_is_read(tmp_path: Path) -> None:
    assert len(list(stream_elements(_write(tmp_path, gzip.compress(b"<r><one/></r>")), "r"))) == 2


def test_damaged_gzip_is_named(tmp_path: Path) -> None:
    content = gzip.compress(b"<r>" + b"<one/>" * 50_000 + b"</r>")
    with pytest.raises(InputFileError, match="damaged"):
        list(stream_elements(_write(tmp_path, content[:-20]), "r"))


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", None, "is not well-formed XML"),
        ("<r>\n<one>\n</r>", 3, "is not well-formed XML"),
        ("<r>\n&unknown;\n</r>", 2, "is not well-formed XML"),
        ("\n<other/>", 2, "begins with <other>, not with <r>"),
        ("<r>\n<list x='1'/></r>", 2, "<list> has no attributes"),
        ("<r>" + "<d>" * 300 + "</d>" * 300 + "</r>", 1, "is not well-formed XML"),
    ],
)
def test_bad_documents_are_named(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(InputFileError) as error:
        list(stream_elements(path, "r", containers=("list",)))
    assert (error.value.path, error.value.line) == (str(path), line)
    assert problem in error.value.problem


@pytest.mark.parametrize(
    "subset", ["", "[<!ENTITY x SYSTEM 'file:///secret'>]", "[<!ENTITY a 'ha'><!ENTITY x '&a;&a;&a;&a;'>]"]
)
def test_document_types_and_so_entities_are_refused(tmp_path: Path, subset: str) -> None:
    path = _write(tmp_path, f"<!DOCTYPE r {subset}><r><one a='1'/></r>")
    with pytest.raises(InputFileError, match="has a document type"):
        list(stream_elements(path, "r"))


def test_texts_that_xml_cannot_hold_are_refused_before_anything_is_written() -> None:
    with pytest.raises(InvalidValueError, match="name"):
        XmlBuilder("r").add("attr", name="bell\x07")
    with pytest.raises(InvalidValueError, match="name"):
        XmlBuilder("r").add("attr", name="\ud800")
