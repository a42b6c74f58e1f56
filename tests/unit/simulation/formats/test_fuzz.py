"""Whatever a file contains, its reader returns a value or raises InputFileError, nothing else."""

import gzip
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.haizea.configuration.haizea_conf import read_haizea_conf
from lease_scheduler.haizea.configuration.options import OPTIONS
from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats.azure import read_azure
from lease_scheduler.simulation.formats.lwf import read_lwf, read_site
from lease_scheduler.simulation.formats.lwfa import read_annotations
from lease_scheduler.simulation.formats.old_lwf import read_old_lwf
from lease_scheduler.simulation.formats.swf import read_swf
from lease_scheduler.simulation.formats.workload_file import read_workload

READERS = [read_lwf, read_site, read_annotations, read_old_lwf, read_swf, read_workload, read_haizea_conf]
SETTINGS = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _try(read: Callable[[Path], object], path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        read(path)
    except InputFileError as error:
        # One line that says where and what.
        where = str(path) if error.line is None else f"{path}:{error.line}"
        assert str(error) == f"{where}: {error.problem}"
        assert error.line is None or 1 <= error.line <= _lines(content)
        assert error.problem.strip()


def _lines(content: bytes) -> int:
    """Return the most lines that a reader may count, whatever it takes for the end of a line."""
    with suppress(gzip.BadGzipFile, EOFError, zlib.error):
        content = gzip.decompress(content)
    return 1 + sum(
        content.count(end)
        for end in (
            b"\n",
            b"\r",
            b"\x0b",
            b"\x0c",
            b"\x1c",
            b"\x1d",
            b"\x1e",
            b"\xc2\x85",
            b"\xe2\x80\xa8",
            b"\xe2\x80\xa9",
        )
    )


@pytest.mark.parametrize("read", READERS)
def test_every_reader_refuses_an_unreadable_file(tmp_path: Path, read: Callable[[Path], object]) -> None:
    """The properties above would also hold for a reader that refuses nothing."""
    path = tmp_path / "in"
    path.write_bytes(b"\x00\xff nothing that anybody can read")
    with pytest.raises(InputFileError):
        read(path)


@pytest.mark.parametrize("read", READERS)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="replace")))
@SETTINGS
def test_arbitrary_bytes_are_read_or_refused(tmp_path: Path, read: Callable[[Path], object], content: bytes) -> None:
    _try(read, tmp_path / "in", content)
    _try(read, tmp_path / "in", gzip.compress(content))
    _try(read, tmp_path / "in", gzip.compress(content)[:-4])


_WORDS = st.sampled_from(
    ["0", "1", "-1", "100", "1e9", "9" * 14, "x", "NULL", "nan", "inf", "'a'", "0.5", ";", "-0", "1_0", "\u0663", "#"]
)


@pytest.mark.parametrize("read", [read_old_lwf, read_swf, read_workload])
@given(
    rows=st.lists(st.lists(_WORDS, min_size=9, max_size=11) | st.lists(_WORDS, min_size=17, max_size=19), max_size=3)
)
@SETTINGS
def test_columns_of_words_are_read_or_refused(
    tmp_path: Path, read: Callable[[Path], object], rows: list[list[str]]
) -> None:
    _try(read, tmp_path / "in", "\n".join(" ".join(row) for row in rows).encode())


_TOKENS = st.lists(st.sampled_from(["b", "|", "U0", "C1", "", "x"]), max_size=6).map(",".join)


@given(rows=st.lists(st.tuples(_WORDS, _TOKENS, _TOKENS), max_size=3))
@SETTINGS
def test_tokens_of_a_trace_are_read_or_refused(tmp_path: Path, rows: list[tuple[str, str, str]]) -> None:
    """The file of flavors may be wrong, or that of durations; the error names the one that is."""
    (tmp_path / "flav_map.txt").write_text("1,1.75 b\n")
    (tmp_path / "v1.interval_map.txt").write_text("0 0\n300 1\n")
    (tmp_path / "in.txt").write_text("".join(f"{instant} {flavors}\n" for instant, flavors, _ in rows))
    (tmp_path / "in.c500.txt").write_text("".join(f"{instant} {lives}\n" for instant, _, lives in rows))
    try:
        read_azure(tmp_path / "in.txt")
    except InputFileError as error:
        assert Path(error.path).name in ("in.txt", "in.c500.txt")
        assert 1 <= (error.line or 0) <= len(rows)


