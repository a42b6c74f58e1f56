"""Migrations with which Nova may still go on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lease_scheduler.cloud.nova.vacating.moves import is_under_way
from tests.unit.cloud.nova import fakes


def _is_under_way(kind: str, status: str, server_status: str, task: str | None = None) -> bool:
    server = fakes.server("s", "new", status=server_status)
    setattr(server, "OS-EXT-STS:task_state", task)
    return is_under_way(SimpleNamespace(migration_type=kind, status=status), server)


@pytest.mark.parametrize("status", ["completed", "confirmed", "reverted", "cancelled", "error", "failed"])
def test_a_migration_that_is_over_stays_over(status: str) -> None:
    assert not _is_under_way("resize", status, "VERIFY_RESIZE", "resize_migrating")


@pytest.mark.parametrize("kind", ["resize", "migration"])
@pytest.mark.parametrize("status", ["pre-migrating", "migrating", "post-migrating", "finished"])
def test_nova_gives_up_a_resize_of_a_server_that_was_reset(kind: str, status: str) -> None:
    assert not _is_under_way(kind, status, "ACTIVE")
    assert not _is_under_way(kind, status, "ERROR")
    assert not _is_under_way(kind, status, "ACTIVE", "image_uploading")


@pytest.mark.parametrize("status", ["pre-migrating", "migrating", "post-migrating"])
@pytest.mark.parametrize("task", ["resize_prep", "resize_migrating", "resize_migrated", "resize_finish"])
def test_a_resize_may_have_made_progress_since_it_was_read(status: str, task: str) -> None:
    assert _is_under_way("resize", status, "RESIZE", task)


@pytest.mark.parametrize("status", ["migrating", "finished"])
@pytest.mark.parametrize(
    ("server_status", "task"),
    [("RESIZE", "resize_finish"), ("VERIFY_RESIZE", None), ("REVERT_RESIZE", "resize_reverting")],
)
def test_a_resize_that_comes_to_its_end_may_be_reverted(status: str, server_status: str, task: str | None) -> None:
    assert _is_under_way("resize", status, server_status, task)


def test_nobody_reverts_the_last_resize_of_a_server_that_an_earlier_one_has_broken() -> None:
    """The earlier one has failed, and has left its task to the server."""
    assert not _is_under_way("resize", "finished", "ERROR", "resize_migrated")


@pytest.mark.parametrize(
    ("kind", "status"),
    [("resize", "confirming"), ("migration", "reverting"), ("live-migration", "running"), ("evacuation", "done")],
)
def test_nova_goes_on_with_others_whatever_the_state_of_the_server(kind: str, status: str) -> None:
    assert _is_under_way(kind, status, "ACTIVE")
