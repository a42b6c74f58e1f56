"""The calendar page's document."""

from __future__ import annotations

from lease_scheduler.api.microversions import Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import Schema
from lease_scheduler.model.power import PowerState

QUERY = (
    Parameter(
        "start", base.text(64, 1), "Start of the period: a date, or seconds since the epoch; default: a day ago."
    ),
    Parameter("end", base.text(64, 1), "End of the period; default: a week after its start."),
    Parameter("since", base.integer(0, 2**53), "Only what changed after this revision."),
)


def one(version: Version) -> Schema:
    """Return the schema of the answer of GET /calendar."""
    del version
    always: dict[str, Schema] = {
        "id": base.STRING,
        "name": base.STRING,
        "state": {"type": "string", "enum": ["up", "down", "disabled"]},
        "vcpus": base.INTEGER,
        "memory_mb": base.INTEGER,
    }
    # Of a host that has ever slept, for callers who see all leases. What it has saved by sleeping, in joules, is
    # ``saved_watts`` times the seconds that it has slept: ``slept``, and those since ``since`` if it is asleep.
    power = base.answer(
        {
            "state": {"type": "string", "enum": [state.value for state in PowerState]},
            "since": base.INTEGER,
            "slept": base.INTEGER,
            "saved_watts": {"type": "number"},
        }
    )
    # Only in rows that are not a visible host: whether the row stands for a hidden host or for other projects.
    stands_for: Schema = {"type": "string", "enum": ["host", "projects"]}
    # A host has ``pool`` only if the site has several pools.
    host = base.closed({**always, "pool": base.STRING, "power": power, "stands_for": stands_for}, list(always))
    answer: dict[str, Schema] = {
        "now": base.INTEGER,
        "revision": base.INTEGER,
        "complete": base.BOOLEAN,
        "hosts": base.array(host),
        "leases": base.array(
            {"type": "object", "required": ["id", "name", "kind", "state", "holdings", "past", "may_change"]}
        ),
        "removed": base.array(base.STRING),
        # That of the caller; null if identity is not checked.
        "project": base.nullable(base.answer({"id": base.STRING, "name": base.STRING})),
        "may_book": base.BOOLEAN,
        "may_approve": base.BOOLEAN,
        # Number of hosts that leases of all projects hold now, and number of those that they could hold.
        "use": base.answer({"held": base.INTEGER, "usable": base.INTEGER}),
        # Number of all leases in each state, in or out of the period; null if unchanged since the previous answer.
        "states": {"type": ["object", "null"], "additionalProperties": base.INTEGER},
    }
    # The pools that the project may use; only if the site has several. The sites; only behind a gateway.
    site = base.answer({"name": base.STRING, "unreachable_since": base.MAYBE_INTEGER})
    return base.closed({**answer, "pools": base.array(base.STRING), "sites": base.array(site)}, list(answer))
