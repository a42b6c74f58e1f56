"""Records of images as text in the metadata of aggregates."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.cloud.nova.images.image_records import ImageRecord, ImageRecords

_RECORDS = st.builds(
    ImageRecord,
    moment=st.sampled_from(["end", "1795919102"]),
    key=st.sampled_from(["", "0123456789abcdef0123456789abcdef"]),
    attempts=st.integers(0, 3),
    at=st.integers(0, 2**33),
    since=st.integers(0, 2**33),
    is_apart=st.booleans(),
    is_lost=st.booleans(),
)


class Aggregates:
    """The metadata of the aggregates of a lease.

    :ivar images: server -> text of its record
    """

    def __init__(self) -> None:
        self.images: dict[str, str] = {}

    def known(self, lease_id: str) -> Any:
        return SimpleNamespace(images=self.images)

    def note_image(self, lease_id: str, server_id: str, text: str) -> None:
        self.images[server_id] = text


@given(_RECORDS)
def test_what_is_written_is_read(record: ImageRecord) -> None:
    records = ImageRecords(cast(Any, Aggregates()))
    records.write("l", "s", record)
    assert records.of_lease("l") == {"s": record}


def test_records_from_before_an_upgrade_are_read() -> None:
    aggregates = Aggregates()
    aggregates.images = {"s": "end 2 30 20 1 key", "t": "end 0 0 20 0 "}
    assert ImageRecords(cast(Any, aggregates)).of_lease("l") == {
        "s": ImageRecord("end", "key", 2, 30, 20, is_apart=True),
        "t": ImageRecord("end", "", 0, 0, 20),
    }
