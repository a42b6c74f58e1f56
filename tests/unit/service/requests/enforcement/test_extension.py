"""The filter of extensions: what it refuses, and that no sequence of changes gets around it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oslo_config import cfg

from lease_scheduler.cmd.enforcement import filters
from lease_scheduler.conf import opts
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.records.extensions import Extensions
from lease_scheduler.service.requests.enforcement import ChangeProposal, Proposal, UsageFilter
from lease_scheduler.service.requests.enforcement.base import Extension, ShorterExtensionError

_HOUR = 3_600
_NOW = 1_000_000


def _filter(**values: Any) -> UsageFilter:
    conf = cfg.ConfigOpts()
    opts.register(conf)
    conf([], project="lease-scheduler", default_config_files=[])
    conf.set_override("enabled_filters", ["ExtensionFilter"], group="enforcement")
    for name, value in values.items():
        conf.set_override(f"extension_{name}", value, group="enforcement")
    (found,) = filters(conf)
    return found


def _change(extension: Extension | None, kind: LeaseKind = LeaseKind.RESERVATION) -> ChangeProposal:
    start = _NOW if kind is LeaseKind.RESERVATION else None
    request = LeaseRequest("a", kind, (NodeSet(1, Resources({"VCPU": 1})),), 1, 10 * _HOUR, start=start)
    return ChangeProposal(Proposal({"id": "a", "project_id": "p"}, request, _NOW), {}, request, extension)


def _extension(added: int = _HOUR, **values: Any) -> Extension:
    given = {"record": Extensions(), "latest_end": _NOW + 10 * _HOUR, **values}
    return Extension(added, **given)


def _refused(found: UsageFilter, extension: Extension, context: dict[str, Any] | None = None) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        found.check_update(context or {}, _change(extension))
    assert caught.value.code == 403
    assert caught.value.field == "end_date"
    return caught.value


def test_without_options_every_extension_is_allowed() -> None:
    _filter().check_update({}, _change(_extension(UNLIMITED, record=Extensions(100, 10**9), delayed=3, waiting=3)))


@pytest.mark.parametrize("name", ["max_time", "window"])
def test_a_limit_that_would_allow_nothing_is_refused_at_start(name: str) -> None:
    with pytest.raises(InvalidValueError, match=f"extension_{name}: must be -1"):
        _filter(**{name: 0})


def test_how_often() -> None:
    found = _filter(max_count=2)
    found.check_update({}, _change(_extension(record=Extensions(1, 10))))
    error = _refused(found, _extension(record=Extensions(2, 10)))
    assert "may be extended 2 times ([enforcement] extension_max_count), and this one was extended 2 times" in str(
        error
    )
    assert "leases may not be extended" in str(_refused(_filter(max_count=0), _extension()))


def test_how_far_at_once_and_in_all_with_what_would_be_allowed() -> None:
    found = _filter(max_time=2 * _HOUR, max_total_time=3 * _HOUR)
    found.check_update({}, _change(_extension(2 * _HOUR)))
    once = _refused(found, _extension(2 * _HOUR + 1))
    assert isinstance(once, ShorterExtensionError)
    assert once.added == 2 * _HOUR
    assert "may add 2 h at most ([enforcement] extension_max_time), not 2 h 1 s" in once.message
    again = _refused(found, _extension(2 * _HOUR, record=Extensions(1, 2 * _HOUR)))
    assert isinstance(again, ShorterExtensionError)
    assert again.added == _HOUR
    assert "2 h were added before, so 1 h may be added now, not 2 h" in again.message
    # What is allowed is always the smaller of the two.
    both = _refused(found, _extension(5 * _HOUR, record=Extensions(1, 2 * _HOUR)))
    assert isinstance(both, ShorterExtensionError)
    assert both.added == _HOUR
    spent = _refused(found, _extension(1, record=Extensions(2, 3 * _HOUR)))
    assert isinstance(spent, ShorterExtensionError)
    assert spent.added == 0
    assert "not to no end at all" in str(_refused(found, _extension(UNLIMITED - _HOUR)))


def test_only_in_the_last_hours() -> None:
    found = _filter(window=2 * _HOUR)
    found.check_update({}, _change(_extension(latest_end=_NOW + 2 * _HOUR)))
    error = _refused(found, _extension(latest_end=_NOW + 2 * _HOUR + 5))
    assert "in its last 2 h ([enforcement] extension_window), which begin in 5 s" in str(error)
    assert "latest end" not in str(error)
    assert "the latest end that the lease has had" in str(_refused(found, _extension(cut=1)))
    assert "not planned yet" in str(_refused(found, _extension(latest_end=None)))


def test_others_that_would_be_delayed_or_wait() -> None:
    for who in ("nobody", "delayed", "waiting"):
        assert getattr(_filter(refused_for=who), "weighs_others") is (who != "nobody")  # noqa: B009
    found = _filter(refused_for="delayed")
    found.check_update({}, _change(_extension(waiting=1)))
    assert "would delay 2" in str(_refused(found, _extension(delayed=2)))
    found = _filter(refused_for="waiting")
    found.check_update({}, _change(_extension()))
    assert "2 of them wait" in str(_refused(found, _extension(waiting=2)))
    assert "would delay 1" in str(_refused(found, _extension(delayed=1)))


def test_who_is_exempt() -> None:
    found = _filter(max_count=0, exempt_project_ids=["free"])
    found.check_update({"roles": ["member", "Admin"]}, _change(_extension()))
    _refused(found, _extension(), {"roles": ["member", "reader"]})
    free = _change(_extension())
    found.check_update({}, replace(free, current=replace(free.current, lease={"id": "a", "project_id": "free"})))
    _refused(_filter(max_count=0, exempt_roles=[]), _extension(), {"roles": ["admin"]})


def test_other_changes_are_none_of_its_business_and_the_field_is_that_of_the_kind() -> None:
    found = _filter(max_count=0)
    found.check_create({}, _change(None).current)
    found.check_update({}, _change(None))
    with pytest.raises(RefusedError) as caught:
        found.check_update({}, _change(_extension(), LeaseKind.BEST_EFFORT))
    assert caught.value.field == "duration"


@given(st.lists(st.integers(1, 100), min_size=1, max_size=20))
def test_whatever_is_shortened_and_extended_the_limits_hold(wanted: list[int]) -> None:
    """A project asks for one duration after the other; what is refused changes nothing, as in the service."""
    found = _filter(max_count=3, max_time=10, max_total_time=15)
    duration, record, added = 20, Extensions(), []
    for asked in wanted:
        if asked > duration:
            proposal = _extension(asked - duration, record=record, cut=record.cut(duration))
            try:
                found.check_update({}, _change(proposal))
            except RefusedError:
                continue
            added.append(asked - duration)
        record, duration = record.changed(duration, asked), asked
        assert record.count == len(added) <= 3
        assert record.seconds == sum(added) <= 15
        assert max(added, default=0) <= 10
        assert duration <= 35


@given(st.integers(1, 100), st.lists(st.integers(1, 100), max_size=20))
def test_shortening_never_brings_the_window_nearer(first: int, durations: list[int]) -> None:
    record, duration, longest = Extensions(), first, first
    for each in durations:
        record, duration = record.changed(duration, each), each
        longest = max(longest, each)
        assert duration + record.cut(duration) == longest


def test_a_lease_without_a_duration_had_no_end_that_could_count() -> None:
    record = Extensions().changed(UNLIMITED, 100)
    assert record.cut(100) == 0
    assert record.changed(100, 100) is record
