"""The check whether a Placement overcommits detects it, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.cloud.nova.api import probing
from lease_scheduler.cloud.nova.api.placement import Placement
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from tests.functional.commands.programs import Ended, run, write_configuration
from tests.functional.placement.site import Site
from tests.servers.base import free_port


def _is_left(site: Site) -> bool:
    providers = site.ask("GET", "/resource_providers")["resource_providers"]
    classes = site.ask("GET", "/resource_classes")["resource_classes"]
    return any("probe" in each["name"].lower() for each in (*providers, *classes))


def test_it_is_found_out(site: Site) -> None:
    assert probing.oversells(Placement(site.adapter))
    assert not _is_left(site)


def test_a_placement_that_does_not_is_not_accused(sound_site: Site) -> None:
    assert not probing.oversells(Placement(sound_site.adapter))
    assert not _is_left(sound_site)


def test_what_a_killed_one_has_left_is_removed(sound_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    placement = Placement(sound_site.adapter)
    with monkeypatch.context() as context:
        context.setattr(probing, "_clean_up", lambda *_: None)
        context.setattr(probing, "_release", lambda *_: None)
        assert not probing.oversells(placement, rounds=1)
        assert _is_left(sound_site)
    assert not probing.oversells(placement, rounds=1)
    assert not _is_left(sound_site)


def _check(folder: Path, url: str) -> Ended:
    """Run ``lease-scheduler-status upgrade check`` of a service with a Placement and database tables."""
    database_url = f"sqlite:///{folder}/test.sqlite"
    database = open_database(database_url)
    migrate.upgrade(database)
    database.dispose()
    path = write_configuration(folder, database_url)
    said = path.read_text().replace("cloud = simulated\n", "cloud = nova\n")
    path.write_text(f"{said}[nova]\nauth_type = admin_token\nendpoint = {url}\ntoken = admin\n")
    return run("status", "--config-file", str(path), "upgrade", "check", folder=folder)


def _said(ended: Ended) -> str:
    """Return output without the breaks that the table makes in lines."""
    return "".join(ended.output.replace("|", "").split())


def test_operators_are_warned(site: Site, tmp_path: Path) -> None:
    ended = _check(tmp_path, site.url)
    assert ended.status == 1, ended.output
    assert "allocation_conflict_retry_count=1" in _said(ended)


def test_operators_who_have_set_it_are_not(sound_site: Site, tmp_path: Path) -> None:
    """There is no Nova here, which hides nothing about Placement; the lab shows the answer of a complete cloud."""
    ended = _check(tmp_path, sound_site.url)
    assert (ended.status, "allocation" in _said(ended)) == (1, False), ended.output
    assert "Novacouldnotbeexamined" in _said(ended)
    assert "Placementcouldnotbeexamined" not in _said(ended)


def test_a_placement_that_does_not_answer(tmp_path: Path) -> None:
    ended = _check(tmp_path, f"http://127.0.0.1:{free_port()}")
    assert (ended.status, "Placementcouldnotbeexamined" in _said(ended)) == (1, True), ended.output
