"""Notifications as Nova 33 sends them, recorded in the lab: the first one of each type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Document = dict[str, Any]

_found: list[Document] = json.loads(Path(__file__).with_name("notifications.json").read_text())

#: By type.
RECORDED: dict[str, Document] = {message["event_type"]: message for message in _found}


def field(event_type: str, name: str) -> Any:
    """Return a field of the payload of a recorded message."""
    return RECORDED[event_type]["payload"]["nova_object.data"][name]


#: The server of most messages, the lease of its flavor, a server that found no host, and the user of all requests.
SERVER: str = field("instance.create.end", "uuid")
LEASE: str = field("instance.create.end", "flavor")["nova_object.data"]["extra_specs"]["lease:id"]
UNPLACED: str = field("compute_task.build_instances.error", "instance_uuid")
AGGREGATE: int = field("aggregate.add_host.end", "id")
USER: str = RECORDED["instance.create.end"]["context"]["user_id"]
