"""Quotes: what a lease would come to."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.validation import Schema


def one(version: Version) -> Schema:
    """Answer of POST /quotes."""
    del version
    quote = base.closed(
        {
            "granted": base.BOOLEAN,
            "reason": base.STRING,
            "start": base.MAYBE_ISO_DATE,
            "end": base.MAYBE_ISO_DATE,
            "hosts": base.array(base.STRING),
            "preempts": base.array(base.STRING),
            "preempted": base.INTEGER,
            "alternatives": base.array(base.ALTERNATIVE),
            "queue_position": base.MAYBE_INTEGER,
        },
        ["granted", "reason", "start", "end", "preempts", "preempted", "alternatives"],
    )
    return base.wrapped("quote", quote)
