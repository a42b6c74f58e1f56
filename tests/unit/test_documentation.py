"""The examples of the documentation work."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cmd import lease_sim

ROOT = Path(__file__).parents[2]
USER_PAGES = ROOT / "doc" / "source" / "user"
PAPERS = sorted((ROOT / "doc" / "source" / "papers").rglob("*.rst"))
GLOSSARY = ROOT / "doc" / "source" / "contributor" / "glossary.rst"


def test_the_example_workload_of_the_simulator_page(tmp_path: Path) -> None:
    """haizea F24, F25: a best-effort lease makes room for the reservation and is resumed after it."""
    assert lease_sim.main(["run", str(USER_PAGES / "example.lwf"), "--quiet", "--output", str(tmp_path)]) == 0
    with (tmp_path / "leases.csv").open(newline="") as file:
        best_effort, reservation = csv.DictReader(file)
    assert (reservation["kind"], reservation["state"]) == ("reservation", "done")
    assert (reservation["start"], reservation["end"]) == ("3900", "5700")
    assert (best_effort["kind"], best_effort["state"], best_effort["start"]) == ("best-effort", "done", "0")
    assert int(best_effort["end"]) > 5700
    assert best_effort["accumulated"] == "4200"


@pytest.mark.parametrize("page", [*PAPERS, GLOSSARY], ids=lambda page: page.stem)
def test_pages_name_modules_and_tests_that_exist(page: Path) -> None:
    named = re.findall(r"``((?:[a-z_0-9]+/)+[a-z_0-9]+(?:\.py)?)``", page.read_text())
    missing = [
        name for name in named if not any((folder / name).exists() for folder in (ROOT, ROOT / "lease_scheduler"))
    ]
    assert missing == []


def test_the_glossary_names_classes_and_functions_that_exist() -> None:
    named = re.findall(r"``([a-z_0-9/]+\.py)``\s+\(``(\w+)``\)", GLOSSARY.read_text())
    assert len(named) > 20
    missing = [
        f"{module}: {name}"
        for module, name in named
        if not re.search(rf"\b(?:class|def) {name}\b", (ROOT / "lease_scheduler" / module).read_text())
    ]
    assert missing == []


def test_every_feature_of_haizea_has_its_place() -> None:
    """The features are numbered F1 to F95; pages name them one by one or as ranges."""
    pages = "\n".join(page.read_text() for page in PAPERS)
    found = {
        number
        for first, last in re.findall(r"\bF(\d+)(?:-F(\d+))?", pages)
        for number in range(int(first), int(last or first) + 1)
    }
    assert set(range(1, 96)) - found == set()


def test_the_example_of_the_prediction_page(capsys: pytest.CaptureFixture[str]) -> None:
    path = ROOT / "doc" / "source" / "contributor" / "prediction_example.py"
    namespace: dict[str, Any] = {"__name__": "prediction_example"}
    exec(compile(path.read_text(), path.name, "exec"), namespace)
    waits = [random.Random(place).uniform(10, 20) * (5 if place >= 400 else 1) for place in range(800)]
    told = namespace["main"](waits)
    *changes, last = capsys.readouterr().out.splitlines()
    assert "after 344 bounds: waits have changed" in changes
    assert last == f"{told.held} of 741 waits were within their bounds"
    assert told.is_correct()


def test_the_figures_of_the_sizing_page_are_those_of_the_benchmarks() -> None:
    """Each row of its tables has a figure, and names the file of a benchmark that has the same one."""
    source = ROOT / "doc" / "source"
    page = (source / "admin" / "sizing.rst").read_text()
    rows = re.findall(r"^     - (\d.*)\n     - ``([\w-]+\.txt)``$", page, re.MULTILINE)
    assert len(rows) > 15
    wrong = []
    for figures, name in rows:
        (file,) = source.rglob(name)
        known = set(re.findall(r"\d[\d,]*(?:\.\d+)?", file.read_text()))
        wrong += [f"{name}: {figure}" for figure in re.findall(r"\d[\d,]*(?:\.\d+)?\b", figures) if figure not in known]
    assert wrong == []
