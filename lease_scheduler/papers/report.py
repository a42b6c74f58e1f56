"""Reports of experiments: the figures with their spread over seeds, as text and CSV, and those of single runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rich.console import Console

from lease_scheduler.papers.checks import Check, Figure, missed, print_figures, replicated
from lease_scheduler.papers.extent import Extent
from lease_scheduler.papers.replications import CasesOf, Replication, distinct_cases, is_random
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.formats.files import replace_file

#: Characters per line of the report in a file.
REPORT_WIDTH = 180


class ChecksOf(Protocol):
    """Returns the checks of one replication."""

    def __call__(self, outcomes: Mapping[str, Outcome], *, extent: Extent, seed: int) -> Mapping[str, Sequence[Check]]:
        """Return title -> checks; those of a title have different names."""
        ...


def write_report(
    checks: ChecksOf,
    cases: CasesOf,
    replications: Sequence[Replication],
    outcomes: Mapping[str, Outcome],
    directory: Path,
    console: Console,
    left_out: str = "",
) -> int:
    """Print every figure with its spread, and write ``report.txt``, ``checks.csv`` and ``runs.csv``.

    :param checks: returns the checks of a replication
    :param cases: returns the runs of a replication, in the order of ``runs.csv``
    :param replications: what was run
    :param outcomes: outcomes by name of the case
    :param left_out: a sentence about what was not run and why, or empty
    :return: number of figures whose mean over the seeds is outside its band
    :raises InputFileError: a file cannot be written
    """
    groups = replicated({each.seed: checks(outcomes, extent=each.extent, seed=each.seed) for each in replications})
    everything = [figure for figures in groups.values() for figure in figures]
    outside = missed(everything)
    report = io.StringIO()
    for out in (console, Console(file=report, width=REPORT_WIDTH)):
        for title, figures in groups.items():
            print_figures(title, figures, out)
        for sentence in (left_out, _seeds(cases, replications), _verdict(everything)):
            if sentence:
                out.print(sentence, highlight=False)
    runs = distinct_cases(cases, replications)
    replace_file(directory / "report.txt", _without_trailing_blanks(report.getvalue()))
    replace_file(directory / "checks.csv", _csv([figure.row() for figure in everything]))
    replace_file(directory / "runs.csv", _csv([_scalars(case.name, outcomes[case.name]) for case in runs]))
    return len(outside)


def _seeds(cases: CasesOf, replications: Sequence[Replication]) -> str:
    """Return a sentence about the seeds."""
    seeds = [each.seed for each in replications]
    if not distinct_cases(cases, replications):
        return ""
    if not is_random(cases, replications[0]):
        return "Nothing in these runs is random, so a seed changes nothing."
    if len(seeds) == 1:
        return f"Seed {seeds[0]}."
    return (
        f"Seeds {seeds[0]} to {seeds[-1]}. Each figure is the mean over the seeds, with the least and the greatest, "
        "and half the width of the 95 % interval of the mean. The mean has to lie in the band; holds says with how "
        "many seeds the figure does. A figure without a range is the same with every seed."
    )


def _verdict(figures: Sequence[Figure]) -> str:
    judged = [figure for figure in figures if figure.passed is not None]
    said = f"{len(judged) - len(missed(judged))} of {len(judged)} figures lie in their bands."
    seeds = max((len(figure.checks) for figure in judged), default=1)
    if seeds == 1:
        return said
    always = sum(figure.held == len(figure.checks) for figure in judged)
    return f"{said} {always} do with every seed."


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
