"""Messages to others, kept until they are delivered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: What the types of messages begin with that are for filters of leases; all others are notifications.
FOR_FILTERS = "enforcement."


@dataclass(frozen=True)
class Message:
    """Something that waits to be told to somebody outside, until that has succeeded."""

    event_type: str
    payload: Mapping[str, Any]