_TAGS = (
    *(
        "lease-workload",
        "lease-annotations",
        "lease-annotation",
        "attributes",
        "attr",
        "site",
        "resource-types",
        "nodes",
    ),
    *("node-set", "res", "instance", "lease-requests", "lease-request", "lease", "start", "now", "exact", "duration"),
    *("deadline", "software", "none", "disk-image", "extra", "realduration", "description"),
)
_NAMES = st.sampled_from(
    ["id", "name", "names", "numnodes", "type", "amount", "arrival", "time", "preemptible", "size", "value", "price"]
)
_VALUES = st.sampled_from(
    ["", "1", "-1", "CPU Memory", "CPU", "Memory", "true", "00:00:10", "+5", "x", "9" * 14, "nan"]
)


def _element(tag: str, attributes: dict[str, str], children: list[str]) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag}{written}>{''.join(children)}</{tag}>"


_ELEMENTS = st.recursive(
    st.builds(_element, st.sampled_from(_TAGS), st.dictionaries(_NAMES, _VALUES, max_size=3), st.just([])),
    lambda inner: st.builds(
        _element, st.sampled_from(_TAGS), st.dictionaries(_NAMES, _VALUES, max_size=3), st.lists(inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("read", "root"),
    [(read_lwf, "lease-workload"), (read_annotations, "lease-annotations"), (read_site, "site")],
)
@given(children=st.lists(_ELEMENTS, max_size=3))
@SETTINGS
def test_elements_in_any_order_are_read_or_refused(
    tmp_path: Path, read: Callable[[Path], object], root: str, children: list[str]
) -> None:
    _try(read, tmp_path / "in", _element(root, {}, children).encode())


_VALID_LWF = (
    '<lease-workload name="w"><site><resource-types names="CPU Memory"/><nodes><node-set numnodes="2">'
    '<res type="CPU" amount="100"/><res type="Memory" amount="10"/></node-set></nodes></site><lease-requests>'
    '<lease-request arrival="00:00:10"><realduration time="5"/><lease id="1" preemptible="true" user="3">'
    '<nodes><node-set numnodes="1"><res type="CPU" amount="100"/></node-set></nodes><start><exact time="60"/></start>'
    '<duration time="00:01:00"/><deadline time="+00:05:00"/><software><disk-image id="a" size="4"/></software>'
    '<extra><attr name="k" value="v"/></extra></lease></lease-request></lease-requests></lease-workload>'
)


@given(data=st.data())
@SETTINGS
def test_a_damaged_lwf_file_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(_VALID_LWF)))
    end = data.draw(st.integers(begin, min(len(_VALID_LWF), begin + 30)))
    _try(read_lwf, tmp_path / "in", (_VALID_LWF[:begin] + data.draw(st.text(max_size=5)) + _VALID_LWF[end:]).encode())


_LINES = st.one_of(
    st.sampled_from([f"[{section}]" for section in OPTIONS] + ["[DEFAULT]", "[multi]", "", "; x", "# x", " y", "= z"]),
    st.builds(
        lambda name, value: f"{name}: {value}",
        st.sampled_from([name for options in OPTIONS.values() for name in options]),
        st.sampled_from(["simulated", "all", "none", "1", "-1", "x", "", "2006-11-25 13:00:00", "file:", "%(x)s"]),
    ),
)


@given(lines=st.lists(_LINES, max_size=15))
@SETTINGS
def test_lines_of_a_configuration_are_read_or_refused(tmp_path: Path, lines: list[str]) -> None:
    _try(read_haizea_conf, tmp_path / "in", "\n".join(lines).encode())
