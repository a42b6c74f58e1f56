"""Identity and time limit of requests that operators' commands send to the engine."""

from __future__ import annotations

from typing import Any

#: Context of such a request.
OPERATOR: dict[str, Any] = {
    "user_id": "operator",
    "project_id": "operator",
    "roles": ["admin"],
    "is_admin": True,
    "request_id": "",
}

#: Maximum seconds for a request in which the engine examines all hosts of a large cloud.
LOOK_LIMIT = 600.0
