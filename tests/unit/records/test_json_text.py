"""JSON is written and read as the standard library reads and writes it, also where orjson cannot."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from lease_scheduler.records.json_text import from_json, to_json


@pytest.mark.parametrize(
    "value",
    [
        {"name": "größe", "nodes": [1, 2.5, None, True], "of": {}},
        2**70,
        {1: "a number as the key"},
        "lone \ud800 surrogate",
        (1, (2,)),
    ],
)
def test_what_is_written_is_what_the_standard_library_reads(value: Any) -> None:
    assert json.loads(to_json(value)) == json.loads(json.dumps(value))


def test_answers_are_valid_json_even_if_a_number_is_not_finite() -> None:
    assert to_json({"price": math.inf}) == b'{"price":null}'


def test_what_json_does_not_know() -> None:
    with pytest.raises(TypeError):
        to_json({"hosts": {1, 2}})


@pytest.mark.parametrize("value", [{"a": [1, "ü"]}, math.inf, "lone \ud800 surrogate"])
def test_what_the_standard_library_has_written_is_read(value: Any) -> None:
    assert from_json(json.dumps(value)) == value


def test_a_text_that_is_no_json() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        from_json("{")
