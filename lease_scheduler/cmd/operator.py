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

#: Seconds that the engine may take to look at all hosts of a large cloud.
LOOK_LIMIT = 600.0
