"""The chapters of Stillwell's dissertation whose experiments can be repeated (Hawai'i at Manoa, 2010)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.dfrs import dfrs_4, dfrs_5, dfrs_6, dfrs_consolidation, dfrs_hosts
from lease_scheduler.papers.dfrs.azure_hosts import TRACE
from lease_scheduler.papers.dfrs.consolidation import CLOUDS
from lease_scheduler.papers.dfrs.online_cases import LOG_FILE
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.papers.prediction.requests import TRACES

CHAPTERS: Mapping[str, Chapter] = {"dfrs-4": dfrs_4, "dfrs-5": dfrs_5, "dfrs-6": dfrs_6}

#: Further experiments, which are not in the dissertation.
FURTHER: Mapping[str, Chapter] = {"dfrs-hosts": dfrs_hosts, "dfrs-consolidation": dfrs_consolidation}


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
    "dfrs-4, -5, -6: these chapters of Stillwell 2010; dfrs: all of them; dfrs-hosts: what host selection by vectors "
    "gains; dfrs-consolidation: host-hours that moves save",
    FURTHER,
    inputs=inputs,
)
