"""The data file of a run: the records of its probes, as JSON (haizea F43).

``SCHEMA`` describes the layout, and doc/source/user/simulator.rst explains the contents. Every change of the layout
gets a new ``version``.
"""

from __future__ import annotations

import json
import os
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.accounting import Accounting, Average, Counter, Entry
from lease_scheduler.simulation.formats.files import open_bytes, replace_file

FORMAT = "lease-scheduler accounting"
VERSION = 1

_VALUES = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["format", "version", "workload", "attributes", "run", "leases", "counters"],
    "properties": {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "workload": {"type": "string"},
        "attributes": {"type": "object", "additionalProperties": {"type": "string"}},
        "run": _VALUES,
        "leases": {"type": "object", "additionalProperties": _VALUES},
        "counters": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["average", "entries"],
                "properties": {
                    "average": {"enum": [average.value for average in Average]},
                    "entries": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["time", "value"],
                            "properties": {
                                "time": {"type": "integer"},
                                "value": {"type": "number"},
                                "lease_id": {"type": "string"},
                                "average": {"type": "number"},
                            },
                        },
                    },
                },
            },
        },
    },
}

_VALIDATOR = Draft202012Validator(SCHEMA)


def write_data_file(accounting: Accounting, workload_name: str, path: str | os.PathLike[str]) -> None:
    """Write the records of a run to a data file in one step.

    :raises InputFileError: the file cannot be written
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "workload": workload_name,
        "attributes": dict(accounting.attributes),
        "run": accounting.run,
        "leases": accounting.leases,
        "counters": {name: _counter(counter) for name, counter in accounting.counters.items()},
    }
    replace_file(path, (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode())


def _counter(counter: Counter) -> dict[str, Any]:
    entries: list[dict[str, Any]] = [{"time": entry.instant, "value": entry.value} for entry in counter.entries]
    for written, entry in zip(entries, counter.entries, strict=True):
        if entry.lease_id is not None:
            written["lease_id"] = entry.lease_id
    averages = counter.averages()
    if averages:
        for written, average in zip(entries, averages, strict=True):
            written["average"] = average
    return {"average": counter.average.value, "entries": entries}


def read_data_file(path: str | os.PathLike[str]) -> tuple[str, Accounting]:
    """Read a data file, and return the name of the workload and the records.

    :raises InputFileError: the file cannot be read, or does not have this format and version
    """
    name = os.fspath(path)
    with open_bytes(path) as stream:
        try:
            content = json.loads(stream.read(), parse_constant=_refuse)
        except ValueError as error:
            raise InputFileError(name, None, f"is not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputFileError(name, None, f'is not a data file of a run ("format": "{FORMAT}")')
    if content.get("version") != VERSION:
        raise InputFileError(name, None, f"has version {content.get('version')!r}; this program knows {VERSION}")
    for problem in _VALIDATOR.iter_errors(content):
        where = ".".join(map(str, problem.absolute_path)) or "the file"
        raise InputFileError(name, None, f"{where}: {problem.message}")
    counters = {
        counter: Counter(
            Average(kept["average"]),
            [Entry(entry["time"], entry["value"], entry.get("lease_id")) for entry in kept["entries"]],
        )
        for counter, kept in content["counters"].items()
    }
    return content["workload"], Accounting(content["attributes"], counters, content["leases"], content["run"])


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a JSON number")
