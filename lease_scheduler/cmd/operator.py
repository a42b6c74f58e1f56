"""The identity and the limits of requests that an operator's command sends to the engine."""

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

#: Seconds that the engine may take to examine all hosts of a large cloud.
LOOK_LIMIT = 600.0
