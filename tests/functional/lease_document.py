"""The document that the API sends to the engine to request a lease."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

#: Resources of a host in the tests.
VCPUS = 8


def lease_document(
    name: str, kind: str, count: int = 1, reservation_id: str | None = None, **terms: Any
) -> dict[str, Any]:
    """Return a lease of whole hosts. Its ids are new unless the terms give some."""
    reservation = {
        "id": reservation_id or str(uuid4()),
        "resource_type": "virtual:instance",
        "vcpus": VCPUS,
        "memory_mb": 100,
        "disk_gb": 0,
        "amount": count,
        "affinity": None,
        "resource_properties": "",
    }
    return {
        "id": str(uuid4()),
        "name": name,
        "project_id": "project",
        "user_id": "user",
        "trust_id": None,
        "kind": kind,
        "maintenance": False,
        "start": None,
        "end": None,
        "duration": None,
        "deadline": None,
        "before_end": None,
        "preemptible": kind in ("best-effort", "deadline"),
        "preemption_mode": "suspend",
        "servers": [],
        "on_end": "delete",
        "series_id": None,
        "extras": {},
        "reservations": [reservation],
        **terms,
    }
