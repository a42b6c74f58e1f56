"""Errors say where, what and how to fix it."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import IllegalTransitionError, InputFileError, InvalidValueError, LeaseSchedulerError


def test_an_invalid_value_names_its_field() -> None:
    """haizea F24: an error about terms names them as the client did."""
    error = InvalidValueError("nodes.count", "must be at least 1, not 0")
    assert str(error) == "nodes.count: must be at least 1, not 0"
    assert (error.field, error.problem) == ("nodes.count", "must be at least 1, not 0")
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("line", "text"), [(12, "month.swf:12: 3 columns in place of 18"), (None, "month.swf: 3 columns in place of 18")]
)
def test_a_bad_file_is_named_with_its_line(line: int | None, text: str) -> None:
    """haizea F86: in the form that editors and compilers use."""
    error = InputFileError("month.swf", line, "3 columns in place of 18")
    assert str(error) == text
    assert (error.path, error.line, error.problem) == ("month.swf", line, "3 columns in place of 18")


@pytest.mark.parametrize("kind", [InvalidValueError, IllegalTransitionError, InputFileError])
def test_all_errors_can_be_caught_at_once(kind: type[Exception]) -> None:
    """haizea F17: errors that this project raises on purpose can be told from unexpected ones."""
    assert issubclass(kind, LeaseSchedulerError)
