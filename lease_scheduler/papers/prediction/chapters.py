"""The chapters of Pucher's dissertation whose experiments can be repeated (Santa Barbara, 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lease_scheduler.papers.data_folder import data_folder
from lease_scheduler.papers.paper import Chapter, Paper
from lease_scheduler.papers.prediction import prediction_3, prediction_4, prediction_azure, prediction_durations
from lease_scheduler.papers.prediction.azure_cases import AZURE
from lease_scheduler.papers.prediction.durations import LOGS
from lease_scheduler.papers.prediction.requests import TRACES
from lease_scheduler.simulation.shipped import shipped_path

CHAPTERS: Mapping[str, Chapter] = {"prediction-3": prediction_3, "prediction-4": prediction_4}

#: Further experiments, which are not in the dissertation.
FURTHER: Mapping[str, Chapter] = {
    "prediction-durations": prediction_durations,
    "prediction-azure": prediction_azure,
}


def inputs() -> list[Path]:
    """Return the files that the runs read: shipped ones, and those that exist in the folder of workload logs."""
    folder = data_folder()
    names = [AZURE, *(trace.file for trace in TRACES.values()), *(log.file for log in LOGS.values())]
    logs = [] if folder is None else [folder / name for name in names]
    return [shipped_path("blue1"), *(log for log in logs if log.is_file())]


PAPER = Paper(
    "prediction",
    CHAPTERS,
    "prediction-3, -4: these chapters of Pucher 2016; prediction: both together; prediction-durations: what expected "
    "durations gain; prediction-azure: lifetimes on a trace of Azure",
    FURTHER,
    inputs=inputs,
)
