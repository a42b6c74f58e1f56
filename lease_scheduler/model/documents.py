"""JSON objects: what clients send and see, and what the programs of the service tell each other."""

from __future__ import annotations

from typing import Any

#: A JSON object.
Document = dict[str, Any]
