"""The enforcement filters that a configuration selects, and what each of them refuses."""

from __future__ import annotations

from typing import Any

import pytest
from oslo_config import cfg

from lease_scheduler.cmd.enforcement import filters
from lease_scheduler.conf import opts
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.service.requests.enforcement import ChangeProposal, Proposal, UsageFilter


def _filters(**values: Any) -> list[UsageFilter]:
    conf = cfg.ConfigOpts()
    opts.register(conf)
    conf([], project="lease-scheduler", default_config_files=[])
    for name, value in values.items():
        conf.set_override(name, value, group="enforcement")
    return filters(conf)


def _proposal(duration: int, project_id: str = "p") -> Proposal:
    lease = {"id": "a", "project_id": project_id}
    return Proposal(lease, LeaseRequest("a", LeaseKind.RESERVATION, (), 1, duration, start=1), 1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"enabled_filters": ["Nothing"]},
            "there is no filter 'Nothing'; installed are: BudgetFilter, ExtensionFilter, ",
        ),
        ({"enabled_filters": ["QuotaFilter", "QuotaFilter"]}, "QuotaFilter is there twice"),
        ({"enabled_filters": ["ExternalServiceFilter"]}, "external_service_endpoint: is needed"),
        (
            {"enabled_filters": ["ExternalServiceFilter"], "external_service_endpoint": "host/path"},
            "external_service_endpoint: must begin with http",
        ),
        (
            {"enabled_filters": ["ExternalServiceFilter"], "external_service_on_end": "ftp://host"},
            "external_service_on_end: must begin with http",
        ),
        (
            {
                "enabled_filters": ["ExternalServiceFilter"],
                "external_service_endpoint": "https://host",
                "external_service_cafile": "/nowhere",
            },
            "external_service_cafile: there is no file /nowhere",
        ),
        ({"enabled_filters": ["MaxLeaseDurationFilter"], "max_lease_duration": 0}, "max_lease_duration: must be -1"),
        ({"enabled_filters": ["QuotaFilter"], "project_limits": ["a b"]}, "there is no limit 'b'"),
    ],
)
def test_what_is_wrong_is_refused_at_start_by_its_name(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _filters(**values)


def test_no_filter_is_on_unless_it_is_named_and_the_order_is_that_of_the_operator() -> None:
    assert _filters() == []
    names = ["QuotaFilter", "MaxLeaseDurationFilter"]
    assert [type(each).__name__ for each in _filters(enabled_filters=names)] == names


def test_the_longest_duration_holds_for_all_but_exempt_projects() -> None:
    (found,) = _filters(
        enabled_filters=["MaxLeaseDurationFilter"],
        max_lease_duration=60,
        max_lease_duration_exempt_project_ids=["free"],
    )
    found.check_create({}, _proposal(60))
    found.check_create({}, _proposal(61, "free"))
    for duration in (61, UNLIMITED):
        with pytest.raises(RefusedError, match="at most 1 min") as refused:
            found.check_create({}, _proposal(duration))
        assert refused.value.code == 403


def test_a_change_is_refused_only_if_it_makes_a_lease_longer() -> None:
    (found,) = _filters(enabled_filters=["MaxLeaseDurationFilter"], max_lease_duration=60)
    found.check_update({}, ChangeProposal(_proposal(100), {}, _proposal(90).request))
    with pytest.raises(RefusedError):
        found.check_update({}, ChangeProposal(_proposal(30), {}, _proposal(61).request))
    (found,) = _filters(enabled_filters=["MaxLeaseDurationFilter"])
    found.check_create({}, _proposal(UNLIMITED))
