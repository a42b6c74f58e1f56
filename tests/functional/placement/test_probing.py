"""Whether it is found out that a Placement grants too much, and that nothing is left of the attempt."""

from __future__ import annotations

import pytest

from lease_scheduler.cloud.nova import probing
from lease_scheduler.cloud.nova.placement import Placement
from tests.functional.placement.site import Site


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
