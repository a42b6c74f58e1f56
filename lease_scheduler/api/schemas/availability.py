"""Availability: when nodes are free."""

from __future__ import annotations

from lease_scheduler.api.microversions import V1_17, V1_24, V1_26, Version
from lease_scheduler.api.schemas import base
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.validation import FORM, Schema

QUERY = (
    Parameter("start", base.DATE, "Start of the search; default: now."),
    Parameter("end", base.DATE, "End of the search; default: seven days after its start."),
    Parameter(
        "duration",
        {**base.text(64, 1), FORM: base.DURATION[FORM]},
        'How long nodes must be free, like "2h30m"; default: one hour.',
    ),
    Parameter("count", base.integer(1, 100_000), "How many nodes at once; default: 1."),
    Parameter("vcpus", base.integer(1), "VCPUs of a node."),
    Parameter("memory_mb", base.integer(1), "Memory of a node."),
    Parameter("disk_gb", base.integer(1), "Disk of a node."),
    Parameter("resources", base.text(1_024, 1), 'Further resource classes, like "CUSTOM_GPU:2,PCPU:4".'),
    Parameter("traits", base.text(1_024, 1), 'Traits that its host must have, like "HW_CPU_X86_AVX512,CUSTOM_SSD".'),
    Parameter(
        "groups",
        base.text(1_024, 1),
        'Resources that come from one nested provider each, like "VGPU:1@CUSTOM_NVIDIA_11,VGPU:1".',
        V1_24,
    ),
    Parameter("properties", base.QUERY, "Query over the properties of its host."),
    Parameter("exclusive", base.BOOLEAN, "Whole hosts."),
    Parameter("per_host", base.integer(1, 100_000), "Maximum number of nodes on one host."),
    Parameter("pool", base.text(64, 1), "In this pool; default: the first that the project may use.", V1_26),
)


def one(version: Version) -> Schema:
    """Return the schema of the answer of GET /availability."""
    window = {"start": base.ISO_DATE, "end": base.MAYBE_ISO_DATE, "count": base.INTEGER}
    free = {"windows": base.array(base.answer(window)), "earliest": base.MAYBE_ISO_DATE}
    if version < V1_17:
        return base.wrapped("availability", base.answer(free))
    windows = base.array(base.answer({**window, "preempted_kinds": base.KINDS}))
    return base.wrapped("availability", base.answer({**free, "windows": windows, "free": base.answer(free)}))
