"""Common rules, to which the others refer."""

from __future__ import annotations

from oslo_policy import policy

ADMIN = "rule:admin"
READER = "rule:project_reader_or_admin"
MEMBER = "rule:project_member_or_admin"
#: The same for leases, which the peer that has requested them may read and change too, whatever their project.
READER_OR_PEER = "rule:project_reader_or_admin or (role:reader and rule:peer_of_lease)"
MEMBER_OR_PEER = "rule:project_member_or_admin or (role:member and rule:peer_of_lease)"


RULES: tuple[policy.RuleDefault, ...] = (
    policy.RuleDefault("admin", "role:admin", "An administrator."),
    policy.RuleDefault(
        "project_manager_or_admin",
        "rule:admin or (role:manager and project_id:%(project_id)s)",
        "A manager of the project that owns the object.",
    ),
    policy.RuleDefault(
        "project_member_or_admin",
        "rule:admin or (role:member and project_id:%(project_id)s)",
        "A member of the project that owns the object.",
    ),
    policy.RuleDefault(
        "project_reader_or_admin",
        "rule:admin or (role:reader and project_id:%(project_id)s)",
        "A reader of the project that owns the object.",
    ),
    policy.RuleDefault("peer_of_lease", "origin:%(origin)s", "The peer that has requested the lease."),
)


def rule(name: str, check: str, description: str, *operations: str) -> policy.DocumentedRuleDefault:
    """Return a rule of the API.

    :param name: name without the leading ``reservation:``
    :param operations: operations that the rule guards, such as ``GET /v1/leases``
    """
    return policy.DocumentedRuleDefault(
        name=f"reservation:{name}",
        check_str=check,
        description=description,
        operations=[{"method": method, "path": path} for method, path in map(str.split, operations)],
        scope_types=["project"],
    )
