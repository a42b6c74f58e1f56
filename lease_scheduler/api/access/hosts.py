"""Compute hosts."""

from lease_scheduler.api.access.base import ADMIN, rule

RULES = (
    rule("oshosts:get", ADMIN, "List and show hosts.", "GET /v1/os-hosts", "GET /v1/os-hosts/{host_id}"),
    rule("oshosts:post", ADMIN, "Add a host to the pool.", "POST /v1/os-hosts"),
    rule("oshosts:put", ADMIN, "Change the capabilities of a host.", "PUT /v1/os-hosts/{host_id}"),
    rule("oshosts:action", ADMIN, "Let a host sleep, or wake it.", "POST /v1/os-hosts/{host_id}/action"),
    rule("oshosts:delete", ADMIN, "Remove a host from the pool.", "DELETE /v1/os-hosts/{host_id}"),
)
