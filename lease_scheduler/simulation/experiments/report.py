"""Reports of experiments: the checks as text and CSV, and the figures of single runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lease_scheduler.simulation.campaigns.case import Case, Outcome
from lease_scheduler.simulation.experiments.checks import Check, missed, print_checks
from lease_scheduler.simulation.formats.files import replace_file

#: Characters per line of the report in a file.
REPORT_WIDTH = 160


def write_report(
    groups: Mapping[str, Sequence[Check]],
    cases: Sequence[Case],
    outcomes: Mapping[str, Outcome],
    directory: Path,
    console: Console,
    left_out: str = "",
) -> int:
    """Print every check, and write ``report.txt``, ``checks.csv`` and ``runs.csv``.

    :param groups: title -> checks
    :param cases: the runs, in the order of ``runs.csv``
    :param outcomes: outcomes by name of the case
    :param left_out: a sentence about what was not run and why, or empty
    :return: number of checks outside their band
    :raises InputFileError: a file cannot be written
    """
    everything = [check for checks in groups.values() for check in checks]
    outside = missed(everything)
    report = io.StringIO()
    for out in (console, Console(file=report, width=REPORT_WIDTH)):
        for title, checks in groups.items():
            print_checks(title, checks, out)
        if left_out:
            out.print(left_out)
        judged = sum(check.passed is not None for check in everything)
        out.print(f"{judged - len(outside)} of {judged} figures lie in their bands.")
    replace_file(directory / "report.txt", _without_trailing_blanks(report.getvalue()))
    replace_file(directory / "checks.csv", _csv([check.row() for check in everything]))
    replace_file(directory / "runs.csv", _csv([_scalars(case.name, outcomes[case.name]) for case in cases]))
    return len(outside)


def _without_trailing_blanks(text: str) -> bytes:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines()).encode()


def _scalars(name: str, outcome: Outcome) -> dict[str, str]:
    return {"case": name, **{key: str(value) for key, value in outcome.items() if not isinstance(value, list)}}


def _csv(rows: list[dict[str, str]]) -> bytes:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()
