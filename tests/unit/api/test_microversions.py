"""The history of microversions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lease_scheduler.api.microversions import HISTORY
from tests.unit.api.conftest import Client

PAGE = Path(__file__).parents[3] / "doc" / "source" / "api" / "microversions.rst"


def test_every_microversion_has_a_section_in_the_documentation() -> None:
    assert re.findall(r"^(\d+\.\d+)\n-+$", PAGE.read_text(), re.MULTILINE) == list(HISTORY)


def test_every_microversion_has_one_line() -> None:
    assert all(text and "\n" not in text and text.endswith(".") for text in HISTORY.values())


@pytest.mark.parametrize(
    ("version", "more", "problem", "field"),
    [
        ("1.0", {"kind": "best-effort"}, "kind: needs the header OpenStack-API-Version: reservation 1.2", "kind"),
        ("1.0", {"x": 1, "nodes": []}, "nodes: needs the header OpenStack-API-Version: reservation 1.2", "nodes"),
        ("1.2", {"max_price": 2}, "max_price: needs the header OpenStack-API-Version: reservation 1.12", "max_price"),
        (
            "1.3",
            {"servers": [{"name": "web", "image_id": "i", "volume": {"size_gb": 1}}]},
            "servers[0].volume: needs the header OpenStack-API-Version: reservation 1.13",
            "servers[0].volume",
        ),
        ("1.2", {"colour": "red"}, "colour: is not a known key; known are", "colour"),
    ],
)  # fmt: skip
def test_a_key_of_a_later_microversion_says_which_header_it_needs(
    member: Client, version: str, more: dict[str, object], problem: str, field: str
) -> None:
    """Even where other keys are missing, which may only seem so without the header."""
    answer = member.at(version).post("/v1/leases", {"name": "mine", **more})
    said = answer.get_json()
    assert (answer.status_code, said.get("field", field)) == (400, field)
    assert said["error_message"].startswith(problem)


def test_parameters_and_paths_of_a_later_microversion_say_which_header_they_need(member: Client) -> None:
    answer = member.at("1.0").get("/v1/leases?kind=deadline")
    assert answer.get_json()["error_message"] == "kind: needs the header OpenStack-API-Version: reservation 1.1"
    answer = member.at("1.0").get("/v1/availability?vcpus=1")
    assert answer.get_json()["error_message"].startswith(
        "/v1/availability needs the header OpenStack-API-Version: reservation 1.5"
    )
