"""The options of the approval of leases: what they become, and what is refused at the start."""

from __future__ import annotations

import pytest

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.options.approval import approval_rules, approvers
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.service.requests.approval_rules import NODES, ApprovalRules

_SIMULATED = {("service", "cloud"): "simulated"}


def _rules(**said: str) -> ApprovalRules:
    options = {("approval", name): value for name, value in said.items()}
    return approval_rules(configuration.load([], _SIMULATED | options, find_files=False))


def _addresses(addresses: str, **mail: str) -> tuple[str, ...]:
    options = {("tenant_notifications", name): value for name, value in mail.items()}
    given = _SIMULATED | options | {("approval", "mail_to"): addresses}
    return approvers(configuration.load([], given, find_files=False))


def test_the_defaults_of_options_and_values_are_the_same() -> None:
    assert _rules() == ApprovalRules()


def test_options_become_rules() -> None:
    rules = _rules(kinds="reservation,deadline", node_hours="0", resource_hours="VGPU:7", lead_time="60")
    assert rules == ApprovalRules(
        frozenset({LeaseKind.RESERVATION, LeaseKind.DEADLINE}), {NODES: 0, "VGPU": 7}, lead_time=60
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"node_hours": "5"}, "approval.node_hours: has no effect without approval.kinds"),
        ({"lead_time": "0"}, "approval.lead_time: has no effect without"),
        ({"resource_hours": "VCPU:1"}, "approval.resource_hours: has no effect without"),
        ({"kinds": "deadline", "resource_hours": "vcpu:1"}, "approval.resource_hours: 'vcpu' must be a resource class"),
    ],
)
def test_what_is_refused(said: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _rules(**said)


@pytest.mark.parametrize(
    "said",
    [
        {"kinds": "reservations"},
        {"kinds": "deadline", "node_hours": "many"},
        {"kinds": "deadline", "resource_hours": "VCPU:-2"},
        {"hold_time": "59"},
        {"max_waiting": "-2"},
    ],
)
def test_values_that_no_option_has_end_the_program(said: dict[str, str]) -> None:
    with pytest.raises((SystemExit, InvalidValueError, ValueError)):
        _rules(**said)


def test_addresses_need_the_driver_and_an_allowed_domain() -> None:
    assert _addresses("") == ()
    assert _addresses("a@example.org,b@example.org,a@example.org", enabled_drivers="mail") == (
        "a@example.org",
        "b@example.org",
    )
    for addresses, mail, message in (
        ("a@example.org", {}, "needs mail in tenant_notifications.enabled_drivers"),
        ("a@example.org", {"enabled_drivers": "webhook"}, "needs mail in"),
        ("Boss <a@example.org>", {"enabled_drivers": "mail"}, "must be a mail address"),
        ("a@example.com", {"enabled_drivers": "mail", "mail_allowed_domains": "example.org"}, "one of: example.org"),
    ):
        with pytest.raises(InvalidValueError, match=f"approval.mail_to: .*{message}"):
            _addresses(addresses, **mail)
