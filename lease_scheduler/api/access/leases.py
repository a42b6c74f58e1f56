"""Leases."""

from lease_scheduler.api.access.base import ADMIN, MEMBER, MEMBER_OR_PEER, READER, READER_OR_PEER, rule

RULES = (
    rule("leases:get", READER_OR_PEER, "List and show leases.", "GET /v1/leases", "GET /v1/leases/{lease_id}"),
    rule("leases:post", MEMBER, "Create a lease.", "POST /v1/leases"),
    rule("leases:put", MEMBER_OR_PEER, "Change a lease.", "PUT /v1/leases/{lease_id}"),
    rule("leases:delete", MEMBER_OR_PEER, "Delete a lease.", "DELETE /v1/leases/{lease_id}"),
    rule("leases:get_history", READER_OR_PEER, "Show the history of a lease.", "GET /v1/leases/{lease_id}/history"),
    rule("leases:get_names", READER, "Show names of the users of a lease.", "GET /v1/leases/{lease_id}/names"),
    rule("leases:get_hosts", READER, "List the hosts of a lease.", "GET /v1/leases/{lease_id}/hosts"),
    rule(
        "leases:action",
        MEMBER_OR_PEER,
        "Extend, shrink, move, end or cancel a lease; accept or reject a held lease, or ask for other terms; say that "
        "a lease is ready to be preempted; ask what a change would cost.",
        "POST /v1/leases/{lease_id}/action",
        "POST /v1/leases/{lease_id}/quote",
    ),
    rule(
        "leases:approve",
        ADMIN,
        "Approve or decline a lease that awaits approval.",
        "POST /v1/leases/{lease_id}/action",
    ),
    rule(
        "leases:withdraw",
        MEMBER,
        "Give up a request for a lease that may still be on its way.",
        "PUT /v1/withdrawals/{request_id}",
    ),
    rule("leases:all_projects", ADMIN, "List the leases of all projects.", "GET /v1/leases"),
)
