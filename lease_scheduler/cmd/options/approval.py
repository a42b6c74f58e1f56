"""Options of the approval of leases."""

from __future__ import annotations

import re

from oslo_config import cfg

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.records.subscriptions import MAIL
from lease_scheduler.service.requests.approval_rules import NODES, ApprovalRules
from lease_scheduler.service.telling.subscriptions.mail import check_address

_CLASS = re.compile(r"[A-Z0-9_]+")


def approval_rules(conf: cfg.ConfigOpts) -> ApprovalRules:
    """Return the rules by which leases need approval.

    :raises InvalidValueError: an option is wrong, or would have no effect
    """
    group = conf.approval
    for name in group.resource_hours:
        if not _CLASS.fullmatch(name):
            raise InvalidValueError(
                "approval.resource_hours", f"{name!r} must be a resource class, such as VCPU or CUSTOM_FPGA"
            )
    hours = dict(group.resource_hours)
    if group.node_hours >= 0:
        hours[NODES] = group.node_hours
    if not group.kinds:
        given = {
            "node_hours": NODES in hours,
            "resource_hours": group.resource_hours,
            "lead_time": group.lead_time >= 0,
        }
        for name, is_given in given.items():
            if is_given:
                # An operator who sets a threshold relies on it.
                raise InvalidValueError(f"approval.{name}", "has no effect without approval.kinds; name the kinds")
    return ApprovalRules(
        kinds=frozenset(LeaseKind(kind) for kind in group.kinds),
        hours=hours,
        lead_time=group.lead_time,
        hold_time=group.hold_time,
        maximum_waiting=group.max_waiting,
        exempt=frozenset(group.exempt_project_ids),
    )


def approvers(conf: cfg.ConfigOpts) -> tuple[str, ...]:
    """Return the mail addresses of the approvers.

    :raises InvalidValueError: an address is invalid or not allowed, or the mail driver is not enabled
    """
    addresses = tuple(dict.fromkeys(conf.approval.mail_to))
    for address in addresses:
        check_address(address, conf.tenant_notifications.mail_allowed_domains, "approval.mail_to")
    if addresses and MAIL not in conf.tenant_notifications.enabled_drivers:
        raise InvalidValueError("approval.mail_to", "needs mail in tenant_notifications.enabled_drivers")
    return addresses
