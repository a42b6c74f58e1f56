"""Images that are lost: the project is told once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import pytest

from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.lost import LostCommands, LostOptions
from lease_scheduler.cloud.nova.images.image_records import ImageRecord
from lease_scheduler.cloud.nova.images.snapshots import AT_END, SnapshotOptions, Snapshots, Wish


class Site:
    """Servers at the end of their lease, without images.

    :ivar records: what engines know of the images, in the order of their writes
    :ivar told: servers of which the project was told
    """

    def __init__(self) -> None:
        self.records: dict[str, ImageRecord] = {}
        self.told: list[str] = []
        self.snapshots = self.new_engine()

    def new_engine(self) -> Snapshots:
        nova: Any = mock.MagicMock()
        made = Snapshots(
            cast(Any, SimpleNamespace(now=lambda: 5000)),
            nova,
            lambda _: nova,
            cast(Any, SimpleNamespace(find=lambda *_, **__: [], own_project="service")),
            cast(Any, SimpleNamespace(of_lease=lambda _: dict(self.records), write=self._write)),
            LostCommands(nova, LostOptions()),
            Locks(nova, lambda _: nova),
            lambda _: None,
            SnapshotOptions(timeout=1800),
        )
        made.on_failure = lambda lease_id, server_id, reason: self.told.append(server_id)
        return made

    def _write(self, lease_id: str, server_id: str, record: ImageRecord) -> None:
        self.records[server_id] = record

    def finish(self, *server_ids: str, status: str = "ACTIVE", task: str | None = None, late: float = 2000) -> bool:
        wishes = [Wish("l", _server(each, status, task), each, AT_END) for each in server_ids]
        return self.snapshots.finish("l", wishes, late)


def _server(server_id: str, status: str, task: str | None) -> Any:
    found = SimpleNamespace(
        id=server_id, name=server_id, status=status, locked=False, updated="2100-01-01T00:00:00Z", tenant_id="p"
    )
    setattr(found, "OS-EXT-STS:task_state", task)
    setattr(found, "OS-EXT-SRV-ATTR:host", "host1")
    return found


@pytest.fixture
def site() -> Site:
    return Site()


def test_an_image_that_takes_too_long_is_told_once(site: Site) -> None:
    """The deletion of the server takes longer than a poll, and may begin late."""
    assert [site.finish("s"), site.finish("s"), site.finish("s", task="deleting")] == [True] * 3
    assert site.told == ["s"]


def test_an_engine_that_takes_over_does_not_tell_it_again(site: Site) -> None:
    assert site.finish("s")
    site.snapshots = site.new_engine()
    assert site.finish("s", task="deleting")
    assert site.told == ["s"]


def test_no_image_is_made_after_the_project_was_told(site: Site) -> None:
    """The servers are deleted, even if the clock is set back."""
    assert site.finish("s", status="RESCUE")
    assert site.finish("s", late=0)
    assert site.told == ["s"]
    assert site.records["s"].attempts == 0


def test_each_server_is_told_of(site: Site) -> None:
    assert site.finish("s", "t")
    assert site.finish("t", "u")
    assert site.told == ["s", "t", "u"]


def test_it_is_told_again_if_that_has_failed(site: Site) -> None:
    """It is a fault of the database, for example."""
    site.snapshots.on_failure = mock.Mock(side_effect=ConnectionError)
    with pytest.raises(ConnectionError):
        site.finish("s")
    site.snapshots = site.new_engine()
    assert site.finish("s")
    assert site.told == ["s"]
