from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import EVENT_TYPES, Delivery
from lease_scheduler.service.telling.subscriptions.templates import PLACEHOLDERS, load_templates

_PAGE = Path(__file__).parents[5] / "doc" / "source" / "admin" / "operation.rst"


def test_every_event_has_a_template_that_is_shipped() -> None:
    assert set(load_templates("", "option")) == set(EVENT_TYPES)


def test_an_operator_replaces_some(tmp_path: Path) -> None:
    (tmp_path / "lease.create.txt").write_text("Subject: $$ $name\n\n$event_type of ${kind}\nat $start\n", "utf-8")
    found = load_templates(str(tmp_path), "option")
    assert {key for key, template in found.items() if template != load_templates("", "option")[key]} >= {"lease.create"}
    payload = {"name": "night", "kind": "deadline", "start": 1_896_091_230}
    filled = found["lease.create"].filled(Delivery("id", "one", Message("lease.create", payload), 1))
    assert filled == ("$ night", "lease.create of deadline\nat 2030-01-31 12:00:30 UTC\n")
    assert "was deleted" in found["lease.delete"].subject.template


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("lease.create.txt", "Lease $name\n\ntext\n", "must begin with a line like 'Subject: Lease $name'"),
        ("lease.create.txt", "Subject:  \n\ntext\n", "must begin with a line like"),
        ("lease.create.txt", "Subject: a\ntext\n", "must begin with a line like"),
        ("lease.create.txt", "", "must begin with a line like"),
        ("lease.create.txt", "Subject: a\n\nit costs 5 $\n", "has a $ that begins no placeholder"),
        ("lease.create.txt", "Subject: $nmae\n\ntext\n", "there is no placeholder $nmae; there are: description,"),
        ("lease.create.txt", "Subject: a\n\n$secret\n", "there is no placeholder $secret"),
        ("lease.made.txt", "Subject: a\n\ntext\n", "must have the name of an event type"),
        ("lease.create.mako", "Subject: a\n\ntext\n", "must have the name of an event type"),
    ],
)
def test_a_broken_template_is_refused(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidValueError) as raised:
        load_templates(str(tmp_path), "option")
    assert raised.value.field == "option"
    assert str(raised.value).startswith(f"option: {tmp_path / name}")
    assert problem in str(raised.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="cannot be read: No such file or directory"):
        load_templates(str(tmp_path / "none"), "option")
    (tmp_path / "lease.create.txt").write_bytes(b"Subject: a\n\n\xff")
    with pytest.raises(InvalidValueError, match="is not UTF-8: byte 12"):
        load_templates(str(tmp_path), "option")


def test_the_documentation_names_every_placeholder() -> None:
    text = _PAGE.read_text()
    assert [name for name in sorted(PLACEHOLDERS) if f"``${name}``" not in text] == []
