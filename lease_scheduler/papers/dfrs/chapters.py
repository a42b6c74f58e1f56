"""The chapters of Stillwell's dissertation whose experiments can be repeated (Hawai'i at Manoa, 2010)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.dfrs import dfrs_4, dfrs_5, dfrs_6, dfrs_consolidation, dfrs_hosts
from lease_scheduler.papers.dfrs.azure_hosts import SHAPES, TRACE, AzureHostsCase
from lease_scheduler.papers.dfrs.consolidation import CLOUDS, ConsolidationCase
from lease_scheduler.papers.dfrs.offline_cases import OfflineCase, OptimumCase
from lease_scheduler.papers.dfrs.online_cases import LOG, LOG_FILE, OnlineCase
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.papers.prediction.requests import TRACES
from lease_scheduler.simulation.campaigns.case import Case

CHAPTERS: Mapping[str, Chapter] = {"dfrs-4": dfrs_4, "dfrs-5": dfrs_5, "dfrs-6": dfrs_6}

#: Further experiments, which are not in the dissertation.
FURTHER: Mapping[str, Chapter] = {"dfrs-hosts": dfrs_hosts, "dfrs-consolidation": dfrs_consolidation}


def forecast(case: Case) -> float:
    """Return roughly how many CPU seconds a run takes."""
    if isinstance(case, OfflineCase):
        return case.instances * case.jobs * case.dimensions / 500
    if isinstance(case, OptimumCase):
        return case.instances * case.jobs / 2
    if isinstance(case, ConsolidationCase):
        return 5.0
    if isinstance(case, AzureHostsCase):
        return 90 * SHAPES[case.shape].sample
    assert isinstance(case, OnlineCase)
    each = 0.2 if case.source == LOG else 0.1
    # A linear program for each event takes longer.
    return case.count * sum(5.0 if "OPT=AVG" in row else each for row in case.rows)


def inputs() -> list[Path]:
    """Return the files that the runs read: those in the folder of workload logs that are there."""
    folder = data_folder()
    logs = (
        [] if folder is None else [folder / name for name in (LOG_FILE, TRACE, *(TRACES[name].file for name in CLOUDS))]
    )
    return [log for log in logs if log.is_file()]


PAPER = Paper(
    "dfrs",
    CHAPTERS,
    FURTHER,
    "dfrs-4, -5, -6: these chapters of Stillwell 2010; dfrs: all of them; dfrs-hosts: what host selection by vectors "
    "gains; dfrs-consolidation: host-hours that moves save",
    inputs,
    forecast,
)
