"""Who asks the engine when an operator types a command."""

from __future__ import annotations

from typing import Any

#: The context of such a request.
OPERATOR: dict[str, Any] = {
    "user_id": "operator",
    "project_id": "operator",
    "roles": ["admin"],
    "is_admin": True,
    "request_id": "",
}
