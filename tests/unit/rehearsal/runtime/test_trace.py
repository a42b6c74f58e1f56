from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.rehearsal.runtime.trace import Trace

_LINES = st.lists(st.text(alphabet=st.characters(exclude_characters="\n", exclude_categories=["Cs"])))


def _of(lines: list[str]) -> Trace:
    trace = Trace()
    for line in lines:
        trace.note(line)
    return trace


@given(_LINES, _LINES)
def test_only_equal_histories_have_equal_digests(one: list[str], other: list[str]) -> None:
    assert (_of(one).digest() == _of(other).digest()) == (one == other)


def test_the_latest_lines_are_kept_and_all_are_passed_on() -> None:
    passed: list[str] = []
    trace = Trace(kept=2, sink=passed.append)
    for line in ("a", "b", "c"):
        trace.note(line)
    assert list(trace.lines) == ["b", "c"]
    assert passed == ["a", "b", "c"]
    assert trace.count == 3
