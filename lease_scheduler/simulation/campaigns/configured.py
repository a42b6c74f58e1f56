"""Cases that are described by configurations of Haizea (haizea F42)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from lease_scheduler.model.host import Site
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.formats.lwfa import annotate, read_annotations
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.overheads import OverheadOptions, apply_overheads
from lease_scheduler.simulation.reports.tables import average_utilization_csv, perlease_csv, perrun_csv, summary
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.shipped import load_workload

#: Key of an outcome for the tables of the run: file name -> text.
TABLES = "tables"


@dataclass(frozen=True)
class ConfiguredCase:
    """One run.

    :ivar name: name of the configuration
    :ivar trace: the workload
    :ivar annotation: annotations for the merged workload, or None
    :ivar injection: workload to inject, or None
    :ivar settings: settings of the run
    :ivar overheads: overheads of virtual machines
    :ivar site: the hosts; None for those of the workload
    :ivar attributes: attributes that identify the run in every line of its tables
    :ivar options: the options that the settings come from: ``group.option`` -> text
    """

    name: str
    trace: Path
    annotation: Path | None
    injection: Path | None
    settings: RunSettings
    overheads: OverheadOptions
    site: Site | None
    attributes: Mapping[str, str]
    options: Mapping[str, str]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """See ``case.DescribedCase``."""
        files = {"trace": self.trace, "annotation": self.annotation, "injection": self.injection}
        return {
            "kind": type(self).__name__,
            **{kind: None if file is None else str(file) for kind, file in files.items()},
            "site": None if self.site is None else _capacities(self.site),
            **self.options,
            "attributes": dict(self.attributes),
        }

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the run reads."""
        return tuple(file for file in (self.trace, self.annotation, self.injection) if file is not None)

    def run(self) -> Outcome:
        """See ``case.Case``; the outcome also has the tables of the run in Haizea's columns."""
        workload = load_workload(str(self.trace))
        if self.injection is not None:
            workload = inject(workload, load_workload(str(self.injection)))
        if self.annotation is not None:
            workload = annotate(workload, read_annotations(self.annotation))
        workload = apply_overheads(workload, self.overheads)
        result = Run(workload, self.settings, self.site).execute()
        tables = {
            "perrun.csv": perrun_csv(result, self.attributes),
            "perlease.csv": perlease_csv(result, self.attributes),
            "utilization.csv": average_utilization_csv(result, self.attributes),
        }
        return {**summary(result), TABLES: tables}


def _capacities(site: Site) -> list[tuple[int, dict[str, int]]]:
    """Return consecutive equal hosts as (number of hosts, capacity of each)."""
    return [(len(list(group)), dict(amounts)) for amounts, group in groupby(host.capacity for host in site.hosts)]
