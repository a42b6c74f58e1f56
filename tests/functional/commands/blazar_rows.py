"""Create Blazar's tables and fill them by Blazar's own means. Runs with Blazar's Python.

Usage: ``blazar_rows.py CONFIGURATION CALLS``. CALLS is a JSON file of pairs: a function of Blazar's database API and
its argument, or a list of arguments. Dates are texts.
"""

from __future__ import annotations

import importlib
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

_DATES = frozenset({"start_date", "end_date", "time", "created_at"})


def main(configuration: str, calls: str) -> None:
    # One interpreter does both, because imports take most of the time.
    sys.argv = ["blazar-db-manage", "--config-file", configuration, "upgrade", "head"]
    importlib.import_module("blazar.db.migration.cli").main()
    api = importlib.import_module("blazar.db.api")
    for function, values in json.loads(Path(calls).read_text()):
        arguments = values if isinstance(values, list) else [values]
        getattr(api, function)(*_with_dates(arguments))


def _with_dates(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_dates(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: datetime.fromisoformat(each) if key in _DATES and each is not None else _with_dates(each)
        for key, each in value.items()
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
