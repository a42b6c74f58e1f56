"""Messages to other services, kept until they are delivered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Prefix of the event types of messages for usage filters. All other messages are notifications.
FOR_FILTERS = "enforcement."


@dataclass(frozen=True)
class Message:
    """A message to another service."""

    event_type: str
    payload: Mapping[str, Any]
