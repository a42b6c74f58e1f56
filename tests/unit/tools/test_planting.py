"""Faults that are planted in a copy of the code: they fit the code, and are looked for as they should be."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.planting import __main__ as planting
from tools.planting.faults import FAULTS, Fault, OutdatedFaultError

_PACKAGE = Path(__file__).parents[3] / "lease_scheduler"
_FAULT = Fault("name", "what", "file.py", "a = 1\n", "a = 2\n")


@pytest.mark.parametrize("fault", FAULTS, ids=[each.name for each in FAULTS])
def test_a_fault_changes_the_present_code_and_leaves_it_python(fault: Fault) -> None:
    text = (_PACKAGE / fault.file).read_text()
    changed = fault.planted(text)
    assert changed != text
    ast.parse(changed)


def test_it_is_known_of_each_fault_how_it_is_found_or_why_not() -> None:
    for fault in FAULTS:
        assert bool(fault.invariant) == bool(fault.seed) != bool(fault.unseen), fault.name


@pytest.mark.parametrize("fault", FAULTS, ids=[each.name for each in FAULTS])
def test_the_documentation_lists_each_fault(fault: Fault) -> None:
    text = (_PACKAGE.parent / "doc/source/contributor/testing.rst").read_text()
    found = f"     - {fault.invariant}\n     - {fault.seed}\n" if fault.invariant else f"     - {fault.unseen}\n"
    assert f"   * - {fault.what} (``{fault.name}``)\n{found}" in text


def test_names_are_unique() -> None:
    assert len({each.name for each in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("text", ["a = 3\n", "a = 1\na = 1\n"])
def test_a_fault_that_does_not_fit_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "file.py").write_text(text)
    with pytest.raises(OutdatedFaultError, match=r"name: file\.py has the text to replace [02] times, not once"):
        _FAULT.plant(tmp_path)
    assert (tmp_path / "file.py").read_text() == text


def test_a_fault_is_planted_in_a_copy() -> None:
    fault = FAULTS[0]
    with planting.planted(fault) as folder:
        path = folder / "lease_scheduler" / fault.file
        assert path.read_text() == fault.planted((_PACKAGE / fault.file).read_text())
    assert not folder.exists()
    assert fault.old in (_PACKAGE / fault.file).read_text()


def test_an_unknown_fault_is_named() -> None:
    assert planting.chosen(None) == FAULTS
    assert [each.name for each in planting.chosen("end-not-told,fencing-dropped")] == [
        "end-not-told",
        "fencing-dropped",
    ]
    with pytest.raises(SystemExit, match="there is no fault 'rain'; give some of fencing-dropped, "):
        planting.chosen("rain")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["end-not-told"])
def test_worlds_find_a_fault(name: str) -> None:
    """All of them: ``python -m tools.planting``."""
    (fault,) = planting.chosen(name)
    found = planting.look_for(fault, planting.Search(1, 6, 0.03, 3, 4, None, 600.0))
    assert found.invariant == fault.invariant
