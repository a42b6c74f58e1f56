"""JSON objects, exchanged with clients and between the programs of the service."""

from __future__ import annotations

from typing import Any

#: A JSON object.
Document = dict[str, Any]
